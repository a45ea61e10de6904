/**
 * Rollouts that wait for other rollouts: a route reaches no proxy before the subset that the route names, and a subset
 * leaves no proxy before the routes that name the subset.
 *
 * A rollout waits for rollouts of its own namespace, of the namespace of the host, and of the root namespace. Whoever
 * writes to another namespace holds up nobody: a rule there is for the clients of that namespace alone.
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

/** A subset of a host. */
interface NamedSubset {
  /** `HOST SUBSET`. */
  readonly name: string;
  /** The namespace of the host. Empty: the host names none. */
  readonly owner: string;
}

/**
 * The rollouts that wait for other rollouts, with the key of such a rollout. The cost grows with the names of subsets,
 * and not with the pairs of rollouts.
 *
 * @param rootNamespace Empty: there is none.
 */
export function neededRollouts(
  all: readonly TwoVersions[],
  subsets: SubsetReader,
  rootNamespace: string,
): ReadonlyMap<string, string> {
  const needed = new Map<string, string>();
  const [routes, rules] = [kindOf(all, "VirtualService"), kindOf(all, "DestinationRule")];
  if (routes.length === 0 || rules.length === 0) return needed;
  const bringing = byName(rules, (rule) => without(subsets.of(rule.candidate), subsets.of(rule.settled)));
  const naming = byName(routes, (route) => [...subsets.of(route.candidate).values()]);
  const leaving = byName(routes, (route) => [...subsets.of(route.settled).values()]);
  for (const route of routes) {
    const other = find(route, subsets.of(route.candidate).values(), bringing, rootNamespace);
    if (other !== undefined) needed.set(route.key, other.key);
  }
  for (const rule of rules) {
    const brought = without(subsets.of(rule.candidate), subsets.of(rule.settled));
    // Routes that wait for the rule.
    const after = new Set(brought.flatMap(({ name }) => naming.get(name) ?? []));
    const lost = without(subsets.of(rule.settled), subsets.of(rule.candidate));
    const other = find(rule, lost, leaving, rootNamespace, after);
    if (other !== undefined) needed.set(rule.key, other.key);
  }
  return needed;
}

function kindOf(all: readonly TwoVersions[], kind: "VirtualService" | "DestinationRule"): readonly TwoVersions[] {
  return all.filter(({ candidate }) => isKind(candidate, kind));
}

function byName(
  all: readonly TwoVersions[],
  names: (one: TwoVersions) => readonly NamedSubset[],
): ReadonlyMap<string, readonly TwoVersions[]> {
  const found = new Map<string, TwoVersions[]>();
  for (const one of all) for (const { name } of names(one)) found.getOrInsertComputed(name, () => []).push(one);
  return found;
}

/** @param except Rollouts for which this rollout does not wait. */
function find(
  one: TwoVersions,
  names: Iterable<NamedSubset>,
  by: ReadonlyMap<string, readonly TwoVersions[]>,
  rootNamespace: string,
  except?: ReadonlySet<TwoVersions>,
): TwoVersions | undefined {
  const own = one.candidate.meta.namespace;
  for (const { name, owner } of names) {
    const found = by.get(name)?.find((other) => {
      const { namespace } = other.candidate.meta;
      const counts = namespace === own || namespace === owner || namespace === rootNamespace;
      return counts && except?.has(other) !== true;
    });
    if (found !== undefined) return found;
  }
  return undefined;
}

type Subsets = ReadonlyMap<string, NamedSubset>;

const NONE: Subsets = new Map();

function without(all: Subsets, others: Subsets): NamedSubset[] {
  return [...all.values()].filter(({ name }) => !others.has(name));
}

/** The subsets that objects have or name. */
export class SubsetReader {
  readonly #domain: string;
  readonly #known = new WeakMap<AnyConfigObject, Subsets>();

  /** @param domain DNS suffix of the mesh, which completes short hosts. */
  constructor(domain: string) {
    this.#domain = domain;
  }

  /** The subsets of a rule, or those that a route names. */
  of(object: AnyConfigObject | undefined): Subsets {
    return object === undefined ? NONE : this.#known.getOrInsertComputed(object, () => {
      const { namespace } = object.meta;
      if (isKind(object, "DestinationRule")) return named(subsetsOf(object), namespace, this.#domain);
      return isKind(object, "VirtualService") ? named(namedSubsets(object), namespace, this.#domain) : NONE;
    });
  }
}

/** A host as it is written, and a subset. */
type WrittenSubset = readonly [host: string, subset: string];

function subsetsOf({ spec: { host, subsets = [] } }: ConfigObject<"DestinationRule">): WrittenSubset[] {
  return subsets.map(({ name }) => [host, name]);
}

function namedSubsets({ spec }: ConfigObject<"VirtualService">): WrittenSubset[] {
  const rules = [...spec.http ?? [], ...spec.tcp ?? [], ...spec.tls ?? []];
  const targets = rules.flatMap((rule) => [
    ...(rule.route ?? []).map(({ destination }) => destination),
    ...("mirror" in rule && rule.mirror ? [rule.mirror] : []),
    ...("mirrors" in rule ? (rule.mirrors ?? []).map(({ destination }) => destination) : []),
  ]);
  return targets.flatMap((one): WrittenSubset[] => one?.subset ? [[one.host ?? "", one.subset]] : []);
}

function named(
  subsets: readonly (readonly [host: string, subset: string])[],
  namespace: string,
  domain: string,
): Subsets {
  return new Map(subsets.map(([written, subset]) => {
    const host = fullHost(written, namespace, domain);
    const name = `${host} ${subset}`;
    return [name, { name, owner: ownerOf(host, domain) }];
  }));
}

/** The namespace of a host of the mesh's domain. Empty: the host is of another domain. */
function ownerOf(host: string, domain: string): string {
  const end = `.svc.${domain}`;
  return host.endsWith(end) ? host.slice(host.indexOf(".") + 1, -end.length) : "";
}
