/**
 * Items in groups. The largest group is found in constant time.
 *
 * @module
 */

/** Items, each in one group. Items of a group are in the order of arrival. */
export class FairShares<T> {
  readonly #groups = new Map<string, Set<T>>();
  /** Groups by size. */
  readonly #bySize = new Map<number, Set<string>>();
  #largest = 0;

  /** Adds an item, the newest of the group. */
  add(group: string, item: T): void {
    let items = this.#groups.get(group);
    if (items === undefined) this.#groups.set(group, items = new Set());
    const before = items.size;
    items.add(item);
    this.#moved(group, before, items.size);
  }

  /** Takes an item out, if it is there. */
  delete(group: string, item: T): void {
    const items = this.#groups.get(group);
    if (items === undefined || !items.delete(item)) return;
    this.#moved(group, items.size + 1, items.size);
    if (items.size === 0) this.#groups.delete(group);
  }

  /** The oldest item of a group with most items; undefined: there is none. */
  get oldestOfLargest(): T | undefined {
    const [group] = this.#bySize.get(this.#largest) ?? [];
    const [item] = (group === undefined ? undefined : this.#groups.get(group)) ?? [];
    return item;
  }

  /** The size of a group has changed by one. */
  #moved(group: string, before: number, now: number): void {
    const left = this.#bySize.get(before);
    left?.delete(group);
    if (left?.size === 0) this.#bySize.delete(before);
    if (now > 0) {
      const joined = this.#bySize.get(now);
      if (joined === undefined) this.#bySize.set(now, new Set([group]));
      else joined.add(group);
    }
    this.#largest = this.#bySize.has(this.#largest) ? Math.max(this.#largest, now) : now;
  }
}
