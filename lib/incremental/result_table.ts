/**
 * One result for each name that a group of sources needs, kept up to date name by name: the one loop that everything
 * built by name goes through.
 *
 * @module
 */
import type { BuildCache } from "./build_cache.ts";
import type { BuildResult } from "./build_result.ts";
import { LayeredMap } from "./layered_map.ts";
import { PropertyCheck } from "./properties.ts";
import type { PropertiesOf, ReadSource, ViewDifference } from "./read_record.ts";

/** The inputs of a look at some names. */
export interface ResultLook<S extends ReadSource> {
  /** One source of the group. */
  readonly source: S;
  /** Whether there is anything to build for a name, as the source sees it. */
  readonly exists: (name: string) => boolean;
  /** Called with every result that was looked at. */
  readonly onResult: (result: BuildResult<S, unknown, unknown, unknown>) => void;
  /** Whether results stay where their builder throws; false for a copy of a group that the sources do not come from. */
  readonly keeps: boolean;
}

/** A name whose result changed. */
export interface ReplacedResult<T> {
  readonly name: string;
  readonly before: T | undefined;
  /** Undefined: there is nothing to build for that name any more. */
  readonly after: T | undefined;
}

/** Results by name. */
export class ResultTable<S extends ReadSource, T, N = never> {
  readonly #cache: BuildCache<S, T, N>;
  readonly #results: LayeredMap<string, BuildResult<S, T, N, undefined>>;

  /** @param like Begins as a copy of another group's, with which it shares unchanged results. */
  constructor(cache: BuildCache<S, T, N>, like?: ResultTable<S, T, N>) {
    this.#cache = cache;
    this.#results = new LayeredMap(like ? like.#results : undefined);
  }

  /** The result of each name. */
  get results(): ReadonlyMap<string, BuildResult<S, T, N, undefined>> {
    return this.#results;
  }

  /**
   * The names that a copy has to look at: those whose results asked something that this source answers differently than
   * the group that was copied. The results of all others are the ones that a look would give.
   *
   * @param difference The differences between the group's view and the source's.
   */
  unlike({ source, onResult }: ResultLook<S>, difference: ViewDifference): Set<string> {
    const names = new Set(difference.names);
    const check = new PropertyCheck<PropertiesOf<S>>(source.properties);
    for (const [name, result] of this.#results) {
      const { record } = result;
      const same = this.#cache.enabled && check.fits(record.properties) && !record.dependsOnAny(difference.keys);
      if (!same) names.add(name);
      else if (!names.has(name)) onResult(result);
    }
    return names;
  }

  /** Looks at some names again; returns those whose result changed. */
  update(names: Iterable<string>, { source, exists, onResult, keeps }: ResultLook<S>): ReplacedResult<T>[] {
    const replaced: ReplacedResult<T>[] = [];
    for (const name of names) {
      const old = this.#results.get(name);
      const result = exists(name) ? this.#cache.get(name, source, undefined) : undefined;
      if (result) onResult(result);
      if (result === old || (keeps && old && result?.failed)) continue;
      replaced.push({ name, before: old?.value, after: result?.value });
      if (result) this.#results.set(name, result);
      else this.#results.delete(name);
    }
    return replaced;
  }
}
