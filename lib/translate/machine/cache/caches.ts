/**
 * The caches of build results, one cache for each kind of result. All proxies share the caches.
 *
 * @module
 */
import type { AffectedKeys } from "../../../mesh/affected.ts";
import type { ResourceSet, ResourceTable } from "../../../resource/set.ts";
import type { TranslationNote } from "../../message/notes.ts";
import type { ProxyProfile } from "../../reader/proxy_profile.ts";
import type { AnyResultRow, BuildFailed, ResultNaming, ResultRow } from "../results/row.ts";
import type { ResultRows, Results } from "../results/table.ts";
import { type TranslationCache, translationCache, type TranslationResult } from "./translation_cache.ts";

/** Switches of the caches. Without caches every class of proxies builds its own results. */
export interface CacheSwitches {
  /** `PILOT_ENABLE_XDS_CACHE`. */
  readonly all: boolean;
  /** `PILOT_ENABLE_CDS_CACHE`; needs `all`. */
  readonly clusters: boolean;
  /** `PILOT_ENABLE_RDS_CACHE`; needs `all`. */
  readonly routes: boolean;
}

/** Names of results to look up again after a change, by kind of result. */
export type StaleResults = ReadonlyMap<string, ReadonlySet<string>>;

/** The use of the shared caches, for metrics and pages: counts since the start of the caches, and the present size. */
export interface CacheStats {
  /** Look-ups with a kept result, and look-ups with a build. */
  readonly hits: number;
  readonly misses: number;
  /** Results dropped after a change of their inputs, and results dropped because a name had too many. */
  readonly cleared: number;
  readonly crowdedOut: number;
  readonly size: number;
  /** Dependencies of results, such as services and rules. */
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

/** A kind of result and its cache. */
export interface CachedKind {
  readonly kind: string;
  readonly row: AnyResultRow;
  readonly cache: AnyCache;
}

/**
 * Kinds of names with results for whole classes of proxies. The newest result of a name stays, as proxies come back.
 */
const SHARED: ReadonlySet<ResultNaming> = new Set(["host", "sole", "route"]);

export class Caches {
  /** The set without resources. */
  readonly empty: ResourceSet;
  /** The cache of each kind. */
  readonly of: CachesOf<Results>;
  /** All caches, with the caches of further rows. */
  readonly all: readonly CachedKind[];

  /** @param failed Called after an exception of a builder. */
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

  /** The caches by host that a joining proxy fills. */
  filledFor(profile: ProxyProfile): readonly TranslationCache<unknown>[] {
    return this.all.flatMap(({ row, cache }) => {
      const isFilled = row.of === "host" && !row.onDemand && isFor(row, profile) && !hasCondition(row);
      return isFilled ? [cache as TranslationCache<unknown>] : [];
    });
  }

  /** Drops the stale results of a change. */
  invalidate({ things, hosts }: AffectedKeys): StaleResults {
    const names = new Map<string, ReadonlySet<string>>();
    for (const { kind, row, cache } of this.all) {
      // Meshes without libraries, or with a single network, lack some kinds of results, and pay nothing for them.
      const stale = cache.isEmpty ? NO_NAMES : cache.invalidate(things);
      names.set(kind, row.of === "host" ? joined(stale, hosts) : stale);
    }
    return names;
  }

  /** Forgets unused results, but keeps the last result of each host: proxies come back. */
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

  /**
   * The notes of builders, except notes about single workloads, and notes that count only while a proxy has the result.
   */
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
