/**
 * Rollouts that wait for other rollouts: a route reaches no proxy before the subset that the route names, and a subset
 * leaves no proxy before the routes that name the subset.
 *
 * @module
 */
import { type AnyConfigObject, type ConfigObject, isKind } from "../config/types.ts";
import { fullHost } from "../mesh/names.ts";

/** An object with a candidate. */
export interface TwoVersions {
  readonly key: string;
  readonly settled: AnyConfigObject | undefined;
  readonly candidate: AnyConfigObject;
}

/**
 * The key of a rollout for which a rollout waits. Undefined: the rollout waits for none.
 *
 * @param domain DNS suffix of the mesh, which completes short hosts.
 */
export function waitsFor(one: TwoVersions, all: Iterable<TwoVersions>, domain: string): string | undefined {
  for (const other of all) {
    if (isKind(one.candidate, "VirtualService") && needsNew(one, other, domain)) return other.key;
    if (!isKind(other.candidate, "VirtualService")) continue;
    if (usesOld(one, other, domain) && !needsNew(other, one, domain)) return other.key;
  }
  return undefined;
}

/** Whether the new version of a route names a subset that the new version of a rule brings. */
function needsNew({ candidate: route }: TwoVersions, rule: TwoVersions, domain: string): boolean {
  const before = subsetsOf(rule.settled, domain);
  const after = subsetsOf(rule.candidate, domain);
  return namedSubsets(route, domain).some((name) => !before.has(name) && after.has(name));
}

/** Whether the old version of a route names a subset that the new version of a rule lacks. */
function usesOld(rule: TwoVersions, { settled: route }: TwoVersions, domain: string): boolean {
  const before = subsetsOf(rule.settled, domain);
  const after = subsetsOf(rule.candidate, domain);
  return namedSubsets(route, domain).some((name) => before.has(name) && !after.has(name));
}

/** The subsets of a rule, as `HOST SUBSET`. */
function subsetsOf(object: AnyConfigObject | undefined, domain: string): ReadonlySet<string> {
  if (object === undefined || !isKind(object, "DestinationRule")) return new Set();
  const { spec: { host, subsets = [] }, meta: { namespace } } = object;
  return new Set(subsets.map(({ name }) => `${fullHost(host, namespace, domain)} ${name}`));
}

/** The subsets that a route names, likewise. */
function namedSubsets(object: AnyConfigObject | undefined, domain: string): string[] {
  if (object === undefined || !isKind(object, "VirtualService")) return [];
  const { spec, meta: { namespace } } = object as ConfigObject<"VirtualService">;
  const rules = [...spec.http ?? [], ...spec.tcp ?? [], ...spec.tls ?? []];
  const targets = rules.flatMap((rule) => [
    ...(rule.route ?? []).map(({ destination }) => destination),
    ...("mirror" in rule && rule.mirror ? [rule.mirror] : []),
    ...("mirrors" in rule ? (rule.mirrors ?? []).map(({ destination }) => destination) : []),
  ]);
  return targets.flatMap((target) =>
    target?.subset ? [`${fullHost(target.host ?? "", namespace, domain)} ${target.subset}`] : []
  );
}
