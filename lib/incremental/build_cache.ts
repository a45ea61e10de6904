/**
 * Results of a builder by name, shared by all sources with the same answers.
 *
 * A look-up replays the records of kept results. A result fits a source if the input is the same and every query of the
 * record gets the answer of the build: a fresh build would give the same result. A change drops the stale results
 * before the next look-up.
 *
 * @module
 */
import { type Build, type BuildFailure, type BuildResult, buildResult } from "./build_result.ts";
import { Dependents } from "./dependents.ts";
import type { InvalidatedKeys } from "./keys.ts";
import { PropertyTree } from "./properties.ts";
import type { PropertiesOf, ReadSource } from "./read_record.ts";

/** How a cache behaves. */
export interface BuildCacheOptions<T, I = undefined> extends BuildFailure<T> {
  /** Off: every look-up builds; dependencies are still tracked, and failed builds tried again. */
  readonly enabled: boolean;
  /** Whether two inputs of a name are the same. Default: by identity. */
  readonly sameInput?: (a: I, b: I) => boolean;
}

/** Kept results of a name. Sources with more different answers build their results again. */
export const MAX_VARIANTS = 256;

/** The operations of a cache since its start. */
export interface BuildCounts {
  built: number;
  reused: number;
  /** Results dropped because a dependency changed. */
  dropped: number;
  /** Results dropped because a name had more than {@linkcode MAX_VARIANTS}. */
  crowdedOut: number;
}

/** Results by name. */
export class BuildCache<S extends ReadSource, T, N = never, I = undefined> {
  readonly #build: Build<S, T, N, I>;
  readonly #options: BuildCacheOptions<T, I>;
  readonly #tree = new PropertyTree<PropertiesOf<S>>();
  /** The oldest result of a name comes first. */
  readonly #results = new Map<string, BuildResult<S, T, N, I>[]>();
  /** Without dependencies of results on things of their own name: nearly all dependencies. */
  readonly #dependents = new Dependents();
  /** Names of results whose builder threw. Every change tries them again. */
  readonly #failed = new Set<string>();
  /** Names of results with findings. */
  readonly #noted = new Set<string>();
  /** For metrics and tests. */
  readonly counts: BuildCounts = { built: 0, reused: 0, dropped: 0, crowdedOut: 0 };

  constructor(build: Build<S, T, N, I>, options: BuildCacheOptions<T, I>) {
    this.#build = build;
    this.#options = options;
  }

  /** Whether results are found again. */
  get enabled(): boolean {
    return this.#options.enabled;
  }

  /** Whether no result is kept. */
  get isEmpty(): boolean {
    return this.#results.size === 0;
  }

  /** How many results are kept. */
  get size(): number {
    let count = 0;
    for (const variants of this.#results.values()) count += variants.length;
    return count;
  }

  /** The number of things that results depend on. The cost grows with the number of results. */
  get dependencies(): number {
    let count = this.#dependents.size;
    for (const [name, variants] of this.#results) {
      const own = new Set<string>();
      for (const { record } of variants) for (const [kind, key] of record.keys()) if (key === name) own.add(kind);
      for (const kind of own) if (!this.#dependents.of(kind)?.has(name)) count++;
    }
    return count;
  }

  /** The result of a name and an input for a source. */
  get(name: string, source: S, input: I): BuildResult<S, T, N, I> {
    const variants = this.#results.get(name) ?? [];
    const known = this.#options.enabled ? this.#find(variants, source, input) : undefined;
    if (known) {
      this.counts.reused++;
      return known;
    }
    this.counts.built++;
    const made = buildResult(this.#build, { source, tree: this.#tree, name, input }, this.#options);
    this.#keep(name, variants, made);
    return made;
  }

  #find(variants: readonly BuildResult<S, T, N, I>[], source: S, input: I): BuildResult<S, T, N, I> | undefined {
    const { sameInput } = this.#options;
    for (let i = variants.length - 1; i >= 0; i--) {
      const result = variants[i]!;
      const same = result.input === input || sameInput?.(result.input, input) === true;
      if (same && result.record.holds(source)) return result;
    }
    return undefined;
  }

  #keep(name: string, variants: BuildResult<S, T, N, I>[], result: BuildResult<S, T, N, I>): void {
    if (variants.length === 0) this.#results.set(name, variants);
    variants.push(result);
    if (result.notes) this.#noted.add(name);
    if (result.failed) this.#failed.add(name);
    for (const [kind, key] of result.record.keys()) if (key !== name) this.#dependents.add(kind, key, name);
    if (variants.length <= MAX_VARIANTS) return;
    this.#forget(name, variants.splice(0, 1), variants);
    this.counts.crowdedOut++;
  }

  /** Removes the dependencies of dropped results, except dependencies of the remaining results. */
  #forget(
    name: string,
    gone: readonly BuildResult<S, T, N, I>[],
    left: readonly BuildResult<S, T, N, I>[],
  ): void {
    for (const { record } of gone) {
      for (const [kind, key] of record.keys()) {
        if (key !== name && !left.some((other) => other.record.dependsOn(kind, key))) {
          this.#dependents.delete(kind, key, name);
        }
      }
    }
  }

  /**
   * Drops the results with changed dependencies, and the results whose builder threw.
   *
   * @returns The names of the dropped results.
   */
  invalidate(keys: InvalidatedKeys): Set<string> {
    const names = new Set(this.#failed);
    for (const kind of keys.kinds()) {
      for (const name of keys.among(kind, this.#results)) {
        if (this.#results.get(name)!.some(({ record }) => record.dependsOn(kind, name))) names.add(name);
      }
    }
    for (const name of this.#dependents.affectedBy(keys)) names.add(name);
    for (const name of names) this.drop(name);
    return names;
  }

  /** Forgets all results of a name. */
  drop(name: string): void {
    const variants = this.#results.get(name) ?? [];
    this.counts.dropped += variants.length;
    this.#forget(name, variants, []);
    this.#results.delete(name);
    this.#noted.delete(name);
    this.#failed.delete(name);
  }

  /**
   * Forgets unused results. Call it regularly.
   *
   * @param keepsNewest The newest result of a name stays: users may come back.
   */
  sweep(
    isUsed: (result: BuildResult<S, T, N, I>) => boolean,
    { keepsNewest = false }: { readonly keepsNewest?: boolean } = {},
  ): void {
    for (const [name, variants] of this.#results) {
      if (keepsNewest && variants.length === 1) continue;
      const left = variants.filter(isUsed);
      if (left.length === 0 && keepsNewest) left.push(variants.at(-1)!);
      if (left.length === variants.length) continue;
      this.#forget(name, variants.filter((result) => !left.includes(result)), left);
      if (left.length > 0) this.#results.set(name, left);
      else this.#results.delete(name);
      if (!left.some(({ notes }) => notes)) this.#noted.delete(name);
      if (!left.some(({ failed }) => failed)) this.#failed.delete(name);
    }
  }

  /** The values of the kept results. The caller may pause; results may come and go meanwhile. */
  *values(): Iterable<T> {
    for (const variants of this.#results.values()) for (const { value } of variants) yield value;
  }

  /** The findings of the kept results. */
  *notes(): Iterable<N> {
    for (const name of this.#noted) for (const { notes } of this.#results.get(name) ?? []) yield* notes ?? [];
  }
}
