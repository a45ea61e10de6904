/**
 * All classes of proxies of a type, and the groups of results.
 *
 * @module
 */
import { type FoundGroup, GroupPool } from "../../../incremental/groups.ts";
import type { IsChanged } from "../../../incremental/properties.ts";
import type { EncodedResource } from "../../../resource/encoded.ts";
import { type CachedKind, type Caches, isFor, type StaleResults } from "../cache/caches.ts";
import type { TranslationCache, TranslationResult } from "../cache/translation_cache.ts";
import type { TranslationNote } from "../../message/notes.ts";
import { profileOf, type ProxyProfile, type ProxyType } from "../../reader/proxy_profile.ts";
import type { ProxyProperties } from "../../reader/proxy_properties.ts";
import type { ScopeReader } from "../../reader/scope_reader.ts";
import type { GroupCondition, GroupRow } from "../results/row.ts";
import type { Results } from "../results/table.ts";
import { HostResources } from "./host_resources.ts";
import { OutboundListeners } from "./listeners.ts";
import type { SharedGroup } from "./group.ts";
import { type GroupOf, ProxyClass } from "./proxy_class.ts";
import { OutboundRoutes } from "./routes.ts";
import { SoleResult } from "./sole_result.ts";

/** All groups of a kind of result. */
type SharedGroups =
  & Iterable<SharedGroup>
  & Pick<
    GroupPool<ScopeReader, StaleResults, SharedGroup>,
    "asksMore" | "dependsOn" | "drop" | "dropChanged" | "find" | "holds" | "update"
  >;

/** The groups of a kind of result, and the condition of having a group. */
interface Pool {
  readonly kind: string;
  readonly groups: SharedGroups;
  readonly when: GroupCondition | undefined;
}

function poolOf<G extends SharedGroup>(found: FoundGroup<ScopeReader, G>): SharedGroups {
  return new GroupPool<ScopeReader, StaleResults, G>(found);
}

function newGroups({ kind, row, cache }: CachedKind, group: GroupRow<unknown>, ofGateways: boolean, caches: Caches) {
  switch (group.form) {
    case "set": {
      const options = {
        ...{ kind, type: group.type, ofGateways: ofGateways && group.narrowed === true },
        cache: cache as TranslationCache<readonly EncodedResource[]>,
      };
      return poolOf<HostResources>((source, model) => new HostResources(source, caches, options, model));
    }
    case "sole": {
      const options = { group, cache: cache as TranslationCache<unknown>, notesInUse: row.notesInUse === true };
      return poolOf<SoleResult<unknown>>((source, model) => new SoleResult(source, options, model));
    }
    case "listeners":
      return poolOf<OutboundListeners>((source, model) => new OutboundListeners(source, caches, model));
    case "routes":
      return poolOf<OutboundRoutes>((source, model) => new OutboundRoutes(source, caches, model));
  }
}

/** The pools of the rows for a profile, in the order of the rows. */
function newPools(profile: ProxyProfile, caches: Caches): Pool[] {
  return caches.all.flatMap((cached) => {
    const { kind, row, row: { group } } = cached;
    if (group === undefined || !isFor(row, profile)) return [];
    const when = group.form === "set" ? group.when : undefined;
    return [{ kind, groups: newGroups(cached, group, profile.gateways || profile.waypoint, caches), when }];
  });
}

/** Classes of proxies of a type. */
export class ProxyClasses {
  readonly #type: ProxyType;
  readonly #pools: readonly Pool[];
  readonly #classes = new Set<ProxyClass>();

  constructor(type: ProxyType, caches: Caches) {
    this.#type = type;
    this.#pools = newPools(profileOf(type), caches);
  }

  /** The number of classes. */
  get size(): number {
    return this.#classes.size;
  }

  /** The groups of a kind of result. */
  groups<K extends keyof Results>(kind: K): Iterable<GroupOf<Results[K]>> {
    return (this.#pools.find((pool) => pool.kind === kind)?.groups ?? []) as Iterable<GroupOf<Results[K]>>;
  }

  /**
   * The class of a proxy. A new class is made if needed.
   *
   * @param before The former class of the proxy: after an exception of a builder the results of the former class stay
   * in force.
   */
  find(source: ScopeReader, before?: ProxyClass): ProxyClass {
    const groups = new Map<string, SharedGroup>();
    for (const { kind, groups: all, when } of this.#pools) {
      if (when?.holds(source) ?? true) groups.set(kind, all.find(source, before?.groups.get(kind)));
    }
    for (const known of this.#classes) {
      if (known.scope === source.scope && sameGroups(known.groups, groups)) return known;
    }
    const made = new ProxyClass(this.#type, source.scope, groups);
    this.#classes.add(made);
    return made;
  }

  /** Brings all groups up to date. */
  update(stale: StaleResults): void {
    for (const { groups } of this.#pools) groups.update(stale);
    for (const known of this.#classes) known.looked();
  }

  /** Whether proxies may belong to other classes since the last update. */
  get asksMore(): boolean {
    return this.#pools.some(({ groups }) => groups.asksMore);
  }

  /**
   * Whether a proxy still belongs to a class after the last update.
   *
   * @param isChanged The changed facts about workloads. Absent: none.
   */
  holds({ groups }: ProxyClass, source: ScopeReader, isChanged?: IsChanged<ProxyProperties>): boolean {
    for (const { kind, groups: all, when } of this.#pools) {
      const group = groups.get(kind);
      if ((when?.holds(source) ?? true) !== (group !== undefined)) return false;
      if (group !== undefined && !all.holds(group, source, isChanged)) return false;
    }
    return true;
  }

  /** Whether classes depend on facts about workloads, of an accepted kind. */
  dependsOn(isKind: (kind: string) => boolean): boolean {
    if (this.#classes.size === 0) return false;
    return this.#pools.some(({ groups, when }) => when !== undefined && isKind(when.on) || groups.dependsOn(isKind));
  }

  /** Drops groups whose source has other answers after a change of facts about workloads. */
  dropChanged(isChanged: IsChanged<ProxyProperties>): void {
    for (const { groups } of this.#pools) groups.dropChanged(isChanged);
  }

  /** Drops classes, and then all unused groups. */
  drop(isDropped: (proxyClass: ProxyClass) => boolean): void {
    const used = new Set<object>();
    for (const known of this.#classes) {
      if (isDropped(known)) this.#classes.delete(known);
      else for (const group of known.groups.values()) used.add(group);
    }
    for (const { groups } of this.#pools) groups.drop((group) => !used.has(group));
  }

  /** The notes outside the caches. */
  *notes(): Iterable<TranslationNote> {
    for (const { groups } of this.#pools) for (const group of groups) yield* group.notes?.() ?? [];
  }

  /** The results in use. */
  *results(): Iterable<TranslationResult<unknown>> {
    for (const { groups } of this.#pools) for (const group of groups) yield* group.results();
  }
}

/** Whether a class has these groups. Groups of a type always come in the same order. */
function sameGroups(a: ReadonlyMap<string, SharedGroup>, b: ReadonlyMap<string, SharedGroup>): boolean {
  return a.size === b.size && b.entries().every(([kind, group]) => a.get(kind) === group);
}
