/**
 * Merged listeners, shared by all classes of sidecars whose hosts contribute the same parts.
 *
 * @module
 */
import type { ListenerPart } from "./listener/part.ts";
import type { Reader } from "./reader.ts";
import type { BaseReader } from "./trace.ts";
import { makeUnit, type Unit, type UnitCacheOptions } from "./unit_cache.ts";

interface Entry<T> {
  readonly parts: readonly ListenerPart[];
  readonly unit: Unit<T>;
}

/** Variants kept for one listener. */
const MAX_VARIANTS = 64;

/** Results of merging by listener and parts. */
export class MergeCache<T> {
  readonly #build: (read: Reader, key: string, parts: readonly ListenerPart[]) => T;
  readonly #options: UnitCacheOptions<T>;
  readonly #entries = new Map<string, Entry<T>[]>();

  constructor(
    build: (read: Reader, key: string, parts: readonly ListenerPart[]) => T,
    options: UnitCacheOptions<T>,
  ) {
    this.#build = build;
    this.#options = options;
  }

  /** The result for these parts, in this order, as this class of proxies gets it. */
  get(key: string, parts: readonly ListenerPart[], reader: BaseReader): Unit<T> {
    const entries = this.#entries.get(key) ?? [];
    if (this.#options.enabled) {
      const known = entries.find((entry) => same(entry.parts, parts) && entry.unit.trace.holds(reader));
      if (known) return known.unit;
    }
    const unit = makeUnit(key, reader, (read) => this.#build(read, key, parts), this.#options);
    // The newest first: what is no longer asked for falls off the end.
    if (!unit.failed) this.#entries.set(key, [{ parts, unit }, ...entries].slice(0, MAX_VARIANTS));
    return unit;
  }

  /** Forgets listeners that no host contributes to. */
  drop(key: string): void {
    this.#entries.delete(key);
  }
}

function same(a: readonly ListenerPart[], b: readonly ListenerPart[]): boolean {
  return a.length === b.length && a.every((part, i) => part === b[i]);
}
