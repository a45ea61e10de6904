/**
 * All classes of proxies of one type, and the groups of results that they share.
 *
 * @module
 */
import { type FoundGroup, GroupPool } from "../../../incremental/groups.ts";
import type { EncodedResource } from "../../../resource/encoded.ts";
import { type CachedKind, type Caches, isFor, type StaleResults } from "../cache/caches.ts";
import type { TranslationCache, TranslationResult } from "../cache/translation_cache.ts";
import type { TranslationNote } from "../../message/notes.ts";
import type { MeshAnswers } from "../../reader/mesh_answers.ts";
import { profileOf, type ProxyProfile, type ProxyType } from "../../reader/proxy_profile.ts";
import type { ScopeReader } from "../../reader/scope_reader.ts";
import type { GroupRow } from "../results/row.ts";
import type { Results } from "../results/table.ts";
import { HostResources } from "./host_resources.ts";
import { OutboundListeners } from "./listeners.ts";
import type { SharedGroup } from "./group.ts";
import { type GroupOf, ProxyClass } from "./proxy_class.ts";
import { OutboundRoutes } from "./routes.ts";
import { SoleResult } from "./sole_result.ts";

/** All groups of one kind of result. */
type SharedGroups =
  & Iterable<SharedGroup>
  & Pick<GroupPool<MeshAnswers, StaleResults, SharedGroup>, "asksMore" | "drop" | "find" | "holds" | "update">;

/** The groups of one kind of result, and which proxies have one. */
interface Pool {
  readonly kind: string;
  readonly groups: SharedGroups;
  readonly has: (source: MeshAnswers) => boolean;
}

function poolOf<G extends SharedGroup>(found: FoundGroup<MeshAnswers, G>): SharedGroups {
  return new GroupPool<MeshAnswers, StaleResults, G>(found);
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

/** The pools of the rows that are for proxies of a profile, in the order of the rows. */
function newPools(profile: ProxyProfile, caches: Caches): Pool[] {
  return caches.all.flatMap((cached) => {
    const { kind, row, row: { group } } = cached;
    if (group === undefined || !isFor(row, profile)) return [];
    const when = group.form === "set" ? group.when : undefined;
    return [{ kind, groups: newGroups(cached, group, profile.gateways, caches), has: when ?? (() => true) }];
  });
}

/** Classes of proxies of one type. */
export class ProxyClasses {
  readonly #type: ProxyType;
  readonly #pools: readonly Pool[];
  readonly #classes = new Set<ProxyClass>();

  constructor(type: ProxyType, caches: Caches) {
    this.#type = type;
    this.#pools = newPools(profileOf(type), caches);
  }

  /** How many there are. */
  get size(): number {
    return this.#classes.size;
  }

  /** The groups of one kind of result. */
  groups<K extends keyof Results>(kind: K): Iterable<GroupOf<Results[K]>> {
    return (this.#pools.find((pool) => pool.kind === kind)?.groups ?? []) as Iterable<GroupOf<Results[K]>>;
  }

  /**
   * The class of a proxy; made where there is none.
   *
   * @param before The class that the proxy leaves: where a builder throws, the results of that class stay in force.
   */
  find(source: ScopeReader, before?: ProxyClass): ProxyClass {
    const groups = new Map<string, SharedGroup>();
    for (const { kind, groups: all, has } of this.#pools) {
      if (has(source)) groups.set(kind, all.find(source, before?.groups.get(kind)));
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

  /** Whether a proxy of a class still belongs there after the last update. */
  holds({ groups }: ProxyClass, source: MeshAnswers): boolean {
    for (const { kind, groups: all, has } of this.#pools) {
      const group = groups.get(kind);
      if (has(source) !== (group !== undefined)) return false;
      if (group !== undefined && !all.holds(group, source)) return false;
    }
    return true;
  }

  /** Drops the groups whose results asked for a property whose answers changed for all. */
  forget(property: string): void {
    for (const { groups } of this.#pools) groups.drop(({ asked }) => asked.has(property));
  }

  /** Drops the groups whose own source now answers otherwise to the questions of their results about its properties. */
  forgetChanged(): void {
    for (const { groups } of this.#pools) groups.drop(({ asked, source }) => !asked.fits(source.properties));
  }

  /** Drops classes, and groups that no class uses any more. */
  drop(isDropped: (proxyClass: ProxyClass) => boolean): void {
    const used = new Set<object>();
    for (const known of this.#classes) {
      if (isDropped(known)) this.#classes.delete(known);
      else for (const group of known.groups.values()) used.add(group);
    }
    for (const { groups } of this.#pools) groups.drop((group) => !used.has(group));
  }

  /** The notes that the caches do not give. */
  *notes(): Iterable<TranslationNote> {
    for (const { groups } of this.#pools) for (const group of groups) yield* group.notes?.() ?? [];
  }

  /** The results in use. */
  *results(): Iterable<TranslationResult<unknown>> {
    for (const { groups } of this.#pools) for (const group of groups) yield* group.results();
  }
}

/** Whether a class has these groups. Groups of one type's classes come in one order. */
function sameGroups(a: ReadonlyMap<string, SharedGroup>, b: ReadonlyMap<string, SharedGroup>): boolean {
  return a.size === b.size && b.entries().every(([kind, group]) => a.get(kind) === group);
}
