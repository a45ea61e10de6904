/**
 * The caches of build results, one for each kind of result, shared by all proxies.
 *
 * @module
 */
import type { InvalidatedKeys } from "../../../incremental/keys.ts";
import type { AffectedKeys } from "../../../mesh/mesh.ts";
import type { ResourceSet, ResourceTable } from "../../../resource/set.ts";
import type { TranslationNote } from "../../message/notes.ts";
import type { ProxyProfile } from "../../reader/proxy_profile.ts";
import { invalidatedKeys } from "../../reader/mesh_queries.ts";
import type { AnyResultRow, BuildFailed, ResultNames, ResultRow } from "../results/row.ts";
import type { ResultRows, Results } from "../results/table.ts";
import { type TranslationCache, translationCache, type TranslationResult } from "./translation_cache.ts";

/** Switches of the caches. Off: every class of proxies builds its own results. */
export interface CacheSwitches {
  /** `PILOT_ENABLE_XDS_CACHE`. */
  readonly all: boolean;
  /** `PILOT_ENABLE_CDS_CACHE`; needs `all`. */
  readonly clusters: boolean;
  /** `PILOT_ENABLE_RDS_CACHE`; needs `all`. */
  readonly routes: boolean;
}

/** The results of a change that groups look at again. */
export interface StaleResults {
  /** Names of results, by kind. */
  readonly names: ReadonlyMap<string, ReadonlySet<string>>;
  /** All that changed, as read records name it. */
  readonly keys: InvalidatedKeys;
}

/**
 * The use of the caches of results that classes of proxies share, for metrics and pages: counts since the caches were
 * made, and the present size.
 */
export interface CacheStats {
  /** Look-ups that found a result, and that had to build one. */
  readonly hits: number;
  readonly misses: number;
  /** Results that were removed because their inputs changed, and because too many of one name came. */
  readonly cleared: number;
  readonly crowdedOut: number;
  readonly size: number;
  /** Things (services, rules) on which results depend. */
  readonly dependencies: number;
}

/** The cache of each row. */
type CachesOf<R> = {
  readonly [K in keyof R]: R[K] extends ResultRow<infer T, infer I, infer _> ? TranslationCache<T, I> : never;
};

/** The operations on the cache of any row. */
type AnyCache =
  & Pick<TranslationCache<unknown>, "isEmpty" | "size" | "dependencies" | "counts">
  & Pick<TranslationCache<unknown, unknown>, "invalidate" | "sweep" | "notes" | "values">;

/** A kind of result, with its cache. */
export interface CachedKind {
  readonly kind: string;
  readonly row: AnyResultRow;
  readonly cache: AnyCache;
}

/** Names of results that whole classes of proxies share: the newest result of a name stays, as proxies come back. */
const SHARED: ReadonlySet<ResultNames> = new Set(["host", "sole", "route"]);

export class Caches {
  /** The set without resources. */
  readonly empty: ResourceSet;
  /** The cache of each kind. */
  readonly of: CachesOf<Results>;
  /** All of them, those of further rows too. */
  readonly all: readonly CachedKind[];

  /** @param failed Called when a builder threw: the kind of result, and its name. */
  constructor(rows: ResultRows, table: ResourceTable, on: CacheSwitches, failed: BuildFailed) {
    const { empty } = table;
    this.empty = empty;
    this.all = Object.entries<AnyResultRow>(rows).map(([kind, row]) => ({
      kind,
      row,
      cache: translationCache(row.builder(empty), {
        enabled: on.all && (row.cache === undefined || on[row.cache]),
        fallback: row.fallback(empty),
        failed: (name, error) => failed(row.failure, name, error),
        ...row.sameInput && { sameInput: row.sameInput },
      }),
    }));
    this.of = Object.fromEntries(this.all.map(({ kind, cache }) => [kind, cache])) as unknown as CachesOf<Results>;
  }

  /** The caches that the join of a proxy fills, by host. */
  filledFor(profile: ProxyProfile): readonly TranslationCache<unknown>[] {
    return this.all.flatMap(({ row, cache }) => {
      const isFilled = row.of === "host" && !row.onDemand && isFor(row, profile) && !hasCondition(row);
      return isFilled ? [cache as TranslationCache<unknown>] : [];
    });
  }

  /** Drops the results that a change makes stale. */
  invalidate(affected: AffectedKeys): StaleResults {
    const keys = invalidatedKeys(affected);
    const appearing = new Set([...affected.services, ...affected.virtualServices]);
    const names = new Map<string, ReadonlySet<string>>();
    for (const { kind, row, cache } of this.all) {
      // Meshes of one network, or without libraries, lack results of some kinds, and pay for none.
      const stale = cache.isEmpty ? NO_NAMES : cache.invalidate(keys);
      names.set(kind, row.of === "host" ? joined(stale, appearing) : stale);
    }
    return { names, keys };
  }

  /** Forgets results that are not in use, but for the last one of each host: proxies come back. */
  sweep(inUse: Iterable<TranslationResult<unknown>>): void {
    const used = new Set<unknown>(inUse);
    for (const { row, cache } of this.all) {
      cache.sweep((result) => used.has(result), { keepsNewest: SHARED.has(row.of) });
    }
  }

  /** The operations and content of the caches, for metrics. */
  stats(): CacheStats {
    const sums = { hits: 0, misses: 0, cleared: 0, crowdedOut: 0, size: 0, dependencies: 0 };
    for (const { row, cache } of this.all) {
      if (!SHARED.has(row.of)) continue;
      sums.hits += cache.counts.reused;
      sums.misses += cache.counts.built;
      sums.cleared += cache.counts.dropped;
      sums.crowdedOut += cache.counts.crowdedOut;
      sums.size += cache.size;
      sums.dependencies += cache.dependencies;
    }
    return sums;
  }

  /** The notes of builders, but for those per proxy, and those of results whose notes count while a proxy has them. */
  *notes(): Iterable<TranslationNote> {
    for (const { row, cache } of this.all) if (row.of !== "workload" && !row.notesInUse) yield* cache.notes();
  }
}

const NO_NAMES: ReadonlySet<string> = new Set();

function joined(a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> {
  if (a.size === 0) return b;
  return b.size === 0 ? a : a.union(b);
}

/** Whether proxies of a profile have results of a row. */
export function isFor(row: AnyResultRow, profile: ProxyProfile): boolean {
  return row.for?.(profile) ?? true;
}

function hasCondition({ group }: AnyResultRow): boolean {
  return group?.form === "set" && group.when !== undefined;
}
