/**
 * Admission of new streams: a token bucket whose queue waits, so that a storm of reconnecting proxies is spread out
 * rather than refused and provoked to come again.
 *
 * @module
 */

/** Longest wait for admission, in milliseconds; who would wait longer is refused at once. */
export const MAX_ADMISSION_WAIT = 10_000;

/**
 * Streams admitted each second when no limit is set. A stream costs some milliseconds (sending it all its resources),
 * so that is about the number that the server can serve; more at once would only wait for one another.
 */
export function defaultAdmissionRate(cores: number): number {
  return 200 * Math.max(1, cores);
}

/** Admits callers at a rate, in the order of their coming. */
export class Admission {
  #nextFree = 0;

  readonly #rate: number;
  readonly #now: () => number;

  /**
   * @param rate admissions a second
   * @param now clock in milliseconds
   */
  constructor(rate: number, now: () => number = () => performance.now()) {
    this.#rate = rate;
    this.#now = now;
  }

  /**
   * Milliseconds to wait before going on, 0 to go on at once; undefined when the queue is too long. Up to one second's
   * worth of callers pass without waiting after a quiet second.
   */
  reserve(): number | undefined {
    const now = this.#now();
    const at = Math.max(this.#nextFree, now - 1000);
    const wait = at - now;
    if (wait > MAX_ADMISSION_WAIT) return undefined;
    this.#nextFree = at + 1000 / this.#rate;
    return Math.max(0, wait);
  }
}
