/**
 * The results of a group by name, updated name by name. Everything built by name goes through this loop.
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
  /** Any source of the group. */
  readonly source: S;
  /** Whether the source has anything to build for a name. */
  readonly exists: (name: string) => boolean;
  /** Called with each result of the look. */
  readonly onResult: (result: BuildResult<S, unknown, unknown, unknown>) => void;
  /**
   * Whether results stay after an exception of the builder. False for a copy of a group without the sources of that
   * group.
   */
  readonly keeps: boolean;
}

/** A name with another result. */
export interface ReplacedResult<T> {
  readonly name: string;
  readonly before: T | undefined;
  /** Undefined: there is nothing to build for the name. */
  readonly after: T | undefined;
}

/** Results by name. */
export class ResultTable<S extends ReadSource, T, N = never> {
  readonly #cache: BuildCache<S, T, N>;
  readonly #results: LayeredMap<string, BuildResult<S, T, N, undefined>>;

  /** @param like The model: the table begins as a copy, and shares unchanged results. */
  constructor(cache: BuildCache<S, T, N>, like?: ResultTable<S, T, N>) {
    this.#cache = cache;
    this.#results = new LayeredMap(like ? like.#results : undefined);
  }

  /** The result of each name. */
  get results(): ReadonlyMap<string, BuildResult<S, T, N, undefined>> {
    return this.#results;
  }

  /**
   * The names that a copy has to look up: the source answers a query of the result differently than the model. A look
   * would give the same result for all other names.
   *
   * @param difference The differences between the view of the model and the view of the source.
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

  /**
   * Looks up names again.
   *
   * @returns The names with another result.
   */
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
