/**
 * Destinations of VirtualServices: host, then port, then subset. The first that is wrong is the cause of what follows, so
 * the others are not looked at.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import { nearestName } from "../../kernel/text/nearest.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import type { KnownHost } from "../reader/known_host.ts";
import type { AnalysisReader } from "../reader/reader.ts";
import { destinationsOf, type WrittenDestination } from "./destination_list.ts";

/** See the module. */
export const DESTINATIONS: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: ["unknown-host", "unknown-port", "port-required", "unknown-subset"],
  analyze: (object, read, report) => {
    for (const one of destinationsOf(object.spec)) look(object, one, read, report);
  },
};

function look(
  object: ConfigObject<"VirtualService">,
  written: WrittenDestination,
  read: AnalysisReader,
  report: ReportMistake,
): void {
  const { namespace } = object.meta;
  const host = read.fullHost(written.destination.host, namespace);
  const known = read.knownHost(host, namespace);
  if (known === undefined) return lookForHost(namespace, host, written, read, report);
  if (!hasPort(known, written, report)) return;
  lookForSubset(namespace, known, host, written, read, report);
}

function lookForHost(
  namespace: string,
  host: string,
  { destination, field, percent }: WrittenDestination,
  read: AnalysisReader,
  report: ReportMistake,
): void {
  // Another rule says that a host exists and is hidden; a refused entry may be the one that has it.
  if (read.existsAnywhere(host) || read.hasRefused("ServiceEntry", namespace)) return;
  report("error", "unknown-host", {
    field: `${field}.host`,
    value: destination.host,
    expected: `a host that a service has (${host} has none)`,
    ...effectOf(percent),
  });
}

/** Whether the port that a destination names, or need not name, is one of the service. */
function hasPort(
  known: KnownHost,
  { destination, field, percent }: WrittenDestination,
  report: ReportMistake,
): boolean {
  const { ports, cause } = known;
  if (ports === undefined || ports.length === 0) return true;
  const numbers = [...new Set(ports.map(({ number }) => number))].sort((a, b) => a - b);
  const others = cause === undefined ? [] : [cause];
  const wanted = destination.port?.number;
  if (wanted === undefined) {
    if (numbers.length < 2) return true;
    const expected = `port.number ${orList(numbers)}, since ${known.host} has several ports`;
    report("warning", "port-required", { field: `${field}.port`, expected, others });
    return true;
  }
  if (numbers.includes(wanted)) return true;
  const expected = `${orList(numbers)} of ${known.host}`;
  report("error", "unknown-port", {
    field: `${field}.port.number`,
    value: wanted,
    expected,
    others,
    ...effectOf(percent),
  });
  return false;
}

function lookForSubset(
  namespace: string,
  known: KnownHost,
  host: string,
  { destination, field, percent }: WrittenDestination,
  read: AnalysisReader,
  report: ReportMistake,
): void {
  const { subset } = destination;
  if (subset === undefined || subset === "") return;
  const rules = read.destinationRules(host, namespace, known.namespace);
  const names = rules.flatMap(({ spec }) => (spec.subsets ?? []).map(({ name }) => name));
  if (names.includes(subset)) return;
  const all = read.allDestinationRules(host);
  if (all.some(({ spec }) => spec.subsets?.some(({ name }) => name === subset))) return;
  if ([namespace, known.namespace].some((one) => read.hasRefused("DestinationRule", one))) return;
  const causes = [...new Set(rules.flatMap((rule) => rule.causes))];
  const expected = names.length === 0
    ? `no subset, since no DestinationRule of ${host} has any`
    : `${orList(names)} (${causes.map(shortName).join(", ")})`;
  const closest = nearestName(subset, names);
  report("error", "unknown-subset", {
    field: `${field}.subset`,
    value: subset,
    expected,
    others: causes,
    ...effectOf(percent),
    ...closest === undefined ? {} : { fix: `Use ${closest}, or add subset ${subset} to the DestinationRule.` },
  });
}

/** What a destination that cannot be reached does to the requests of its rule. */
function effectOf(percent: number | undefined): { readonly effect: string } {
  if (percent === undefined) return { effect: "No copy of a request arrives there." };
  return { effect: `${percent} % of what this rule matches is answered with 503 or closed.` };
}

function orList(words: readonly (string | number)[]): string {
  const [last, ...others] = [...new Set(words)].slice(0, MOST_SHOWN).reverse();
  const more = words.length > MOST_SHOWN ? `, ... (${words.length})` : "";
  return `${others.length === 0 ? "" : `${others.reverse().join(", ")} or `}${last}${more}`;
}

/** Names that one message lists. */
const MOST_SHOWN = 10;

function shortName(key: string): string {
  const [kind = "", ...name] = key.split("/");
  return `${kind} ${name.join("/")}`;
}
