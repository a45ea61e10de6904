/**
 * Names of one type that a client wants and the source decides about later, each with the time until which it is waited
 * for.
 *
 * @module
 */

/** Memory of a name beside its characters: an entry of a map, and its time. */
const BYTES_A_NAME = 64;

/** Names that are pending. All operations cost the names that they are given, or that they return. */
export class PendingNames {
  /** By name, those that are waited for longest first. */
  readonly #until = new Map<string, number>();
  #length = 0;

  /** Memory that the names take, about. */
  get bytes(): number {
    return this.#length + this.#until.size * BYTES_A_NAME;
  }

  /** When the wait for the first of them ends; undefined: none is pending. */
  get next(): number | undefined {
    return this.#until.values().next().value;
  }

  /** Whether the name is pending. */
  has(name: string): boolean {
    return this.#until.has(name);
  }

  /** Adds names; `until` must not decrease from call to call. A name that is here already keeps its time. */
  add(names: Iterable<string>, until: number): void {
    for (const name of names) {
      if (this.#until.has(name)) continue;
      this.#until.set(name, until);
      this.#length += name.length;
    }
  }

  /**
   * Removes names and returns those that were here.
   *
   * @param names undefined: all
   * @param condition which of them are removed; default all
   */
  take(names?: Iterable<string>, condition: (name: string) => boolean = () => true): string[] {
    if (this.#until.size === 0) return [];
    const taken: string[] = [];
    for (const name of names ?? [...this.#until.keys()]) {
      if (condition(name) && this.#remove(name)) taken.push(name);
    }
    return taken;
  }

  /** Removes and returns those whose time has come. */
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
