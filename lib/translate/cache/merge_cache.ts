/**
 * Merged listeners, shared by all classes of sidecars whose hosts contribute the same contributions.
 *
 * @module
 */
import type { ListenerContribution } from "../listener/contribution.ts";
import type { Reader } from "../reader/reader.ts";
import type { BaseReader } from "../reader/read_record.ts";
import { makeUnit, type Unit, type UnitCacheOptions } from "../reader/build_cache.ts";

interface Entry<T> {
  readonly contributions: readonly ListenerContribution[];
  readonly unit: Unit<T>;
}

/** Variants kept for one listener. */
const MAX_VARIANTS = 64;

/** Results of merging by listener and contributions. */
export class MergeCache<T> {
  readonly #build: (read: Reader, key: string, contributions: readonly ListenerContribution[]) => T;
  readonly #options: UnitCacheOptions<T>;
  readonly #entries = new Map<string, Entry<T>[]>();

  constructor(
    build: (read: Reader, key: string, contributions: readonly ListenerContribution[]) => T,
    options: UnitCacheOptions<T>,
  ) {
    this.#build = build;
    this.#options = options;
  }

  /** The result for these contributions, in this order, as this class of proxies gets it. */
  get(key: string, contributions: readonly ListenerContribution[], reader: BaseReader): Unit<T> {
    const entries = this.#entries.get(key) ?? [];
    if (this.#options.enabled) {
      const known = entries.find((entry) => same(entry.contributions, contributions) && entry.unit.trace.holds(reader));
      if (known) return known.unit;
    }
    const unit = makeUnit(key, reader, (read) => this.#build(read, key, contributions), this.#options);
    // The newest first: what is no longer asked for falls off the end.
    if (!unit.failed) this.#entries.set(key, [{ contributions, unit }, ...entries].slice(0, MAX_VARIANTS));
    return unit;
  }

  /** Forgets listeners that no host contributes to. */
  drop(key: string): void {
    this.#entries.delete(key);
  }
}

function same(a: readonly ListenerContribution[], b: readonly ListenerContribution[]): boolean {
  return a.length === b.length && a.every((contribution, i) => contribution === b[i]);
}
