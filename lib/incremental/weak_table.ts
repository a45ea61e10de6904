/**
 * Objects held weakly, so that equal objects can be compared by identity. Clients may choose the objects, so an object
 * lives only while it is used.
 *
 * @module
 */

/** Objects by key. An entry vanishes with the object. */
export class WeakTable<Key, T extends WeakKey> {
  readonly #entries = new Map<Key, WeakRef<T>>();
  readonly #gone = new FinalizationRegistry<Key>((key) => {
    if (this.#entries.get(key)?.deref() === undefined) this.#entries.delete(key);
  });

  /** The object of a key. Undefined: no such object is used. */
  get(key: Key): T | undefined {
    return this.#entries.get(key)?.deref();
  }

  /** Puts an object in place of an earlier object of the key. */
  set(key: Key, value: T): void {
    this.#entries.set(key, new WeakRef(value));
    this.#gone.register(value, key);
  }

  /** The used object of a key, else the given object, which the table keeps from now on. */
  shared(key: Key, value: T): T {
    const known = this.get(key);
    if (known !== undefined) return known;
    this.set(key, value);
    return value;
  }

  /** Entries, including entries of vanished objects before their collection. */
  get size(): number {
    return this.#entries.size;
  }
}

/** Values by content: plain data, as in JSON. */
export class SharedValues<T extends object> {
  readonly #table = new WeakTable<string, T>();

  /** A used value of equal content, else the given value. */
  of(value: T): T {
    return this.#table.shared(JSON.stringify(value), value);
  }
}

/** Lists by the identity of the items, such as the policies of a workload. Many workloads have the same policies. */
export class SharedLists<T extends object> {
  readonly #table = new WeakTable<string, readonly T[]>();
  readonly #numbers = new WeakMap<T, number>();
  #next = 0;

  /** The number of known lists. Unused lists may still count. */
  get size(): number {
    return this.#table.size;
  }

  /** The shared list with these items in this order. */
  of(items: readonly T[]): readonly T[] {
    if (items.length === 0) return NONE;
    return this.#table.shared(items.map((item) => this.#numberOf(item)).join(), items);
  }

  #numberOf(item: T): number {
    return this.#numbers.getOrInsertComputed(item, () => this.#next++);
  }
}

const NONE: readonly never[] = [];
