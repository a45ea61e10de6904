/**
 * Rollouts that wait for other rollouts: a route reaches no proxy before the subset that the route names, and a subset
 * leaves no proxy before the routes that name the subset.
 *
 * @module
 */
import { type AnyConfigObject, type ConfigObject, isKind } from "../config/types.ts";

/** An object with a candidate. */
export interface TwoVersions {
  readonly key: string;
  readonly settled: AnyConfigObject | undefined;
  readonly candidate: AnyConfigObject;
}

/** The key of a rollout for which a rollout waits. Undefined: the rollout waits for none. */
export function waitsFor(one: TwoVersions, all: Iterable<TwoVersions>): string | undefined {
  for (const other of all) {
    if (isKind(one.candidate, "VirtualService") && needsNew(one, other)) return other.key;
    if (isKind(other.candidate, "VirtualService") && usesOld(one, other) && !needsNew(other, one)) return other.key;
  }
  return undefined;
}

/** Whether the new version of a route names a subset that the new version of a rule brings. */
function needsNew({ candidate: route }: TwoVersions, rule: TwoVersions): boolean {
  const before = subsetsOf(rule.settled);
  return namedSubsets(route).some((name) => !before.has(name) && subsetsOf(rule.candidate).has(name));
}

/** Whether the old version of a route names a subset that the new version of a rule lacks. */
function usesOld(rule: TwoVersions, { settled: route }: TwoVersions): boolean {
  const after = subsetsOf(rule.candidate);
  return namedSubsets(route).some((name) => subsetsOf(rule.settled).has(name) && !after.has(name));
}

/** The subsets of a rule, as `HOST SUBSET`. */
function subsetsOf(object: AnyConfigObject | undefined): ReadonlySet<string> {
  if (object === undefined || !isKind(object, "DestinationRule")) return new Set();
  const { spec: { host, subsets = [] }, meta: { namespace } } = object;
  return new Set(subsets.map(({ name }) => `${hostOf(host, namespace)} ${name}`));
}

/** The subsets that a route names, likewise. */
function namedSubsets(object: AnyConfigObject | undefined): string[] {
  if (object === undefined || !isKind(object, "VirtualService")) return [];
  const { spec, meta: { namespace } } = object as ConfigObject<"VirtualService">;
  const rules = [...spec.http ?? [], ...spec.tcp ?? [], ...spec.tls ?? []];
  const targets = rules.flatMap((rule) => [
    ...(rule.route ?? []).map(({ destination }) => destination),
    ...("mirror" in rule && rule.mirror ? [rule.mirror] : []),
    ...("mirrors" in rule ? (rule.mirrors ?? []).map(({ destination }) => destination) : []),
  ]);
  return targets.flatMap((target) =>
    target?.subset ? [`${hostOf(target.host ?? "", namespace)} ${target.subset}`] : []
  );
}

/** A host with its namespace, without the suffix of the cluster. */
function hostOf(host: string, namespace: string): string {
  if (!host.includes(".")) return `${host}.${namespace}`;
  const at = host.indexOf(".svc.");
  return at < 0 ? host : host.slice(0, at);
}
