/**
 * A map from keys to sets, nearly all of a single element.
 *
 * @module
 */

const NONE: readonly never[] = Object.freeze([]);

/** Several values under a key; a single value costs no set. Values must not be sets themselves. */
export class SmallMultimap<K, V> {
  readonly #values = new Map<K, V | Set<V>>();

  /** Adds a value. A known value changes nothing. */
  add(key: K, value: V): void {
    const known = this.#values.get(key);
    if (known === undefined) this.#values.set(key, value);
    else if (known instanceof Set) known.add(value);
    else if (known !== value) this.#values.set(key, new Set([known, value]));
  }

  /** Removes a value. An unknown value changes nothing. */
  delete(key: K, value: V): void {
    const known = this.#values.get(key);
    if (known === value) this.#values.delete(key);
    else if (known instanceof Set && known.delete(value) && known.size === 1) {
      for (const last of known) this.#values.set(key, last);
    }
  }

  /** Whether there is a value. */
  has(key: K): boolean {
    return this.#values.has(key);
  }

  /** The values of a key in order of arrival; empty: none. */
  get(key: K): readonly V[] {
    const known = this.#values.get(key);
    if (known === undefined) return NONE;
    return known instanceof Set ? [...known] : [known];
  }

  /** All keys and values. */
  *entries(): IterableIterator<[K, readonly V[]]> {
    for (const key of this.#values.keys()) yield [key, this.get(key)];
  }
}
