/**
 * Waits between attempts: longer and longer, and not all at the same moment.
 *
 * @module
 */

/** First wait, milliseconds. Each further wait is twice as long. */
const FIRST_MS = 500;

/** Longest wait, milliseconds. */
const MOST_MS = 30_000;

export class BackOff {
  readonly #random: () => number;
  #next = FIRST_MS;

  /** @param random From 0 to 1. Default: the runtime's. */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** Milliseconds to wait now: between half and all of the present length. */
  next(): number {
    const length = this.#next;
    this.#next = Math.min(2 * length, MOST_MS);
    return length / 2 + this.#random() * length / 2;
  }

  /** Something worked. */
  reset(): void {
    this.#next = FIRST_MS;
  }
}
