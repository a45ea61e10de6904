/**
 * Results of builders, one per host (a unit), shared by all proxy classes for which they hold.
 *
 * A unit is found by replaying its trace: where every question gets the answer that it got at the build, the unit is
 * the one that a fresh build would give. Units that a change touched are dropped before anyone looks.
 *
 * @module
 */
import type { InvalidatedKeys } from "./invalidated_keys.ts";
import type { Reader } from "./reader.ts";
import { type BaseReader, Trace } from "./read_record.ts";
import { RecordingReader } from "./recording_reader.ts";
import type { Warn, Warning } from "../message/warning.ts";

/** A built unit with what it asked. */
export interface Unit<T> {
  readonly value: T;
  readonly trace: Trace;
  /** The builder threw: `value` is the fallback, and whoever has an older unit of that name had better keep it. */
  readonly failed?: true;
  /** What the builder had to say to users; absent: nothing. */
  readonly warnings?: readonly Warning[];
}

/** How a cache behaves. */
export interface UnitCacheOptions<T> {
  /** Off: every class builds its own (`PILOT_ENABLE_XDS_CACHE=false`); dependencies are still tracked. */
  readonly enabled: boolean;
  /** Stands in for a unit whose builder threw. */
  readonly fallback: T;
  /** Told of a builder that threw: one bad object never harms another. */
  readonly failed: (name: string, error: unknown) => void;
}

/** Builds one unit, tracing what it asks; a builder that throws gives the fallback. */
export function makeUnit<T>(
  name: string,
  reader: BaseReader,
  build: (read: Reader, warn: Warn) => T,
  options: Pick<UnitCacheOptions<T>, "fallback" | "failed">,
): Unit<T> {
  const trace = new Trace();
  const warnings: Warning[] = [];
  try {
    const value = build(new RecordingReader(reader, trace), (warning) => void warnings.push(warning));
    return warnings.length > 0 ? { value, trace, warnings } : { value, trace };
  } catch (error) {
    options.failed(name, error);
    return { value: options.fallback, trace, failed: true };
  }
}

/** Variants of one unit kept at once; more classes than this with different answers build theirs again. */
const MAX_VARIANTS = 256;

/** Units by name. */
export class UnitCache<T> {
  readonly #build: (read: Reader, name: string, warn: Warn) => T;
  readonly #options: UnitCacheOptions<T>;
  readonly #units = new Map<string, Unit<T>[]>();
  /** Dependency to the names of the units that have it; a lone one, which is the rule, needs no set. */
  readonly #dependents = new Map<string, string | Set<string>>();
  /** Names of units whose builder threw: they are tried again with the next change, whatever it touches. */
  readonly #failed = new Set<string>();
  /** Names of the units that have something to say. */
  readonly #warned = new Set<string>();
  /** Counts of builds, of reuses, and of units that went by a change or for others, for metrics and tests. */
  readonly stats = { built: 0, reused: 0, dropped: 0, crowdedOut: 0 };

  /** @param build Builds one unit; asks only the reader. */
  constructor(build: (read: Reader, name: string, warn: Warn) => T, options: UnitCacheOptions<T>) {
    this.#build = build;
    this.#options = options;
  }

  /** How many variants are kept. */
  get size(): number {
    let count = 0;
    for (const variants of this.#units.values()) count += variants.length;
    return count;
  }

  /** The unit of that name as this class of proxies gets it. */
  get(name: string, reader: BaseReader): Unit<T> {
    const variants = this.#units.get(name);
    if (variants && this.#options.enabled) {
      for (const unit of variants) {
        if (!unit.trace.holds(reader)) continue;
        this.stats.reused++;
        return unit;
      }
    }
    this.stats.built++;
    const unit = makeUnit(name, reader, (read, warn) => this.#build(read, name, warn), this.#options);
    if (unit.warnings) this.#warned.add(name);
    if (unit.failed) this.#failed.add(name);
    if (!variants) this.#units.set(name, [unit]);
    else if (variants.length < MAX_VARIANTS) variants.push(unit);
    else {
      variants.splice(0, 1, unit);
      this.stats.crowdedOut++;
    }
    for (const dependency of unit.trace.dependencies) this.#depend(name, dependency);
    return unit;
  }

  #depend(name: string, dependency: string): void {
    const names = this.#dependents.get(dependency);
    if (names === undefined) this.#dependents.set(dependency, name);
    else if (typeof names !== "string") names.add(name);
    else if (names !== name) this.#dependents.set(dependency, new Set([names, name]));
  }

  /** Drops all units that depend on what changed, and tells their names. */
  invalidate(changed: InvalidatedKeys): Set<string> {
    const names = new Set(this.#failed);
    for (const dependency of changed.among(this.#dependents)) {
      const dependents = this.#dependents.get(dependency) ?? [];
      for (const name of typeof dependents === "string" ? [dependents] : dependents) names.add(name);
    }
    for (const name of names) this.drop(name);
    return names;
  }

  /** Forgets all variants of one unit. */
  drop(name: string): void {
    for (const { trace } of this.#units.get(name) ?? []) {
      this.stats.dropped++;
      for (const dependency of trace.dependencies) {
        const names = this.#dependents.get(dependency);
        const alone = typeof names === "object" ? names.delete(name) && names.size === 0 : names === name;
        if (alone) this.#dependents.delete(dependency);
      }
    }
    this.#units.delete(name);
    this.#warned.delete(name);
    this.#failed.delete(name);
  }

  /** What the builders of the units that are kept had to say to users. */
  *warnings(): Iterable<Warning> {
    for (const name of this.#warned) for (const unit of this.#units.get(name) ?? []) yield* unit.warnings ?? [];
  }

  /** How many dependencies the units have. */
  get dependencyCount(): number {
    return this.#dependents.size;
  }
}
