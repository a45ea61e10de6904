/**
 * Names that a client wants and about which the source decides later, each with the end of the wait. All names are of
 * one type.
 *
 * @module
 */

/** Memory of a name beside its characters: an entry of a map, and a time. */
const BYTES_A_NAME = 64;

/** Pending names. The cost of each operation is proportional to the given or returned names. */
export class PendingNames {
  /** The end of the wait by name. The earliest end is first. */
  readonly #until = new Map<string, number>();
  #length = 0;

  /** Approximate memory of the names. */
  get bytes(): number {
    return this.#length + this.#until.size * BYTES_A_NAME;
  }

  /** The end of the first wait; undefined: no name is pending. */
  get next(): number | undefined {
    return this.#until.values().next().value;
  }

  /** Whether the name is pending. */
  has(name: string): boolean {
    return this.#until.has(name);
  }

  /** Adds names. `until` must not decrease from call to call. A pending name keeps its earlier time. */
  add(names: Iterable<string>, until: number): void {
    for (const name of names) {
      if (this.#until.has(name)) continue;
      this.#until.set(name, until);
      this.#length += name.length;
    }
  }

  /**
   * Removes names, and returns the removed names.
   *
   * @param names undefined: all
   * @param condition selects among the names; default all
   */
  take(names?: Iterable<string>, condition: (name: string) => boolean = () => true): string[] {
    if (this.#until.size === 0) return [];
    const taken: string[] = [];
    for (const name of names ?? [...this.#until.keys()]) {
      if (condition(name) && this.#remove(name)) taken.push(name);
    }
    return taken;
  }

  /** Removes and returns the names whose wait is over. */
  takeLate(now: number): string[] {
    const taken: string[] = [];
    for (const [name, until] of this.#until) {
      if (until > now) break;
      this.#remove(name);
      taken.push(name);
    }
    return taken;
  }

  #remove(name: string): boolean {
    if (!this.#until.delete(name)) return false;
    this.#length -= name.length;
    return true;
  }
}
