/**
 * Objects by key, held weakly: equal objects become one as long as it is in use, and nothing is kept afterwards.
 *
 * @module
 */

/** A table of objects; an entry vanishes with its object. */
export class WeakTable<Key, T extends WeakKey> {
  readonly #entries = new Map<Key, WeakRef<T>>();
  readonly #gone = new FinalizationRegistry<Key>((key) => {
    if (this.#entries.get(key)?.deref() === undefined) this.#entries.delete(key);
  });

  /** The object of that key, if it is in use still. */
  get(key: Key): T | undefined {
    return this.#entries.get(key)?.deref();
  }

  /** Puts an object; of two with the same key the later one is found. */
  set(key: Key, value: T): void {
    this.#entries.set(key, new WeakRef(value));
    this.#gone.register(value, key);
  }

  /** Entries, including those whose object is gone and not yet collected. */
  get size(): number {
    return this.#entries.size;
  }
}
