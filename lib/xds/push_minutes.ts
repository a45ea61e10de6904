/**
 * The number of pushes of each minute of the last hour, for a picture. The ledger itself keeps only the last pushes.
 *
 * @module
 */

/** Minutes that are remembered. */
export const PUSH_MINUTES = 60;

const MINUTE_MS = 60_000;

/** Counts pushes by minute. The memory is bounded, however many pushes there are. */
export class PushMinutes {
  /** Counts by the number of the minute since the epoch. */
  readonly #counts = new Map<number, number>();

  /** A push has begun. @param at Milliseconds since the epoch. */
  add(at: number): void {
    const minute = Math.floor(at / MINUTE_MS);
    this.#counts.set(minute, (this.#counts.get(minute) ?? 0) + 1);
    if (this.#counts.size > 2 * PUSH_MINUTES) this.#forget(minute);
  }

  /** The counts of the last {@linkcode PUSH_MINUTES} minutes, the present minute last. */
  lastHour(now: number): number[] {
    const last = Math.floor(now / MINUTE_MS);
    return Array.from({ length: PUSH_MINUTES }, (_, at) => this.#counts.get(last - PUSH_MINUTES + 1 + at) ?? 0);
  }

  /** A clock may have been ahead, so minutes after the present minute are forgotten as well. */
  #forget(present: number): void {
    for (const minute of this.#counts.keys()) {
      if (minute <= present - PUSH_MINUTES || minute > present) this.#counts.delete(minute);
    }
  }
}
