/**
 * Nearly equal maps with a shared layer of common entries.
 *
 * @module
 */

/** Marks a removed entry of the shared layer. */
const GONE: unique symbol = Symbol("gone");

const EMPTY: ReadonlyMap<never, never> = new Map<never, never>();

/** The largest number of own entries, as a share of the layer. A map with more own entries leaves the layer. */
const MOST_OWN = 1 / 2;

/** A copy takes over the layer unchanged while the own entries of the original are fewer, as a share of the layer. */
const MOST_COPIED = 1 / 8;

/**
 * A map. The cost of a copy grows with the differences from the shared layer, not with the size. Values are never
 * undefined.
 */
export class LayeredMap<K, V extends NonNullable<unknown>> implements ReadonlyMap<K, V> {
  /** Shared with copies, and never changed. */
  #shared: ReadonlyMap<K, V> = EMPTY;
  /** The differences from the shared layer. */
  #own: Map<K, V | typeof GONE> = new Map();
  #size = 0;

  /** @param like Begins as a copy of another. */
  constructor(like?: LayeredMap<K, V>) {
    if (like === undefined) return;
    like.#share();
    this.#shared = like.#shared;
    this.#own = new Map(like.#own);
    this.#size = like.#size;
  }

  get size(): number {
    return this.#size;
  }

  /** Entries outside the shared layer. */
  get ownSize(): number {
    return this.#own.size;
  }

  get(key: K): V | undefined {
    const own = this.#own.get(key);
    if (own === undefined) return this.#shared.get(key);
    return own === GONE ? undefined : own;
  }

  has(key: K): boolean {
    return this.get(key) !== undefined;
  }

  set(key: K, value: V): this {
    if (!this.has(key)) this.#size++;
    if (this.#shared.get(key) === value) this.#own.delete(key);
    else this.#own.set(key, value);
    this.#leaveLayer();
    return this;
  }

  delete(key: K): boolean {
    if (!this.has(key)) return false;
    this.#size--;
    if (this.#shared.has(key)) this.#own.set(key, GONE);
    else this.#own.delete(key);
    this.#leaveLayer();
    return true;
  }

  *entries(): MapIterator<[K, V]> {
    for (const entry of this.#shared) if (!this.#own.has(entry[0])) yield entry;
    for (const [key, value] of this.#own) if (value !== GONE) yield [key, value];
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
  }

  keys(): MapIterator<K> {
    return this.entries().map(([key]) => key) as MapIterator<K>;
  }

  values(): MapIterator<V> {
    return this.entries().map(([, value]) => value) as MapIterator<V>;
  }

  forEach(callback: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const [key, value] of this) callback(value, key, this);
  }

  /** Moves all entries into the shared layer, unless few entries differ. */
  #share(): void {
    if (this.#own.size <= this.#shared.size * MOST_COPIED) return;
    this.#shared = new Map(this);
    this.#own = new Map();
  }

  /** Leaves a layer with many outdated entries: the layer would only keep old values alive. */
  #leaveLayer(): void {
    if (this.#shared.size === 0 || this.#own.size <= this.#shared.size * MOST_OWN) return;
    this.#own = new Map(this);
    this.#shared = EMPTY;
  }
}
