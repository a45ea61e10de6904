/**
 * Equal lists of objects as one list, so that it can be compared by identity: of the policies for a workload, which many
 * workloads have in common.
 *
 * @module
 */

/**
 * Lists by the identity of what they hold. They are held weakly, because labels that clients choose decide which there
 * are: a list lives as long as somebody uses it.
 */
export class SharedLists<T extends object> {
  readonly #numbers = new WeakMap<T, number>();
  readonly #lists = new Map<string, WeakRef<readonly T[]>>();
  readonly #gone = new FinalizationRegistry<string>((name) => {
    if (this.#lists.get(name)?.deref() === undefined) this.#lists.delete(name);
  });
  #next = 0;

  /** How many lists are known; those that nobody uses any more may still count. */
  get size(): number {
    return this.#lists.size;
  }

  /** A list that holds the same objects in the same order, always the same one. */
  of(items: readonly T[]): readonly T[] {
    if (items.length === 0) return NONE;
    const name = items.map((item) => this.#numberOf(item)).join();
    const known = this.#lists.get(name)?.deref();
    if (known) return known;
    this.#lists.set(name, new WeakRef(items));
    this.#gone.register(items, name);
    return items;
  }

  #numberOf(item: T): number {
    let number = this.#numbers.get(item);
    if (number === undefined) this.#numbers.set(item, number = this.#next++);
    return number;
  }
}

const NONE: readonly never[] = [];
