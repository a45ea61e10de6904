/**
 * Subsets of a destination that are missing from the rule of some clients. The finding names the rule that decides for
 * these clients, or says why no rule decides.
 *
 * @module
 */
import { keyText } from "../../finding/object_name.ts";
import type { VirtualServiceSpec } from "../../config/kinds/kinds.ts";
import { isForAllWorkloads } from "../../mesh/destination_rule.ts";
import type { EffectiveDestinationRule } from "../../mesh/types.ts";
import { MESH_GATEWAY } from "../../mesh/sidecar_rules.ts";
import type { ReportMistake } from "../analyzer.ts";
import { both, exportOfHost } from "../reader/audience.ts";
import type { AnalysisReader } from "../reader/reader.ts";
import type { KnownHost } from "../reader/known_host.ts";
import { choosesClients, orList, type WrittenDestination } from "./destination_list.ts";

/** The place of a destination. */
export interface SubsetQuestion {
  /** Namespace of the VirtualService. */
  readonly namespace: string;
  /** Whether only the route's namespace sees the route. */
  readonly isPrivate: boolean;
  /** The hosts called by clients of the route, and the namespaces of such clients; absent: not known. */
  readonly route: { readonly hosts: readonly string[]; readonly audience?: readonly string[] | undefined };
  /** Full name of the destination's host. */
  readonly host: string;
  readonly known: KnownHost;
}

/** Clients whose rule lacks the subset. */
interface Without {
  /** The rule in force for these clients; absent: no rule decides. */
  readonly winner?: EffectiveDestinationRule;
  /** Whether other clients of the namespace have the subset. */
  readonly isPart: boolean;
}

/** Whether a rule has a subset. */
function hasSubset({ spec }: EffectiveDestinationRule, name: string): boolean {
  return spec.subsets?.some((one) => one.name === name) ?? false;
}

/** Keys of the objects behind rules. */
export function causesOf(rules: readonly EffectiveDestinationRule[]): string[] {
  return [...new Set(rules.flatMap(({ causes }) => causes))];
}

/**
 * Reports that clients of the route's own namespace have a rule without the subset, although another rule has the
 * subset.
 */
export function reportHidden(
  question: SubsetQuestion,
  subset: string,
  written: WrittenDestination,
  read: AnalysisReader,
  report: ReportMistake,
): boolean {
  const { namespace, host, known } = question;
  const without = clientsWithout(read.destinationRules(host, namespace, known.namespace), subset);
  if (without === undefined) return false;
  const having = havingSubset(host, subset, read);
  if (having.length === 0) return false;
  const severity = question.isPrivate && !without.isPart ? "error" : "warning";
  report(severity, "hidden-subset", mistake(question, namespace, without, having, subset, written));
  return true;
}

/** Reports that clients of the route in another namespace have a rule without the subset. */
export function reportHiddenElsewhere(
  question: SubsetQuestion,
  subset: string,
  written: WrittenDestination,
  read: AnalysisReader,
  report: ReportMistake,
): void {
  const { host, known, route } = question;
  if (route.audience === undefined) return;
  const having = havingSubset(host, subset, read);
  const named = new Set(read.allDestinationRules(host).map(({ namespace }) => namespace));
  for (const client of [...named].sort()) {
    if (client === question.namespace || !follows(client, question, read)) continue;
    const without = clientsWithout(read.destinationRules(host, client, known.namespace), subset);
    if (without === undefined) continue;
    return report("warning", "hidden-subset", mistake(question, client, without, having, subset, written));
  }
}

/**
 * The namespaces whose sidecars follow a route; undefined: only the route's own namespace, or only clients chosen by
 * the route's matches.
 *
 * @param audience The namespaces that the route is exported to.
 */
export function clientsOfRoute(spec: VirtualServiceSpec, audience: readonly string[]): readonly string[] | undefined {
  const { gateways = [], hosts = [] } = spec;
  const isForSidecars = gateways.length === 0 || gateways.includes(MESH_GATEWAY);
  return !isForSidecars || hosts.length === 0 || choosesClients(spec) ? undefined : audience;
}

/**
 * Whether clients of a namespace follow the route. Such clients see the route and a host of the route, and have no
 * other route for the host.
 */
function follows(client: string, { namespace, route }: SubsetQuestion, read: AnalysisReader): boolean {
  return both(route.audience ?? [], [client])[0] === client && route.hosts.some((written) => {
    const called = read.fullHost(written, namespace);
    const isSeen = both(exportOfHost(called, read), [client])[0] === client;
    return isSeen && !read.virtualServicesFor(called).some((other) => other.namespace === client);
  });
}

function havingSubset(host: string, subset: string, read: AnalysisReader): EffectiveDestinationRule[] {
  return read.allDestinationRules(host).filter((rule) => hasSubset(rule, subset));
}

/** @param rules The rules in force for a namespace. The first rule that selects a workload decides for the workload. */
function clientsWithout(rules: readonly EffectiveDestinationRule[], subset: string): Without | undefined {
  const isPart = rules.some((rule) => hasSubset(rule, subset));
  const forAll = rules.find(isForAllWorkloads);
  if (forAll === undefined) return { isPart };
  // For most workloads the rule without a selector decides, so this rule is named first.
  const winner = [forAll, ...rules].find((rule) => !hasSubset(rule, subset));
  return winner && { winner, isPart };
}

function mistake(
  { known }: SubsetQuestion,
  client: string,
  { winner, isPart }: Without,
  having: readonly EffectiveDestinationRule[],
  subset: string,
  { field }: WrittenDestination,
) {
  const others = orList(causesOf(having).map(keyText));
  const clients = isPart ? `all workloads of namespace ${client}` : `namespace ${client}`;
  const why = winner === undefined
    ? having.map((rule) => `${nameOf(rule)} is only for ${audienceOf(rule, known.namespace)}`).join("; ")
    : `${nameOf(winner)} decides ${
      isForAllWorkloads(winner) ? "there" : `for workloads with ${labelsOf(winner)}`
    }, not ${others}`;
  return {
    field: `${field}.subset`,
    value: subset,
    expected: `a subset in force for ${clients} (${why})`,
    others: causesOf([...(winner ? [winner] : []), ...having]),
    fix: fixOf(client, winner, having, subset, known.namespace),
    ...(isPart ? { effect: "Requests of these workloads to the subset are answered with 503." } : {}),
  };
}

function fixOf(
  client: string,
  winner: EffectiveDestinationRule | undefined,
  having: readonly EffectiveDestinationRule[],
  subset: string,
  home: string,
): string {
  if (winner !== undefined) return `Define subset ${subset} in ${nameOf(winner)}.`;
  const exportable = having.find((rule) => rule.namespace === home && isForAllWorkloads(rule));
  if (exportable !== undefined) return `Add namespace ${client} to exportTo of ${nameOf(exportable)}.`;
  return `Define subset ${subset} in a DestinationRule of namespace ${home} that is exported to namespace ${client}.`;
}

/** A rule outside the service's namespace is only for clients of the rule's own namespace. */
function audienceOf(rule: EffectiveDestinationRule, home: string): string {
  const { namespace, spec: { exportTo = [] } } = rule;
  if (!isForAllWorkloads(rule)) return `workloads of namespace ${namespace} with ${labelsOf(rule)}`;
  return `clients of namespace ${rule.namespace === home ? orList(exportTo) : namespace}`;
}

function labelsOf({ spec: { workloadSelector } }: EffectiveDestinationRule): string {
  return Object.entries(workloadSelector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`).join(", ");
}

function nameOf({ causes, namespace, name }: EffectiveDestinationRule): string {
  return keyText(causes[0] ?? `DestinationRule/${namespace}/${name}`);
}
