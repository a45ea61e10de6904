/**
 * Destination rules by namespace and host.
 *
 * @module
 */
import {
  destinationRuleHost,
  type DestinationRuleObject,
  type DestinationRuleOptions,
  type DroppedSubset,
  isForAllWorkloads,
  type MergedDestinationRule,
  mergeDestinationRules,
} from "./destination_rule.ts";
import type { InternalDestinationRule } from "../config/kinds/destination_rule/internal.ts";
import { SmallMultimap } from "../registry/small_multimap.ts";
import { isWildcard, wildcardsOver } from "./host_match.ts";
import { SharedLists } from "../incremental/weak_table.ts";
import type { EffectiveDestinationRule } from "./types.ts";
import type { Distinction } from "./view/distinctions.ts";
import { type Exported, isPublic, isVisible, namespacesNamed } from "./visibility.ts";

interface HostRules {
  readonly rules: readonly DestinationRuleObject[];
  /** Merged at first use. */
  merged?: readonly MergedDestinationRule[];
  /** The visible merged rules of clients, by positions. Equal lists are the same array. */
  seen?: Map<string, readonly MergedDestinationRule[]>;
}

interface NamespaceRules {
  readonly byHost: Map<string, HostRules>;
  /** How many of the hosts are wildcards: without any, only the exact host is looked up. */
  wildcards: number;
}

/** Settings for the lookup. */
export interface DestinationRuleIndexOptions extends DestinationRuleOptions {
  readonly rootNamespace: string;
  /** The mesh-wide default for rules without `exportTo`. */
  readonly defaultExportTo: readonly string[];
}

/** All destination rules of the mesh. */
export class DestinationRuleIndex {
  #options: DestinationRuleIndexOptions;
  #byNamespace = new Map<string, NamespaceRules>();
  /** Namespaces with rules for exactly this host or wildcard. */
  readonly #namespacesOf = new SmallMultimap<string, string>();
  readonly #joinedLists = new SharedLists<EffectiveDestinationRule>();
  readonly #added = new AddedRules();

  constructor(options: DestinationRuleIndexOptions) {
    this.#options = options;
  }

  /**
   * Replaces rules by others.
   *
   * @returns The hosts, possibly wildcards, with a possibly changed rule.
   */
  update(removed: Iterable<DestinationRuleObject>, added: Iterable<DestinationRuleObject>): Set<string> {
    const hosts = new Set<string>();
    for (const rule of removed) {
      if (rule.spec.internal !== undefined) hosts.add(this.#added.remove(rule));
      else hosts.add(this.#change(rule, (list) => list.filter((x) => x.key !== rule.key)));
    }
    for (const rule of added) {
      if (rule.spec.internal !== undefined) hosts.add(this.#added.add(rule));
      else hosts.add(this.#change(rule, (list) => [...list.filter((x) => x.key !== rule.key), rule].toSorted(oldest)));
    }
    return hosts;
  }

  #change(
    rule: DestinationRuleObject,
    change: (list: readonly DestinationRuleObject[]) => readonly DestinationRuleObject[],
  ): string {
    const host = destinationRuleHost(rule, this.#options);
    const namespace = rule.meta.namespace;
    let own = this.#byNamespace.get(namespace);
    if (!own) this.#byNamespace.set(namespace, own = { byHost: new Map(), wildcards: 0 });
    const before = own.byHost.get(host);
    const rules = change(before?.rules ?? []);
    if (rules.length > 0) own.byHost.set(host, { rules });
    else own.byHost.delete(host);
    this.#note(host, namespace, rules.length > 0);
    if (isWildcard(host)) own.wildcards += Number(rules.length > 0) - Number(before !== undefined);
    if (own.byHost.size === 0) this.#byNamespace.delete(namespace);
    return host;
  }

  #note(host: string, namespace: string, has: boolean): void {
    if (has) this.#namespacesOf.add(host, namespace);
    else this.#namespacesOf.delete(host, namespace);
  }

  /** Hosts, possibly wildcards, with a rule. */
  *hosts(): IterableIterator<string> {
    for (const [host] of this.#namespacesOf.entries()) yield host;
  }

  /** Whether a namespace has rules. */
  has(namespace: string): boolean {
    return this.#byNamespace.has(namespace);
  }

  /**
   * The namespaces with another view of the rules for exactly this host than an unnamed namespace without rules.
   *
   * @param isOnlyOf Whether every namespace gets the host's service from this namespace: then rules of this namespace
   * reach everybody.
   */
  distinctions(host: string, isOnlyOf: (namespace: string) => boolean): Map<string, Distinction> {
    const hows = new Map<string, string>();
    for (const namespace of this.#namespacesOf.get(host)) {
      const reachesAll = namespace === this.#options.rootNamespace || (!isWildcard(host) && isOnlyOf(namespace));
      const entry = this.#byNamespace.get(namespace)!.byHost.get(host)!;
      if (reachesAll && entry.rules.every((rule) => this.#isPlain(rule)) && entry.rules.length === 1) continue;
      const anyone = this.#positions(entry, namespace, undefined);
      const merged = this.#merged(entry);
      const named = merged.flatMap(({ spec }) => namespacesNamed({ namespace, exportTo: spec.exportTo ?? [] }));
      for (const client of new Set([namespace, ...named])) {
        const seen = this.#positions(entry, namespace, client);
        const own = client === namespace && !reachesAll ? "own " : "";
        if (own !== "" || seen !== anyone) hows.set(client, `${hows.get(client) ?? ""}${own}${namespace} ${seen};`);
      }
    }
    return new Map([...hows].map(([client, how]) => [client, { kind: "destinationRules", hosts: [host], how }]));
  }

  /** Whether everybody sees a single rule. */
  #isPlain({ meta: { namespace }, spec: { exportTo, workloadSelector } }: DestinationRuleObject): boolean {
    const exported = exportTo?.length ? exportTo : this.#options.defaultExportTo;
    return workloadSelector === undefined && isPublic({ namespace, exportTo: exported });
  }

  /**
   * The rules in force for a service, for clients of a namespace: rules of the client's own namespace, else exported by
   * the service's namespace, else exported by the root namespace; in each namespace the most specific host. A rule for
   * selected client workloads says nothing about other workloads, so the search continues. The list ends with the rule
   * for workloads without a matching selector, if there is such a rule. The caller takes the first rule with a matching
   * selector. What policies of the Gateway API in the service's namespace add for the host is in every rule.
   */
  inForce(host: string, client: string, serviceNamespace: string): readonly EffectiveDestinationRule[] {
    return this.#added.addedTo(this.#written(host, client, serviceNamespace), serviceNamespace, host);
  }

  #written(host: string, client: string, serviceNamespace: string): RuleList {
    const { rootNamespace } = this.#options;
    let found = client === rootNamespace ? none : this.#lookup(none, client, host, client);
    if (!isSettled(found) && (serviceNamespace !== client || client === rootNamespace)) {
      found = this.#lookup(found, serviceNamespace, host, client);
    }
    if (isSettled(found) || rootNamespace === serviceNamespace) return found;
    return this.#lookup(found, rootNamespace, host, client);
  }

  /** All rules for a host in some namespace, by the host itself or a wildcard over it, visible or not. */
  anywhere(host: string): readonly EffectiveDestinationRule[] {
    const found: EffectiveDestinationRule[] = [];
    for (const pattern of [host, ...wildcardsOver(host)]) {
      // Sorted: the order of arrival must not show.
      for (const namespace of this.#namespacesOf.get(pattern).toSorted()) {
        found.push(...this.#merged(this.#byNamespace.get(namespace)!.byHost.get(pattern)!));
      }
    }
    return found;
  }

  /** Subsets left out because an earlier rule for the host has a subset of the same name. Each name comes once. */
  *duplicateSubsets(): Iterable<DroppedSubset & { readonly host: string }> {
    for (const { byHost } of this.#byNamespace.values()) {
      for (const [host, entry] of byHost) {
        if (entry.rules.length < 2) continue;
        for (const { duplicateSubsets } of this.#merged(entry)) {
          for (const dropped of duplicateSubsets) yield { host, ...dropped };
        }
      }
    }
  }

  /** The rules found earlier, followed by a namespace's rules, until a rule is for all workloads. */
  #lookup(before: RuleList, namespace: string, host: string, client: string): RuleList {
    const rules = this.#byNamespace.get(namespace);
    if (!rules) return before;
    let found = this.#joined(before, this.#visible(rules.byHost.get(host), namespace, client));
    if (rules.wildcards === 0) return found;
    for (const pattern of wildcardsOver(host)) {
      if (isSettled(found)) break;
      found = this.#joined(found, this.#visible(rules.byHost.get(pattern), namespace, client));
    }
    return found;
  }

  /** Equal lists are the same object: caches compare answers by identity. */
  #joined(first: RuleList, then: RuleList): RuleList {
    if (first.length === 0) return then;
    return then.length === 0 ? first : this.#joinedLists.of([...first, ...then]);
  }

  #visible(
    entry: HostRules | undefined,
    namespace: string,
    client: string,
  ): readonly EffectiveDestinationRule[] {
    if (!entry) return none;
    const merged = this.#merged(entry);
    if (merged.every(({ spec }) => this.#sees({ namespace, exportTo: spec.exportTo ?? [] }, client))) return merged;
    const positions = this.#positions(entry, namespace, client);
    if (positions === "") return none;
    let seen = entry.seen?.get(positions);
    if (!seen) {
      seen = positions.split(",").map((at) => merged[Number(at)]!);
      (entry.seen ??= new Map()).set(positions, seen);
    }
    return seen;
  }

  /** The positions of a client's visible merged rules. Without a client: of a client that no rule names. */
  #positions(entry: HostRules, namespace: string, client: string | undefined): string {
    const seen: number[] = [];
    for (const [at, { spec }] of this.#merged(entry).entries()) {
      if (this.#sees({ namespace, exportTo: spec.exportTo ?? [] }, client)) seen.push(at);
    }
    return seen.join();
  }

  /** Merged rules name the namespaces of `exportTo`. */
  #sees(exported: Exported, client: string | undefined): boolean {
    return client === undefined ? isPublic(exported) : isVisible(exported, client);
  }

  #merged(entry: HostRules): readonly MergedDestinationRule[] {
    return entry.merged ??= mergeDestinationRules(entry.rules, this.#options);
  }
}

/**
 * Rules that add TLS, limits of retries and sessions of policies to the rules of a host. Such a rule is for the service of
 * its own namespace: another namespace may have a ServiceEntry with the same host, and policies for this ServiceEntry.
 */
class AddedRules {
  /** By namespace and host, each list sorted by key. */
  readonly #rules = new Map<string, readonly DestinationRuleObject[]>();
  /** The lists with what is added, so that equal answers are the same array. */
  readonly #added = new WeakMap<readonly DestinationRuleObject[], WeakMap<RuleList, RuleList>>();

  /** @returns the rule's host */
  add(rule: DestinationRuleObject): string {
    return this.#change(rule, [rule]);
  }

  /** @returns the rule's host */
  remove(rule: DestinationRuleObject): string {
    return this.#change(rule, []);
  }

  #change({ key, meta, spec: { host } }: DestinationRuleObject, added: readonly DestinationRuleObject[]): string {
    const place = `${meta.namespace}/${host}`;
    const others = (this.#rules.get(place) ?? []).filter((one) => one.key !== key);
    const rules = [...others, ...added].sort((a, b) => a.key < b.key ? -1 : 1);
    if (rules.length > 0) this.#rules.set(place, rules);
    else this.#rules.delete(place);
    return host;
  }

  /** The rules of a service with what is added. The list then ends with a rule for all workloads. */
  addedTo(rules: RuleList, serviceNamespace: string, host: string): RuleList {
    if (this.#rules.size === 0) return rules;
    const added = this.#rules.get(`${serviceNamespace}/${host}`);
    if (added === undefined) return rules;
    const known = this.#added.getOrInsertComputed(added, () => new WeakMap());
    return known.getOrInsertComputed(rules, () => withAdded(rules, added));
  }
}

function withAdded(rules: RuleList, added: readonly DestinationRuleObject[]): RuleList {
  const [first] = added;
  if (first === undefined) return rules;
  const keys = added.map(({ key }) => key);
  const fields: InternalDestinationRule = Object.assign({}, ...added.map(({ spec }) => spec.internal));
  const joined = rules.map((rule) => ({ ...rule, causes: [...rule.causes, ...keys], ...fields }));
  const { name, namespace } = first.meta;
  return isSettled(rules)
    ? joined
    : [...joined, { name, namespace, spec: { host: first.spec.host }, causes: keys, ...fields }];
}

type RuleList = readonly EffectiveDestinationRule[];

const none: RuleList = [];

/** Whether every workload has a rule in a list. */
function isSettled(rules: RuleList): boolean {
  return rules.some(isForAllWorkloads);
}

function oldest(a: DestinationRuleObject, b: DestinationRuleObject): number {
  return a.meta.creationTimestamp - b.meta.creationTimestamp || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}
