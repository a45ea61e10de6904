/**
 * Status of policies of backends: an entry for each Gateway that routes to a target, and an entry for the clients in the
 * mesh.
 *
 * @module
 */
import type { ObjectMeta } from "../../config/types.ts";
import type { ConditionVerdict, NamespacedName, PolicyAtTarget } from "../attach/types.ts";
import { GATEWAY_API_GROUP } from "../../config/spelling/spelling.ts";
import { holds } from "../attach/verdicts.ts";
import { changedStatus } from "./change.ts";
import type { StatusJson } from "./conditions.ts";
import { type IsOurs, mergedEntries, type WantedEntry } from "./parents.ts";

/** A Gateway with routes to targets of a policy. */
export interface PolicyGateway extends NamespacedName {
  readonly controller: string;
  /** Hosts of backends of the Gateway's routes. */
  readonly hosts: ReadonlySet<string>;
}

/** The verdicts on a policy. */
export interface PolicyView {
  readonly policy: { readonly meta: ObjectMeta };
  readonly targets: readonly PolicyAtTarget[];
  /** Absent: a policy of the kind names nothing but its targets. */
  readonly resolvedRefs?: ConditionVerdict;
}

/** What is reported about a policy. */
export interface PolicyReport {
  readonly view: PolicyView;
  /** Gateways with routes to a target of the policy, in any order. */
  readonly gateways: readonly PolicyGateway[];
  /** The name of entries about the mesh's own clients; absent: there are no such entries. */
  readonly meshController?: string;
  readonly isOurs: IsOurs;
}

/** Most entries of a status. */
const MOST_ANCESTORS = 16;

/**
 * The new status of a policy; undefined: nothing to write. A status has a limited number of entries. The policy is also in
 * force for Gateways without an entry.
 *
 * @param present The status as it was read.
 */
export function policyStatus(report: PolicyReport, present: StatusJson, now: string): StatusJson | undefined {
  const { view: { policy }, isOurs } = report;
  const { namespace, generation = 0 } = policy.meta;
  const list = { field: "ancestorRef", most: MOST_ANCESTORS, namespace, isOurs } as const;
  const ancestors = mergedEntries(present["ancestors"], wantedEntries(report), list, { generation, now });
  if (ancestors === undefined || (ancestors.length === 0 && present["ancestors"] === undefined)) return undefined;
  return changedStatus(present, { ancestors });
}

function wantedEntries({ view, gateways, meshController }: PolicyReport): WantedEntry[] {
  const { targets, resolvedRefs: ResolvedRefs } = view;
  const ofGateways = gateways.toSorted(byName).flatMap(({ namespace, name, controller, hosts }): WantedEntry[] => {
    const reached = targets.filter((target) => target.hosts.some((host) => hosts.has(host)));
    if (reached.length === 0) return [];
    const ref = { group: GATEWAY_API_GROUP, kind: "Gateway", namespace, name };
    return [{ ref, controller, conditions: { Accepted: worst(reached), ResolvedRefs } }];
  });
  if (meshController === undefined) return ofGateways;
  const ofMesh = targets.map(({ target, accepted }): WantedEntry => {
    return { ref: target, controller: meshController, conditions: { Accepted: accepted, ResolvedRefs } };
  });
  return [...ofGateways, ...ofMesh];
}

/** The first bad verdict of targets, else a good one. */
function worst(targets: readonly PolicyAtTarget[]): ConditionVerdict {
  const bad = targets.find(({ accepted }) => accepted.status !== "True");
  return bad?.accepted ?? targets[0]?.accepted ?? holds("Accepted", "the policy is in force");
}

/** The order of entries about Gateways. */
export function byName(a: NamespacedName, b: NamespacedName): number {
  const [first, second] = [a, b].map(({ namespace, name }) => `${namespace}/${name}`) as [string, string];
  return first < second ? -1 : first > second ? 1 : 0;
}
