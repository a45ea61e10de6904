/**
 * Instants that findings depend on, such as the end of a certificate. When an instant comes, the earlier findings are
 * looked at again.
 *
 * @module
 */

/** Instants in milliseconds since 1970. */
export class Instants {
  readonly #now: () => number;
  readonly #awaited = new Set<number>();
  #next = Infinity;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The next awaited instant; undefined: none. */
  get next(): number | undefined {
    return this.#next === Infinity ? undefined : this.#next;
  }

  /** Whether an awaited instant has come. */
  get isDue(): boolean {
    return this.#next !== Infinity && this.#now() >= this.#next;
  }

  /** Whether an instant has come. */
  hasCome(instant: number): boolean {
    if (this.#now() >= instant) return true;
    this.#awaited.add(instant);
    this.#next = Math.min(this.#next, instant);
    return false;
  }

  /** Takes the awaited instants that have come. */
  takeDue(): readonly number[] {
    if (!this.isDue) return NONE;
    const now = this.#now();
    const due = [...this.#awaited].filter((instant) => instant <= now);
    for (const instant of due) this.#awaited.delete(instant);
    this.#next = [...this.#awaited].reduce((least, one) => Math.min(least, one), Infinity);
    return due;
  }
}

const NONE: readonly number[] = [];
