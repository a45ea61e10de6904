/**
 * Objects by key, held weakly: equal objects are merged while in use, and nothing is kept afterwards.
 *
 * @module
 */

/** A table of objects. An entry vanishes with its object. */
export class WeakTable<Key, T extends WeakKey> {
  readonly #entries = new Map<Key, WeakRef<T>>();
  readonly #gone = new FinalizationRegistry<Key>((key) => {
    if (this.#entries.get(key)?.deref() === undefined) this.#entries.delete(key);
  });

  /** The object of a key, if still in use. */
  get(key: Key): T | undefined {
    return this.#entries.get(key)?.deref();
  }

  /** Adds an object. Of two with the same key, the later is found. */
  set(key: Key, value: T): void {
    this.#entries.set(key, new WeakRef(value));
    this.#gone.register(value, key);
  }

  /** Number of entries, including entries whose object is unused but not yet collected. */
  get size(): number {
    return this.#entries.size;
  }
}
