/**
 * Subsets of destinations: whether a rule in force defines the subset, and whether the subset has any endpoint.
 *
 * @module
 */
import { keyText } from "../../finding/object_name.ts";
import { severityOfAbsence } from "../reader/absence.ts";
import type { StringMap } from "../../config/kinds/kinds.ts";
import { nearestName } from "../../kernel/text/nearest.ts";
import type { EffectiveDestinationRule } from "../../mesh/types.ts";
import type { ReportMistake } from "../analyzer.ts";
import type { KnownHost } from "../reader/known_host.ts";
import type { AnalysisReader } from "../reader/reader.ts";
import { resolutionOf } from "../../registry/types.ts";
import { effectOf, orList, type WrittenDestination } from "./destination_list.ts";
import { causesOf, reportHidden, reportHiddenElsewhere, type SubsetQuestion } from "./hidden_subsets.ts";

/** Looks for the subset of a destination, if any. */
export function lookForSubset(
  question: SubsetQuestion,
  written: WrittenDestination,
  read: AnalysisReader,
  report: ReportMistake,
): void {
  const { subset } = written.destination;
  if (subset === undefined || subset === "") return;
  const { namespace, host, known } = question;
  // A refused rule may define the subset.
  const isUnsure = [namespace, known.namespace].some((one) => read.hasRefused("DestinationRule", one));
  if (!isUnsure && reportHidden(question, subset, written, read, report)) return;
  const rules = read.destinationRules(host, namespace, known.namespace);
  const labels = labelsOf(rules, subset);
  if (labels === undefined) {
    if (!isUnsure) reportUnknown(question, subset, rules, written, report);
    return;
  }
  if (!isUnsure) reportHiddenElsewhere(question, subset, written, read, report);
  if (Object.keys(labels).length === 0 || reachesAny(known, namespace, labels, read)) return;
  report(severityOfAbsence(read), "subset-without-endpoints", {
    field: `${written.field}.subset`,
    value: subset,
    expected: `a subset that an endpoint of ${known.host} is in (no endpoint has ${
      Object.entries(labels).map(([key, value]) => `${key}=${value}`).join(", ")
    })`,
    others: causesOf(rules),
    ...effectOf(written.percent),
  });
}

/** The labels of a subset; undefined: no rule defines the subset. */
function labelsOf(rules: readonly EffectiveDestinationRule[], name: string): StringMap | undefined {
  for (const { spec } of rules) {
    const found = spec.subsets?.find((one) => one.name === name);
    if (found) return found.labels ?? {};
  }
  return undefined;
}

function reportUnknown(
  { host }: SubsetQuestion,
  subset: string,
  rules: readonly EffectiveDestinationRule[],
  { field, percent }: WrittenDestination,
  report: ReportMistake,
): void {
  const names = [...new Set(rules.flatMap(({ spec }) => (spec.subsets ?? []).map(({ name }) => name)))];
  const causes = causesOf(rules);
  const expected = names.length === 0
    ? `no subset, since no DestinationRule of ${host} has any`
    : `${orList(names)} (${causes.map(keyText).join(", ")})`;
  const closest = nearestName(subset, names);
  const fix = closest === undefined ? {} : { fix: `Use ${closest}, or add subset ${subset} to the DestinationRule.` };
  const at = { field: `${field}.subset`, value: subset };
  report("error", "unknown-subset", { ...at, expected, others: causes, ...effectOf(percent), ...fix });
}

/** Whether an endpoint has the labels; true where endpoints are not known, or there are none at all. */
export function reachesAny({ host }: KnownHost, namespace: string, labels: StringMap, read: AnalysisReader): boolean {
  const wanted = Object.entries(labels);
  const service = read.service(host, namespace);
  if (service !== undefined) {
    if ([service, ...service.ports].some((one) => resolutionOf(service, one) !== "static")) return true;
    const endpoints = read.endpoints(service);
    return endpoints.length === 0 || endpoints.some((one) => wanted.every(([key, value]) => one.labels[key] === value));
  }
  const fact = read.serviceFact(host)?.fact;
  if (fact === undefined || Object.keys(fact.spec.selector).length === 0) return true;
  const selected = read.workloads(fact.meta.namespace, fact.spec.selector);
  return selected.length === 0 ||
    selected.some(({ spec }) => wanted.every(([key, value]) => spec.labels[key] === value));
}
