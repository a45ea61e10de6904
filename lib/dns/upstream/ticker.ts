/**
 * A single timer for many deadlines: a timer for each question would cost more than the rest of the question.
 *
 * @module
 */
import type { Cancel, Clock } from "../../kernel/time/clock.ts";

/** How late a deadline may be noticed. */
const TICK_MS = 50;

/** Something with a deadline. */
export interface Due {
  /** The time to call {@link Due.fire}, on the monotonic clock. `fire` may set a new time. */
  at: number;
  fire(now: number): void;
}

/** Fires deadlines; runs only while there are any. */
export class Ticker {
  readonly #waiting = new Set<Due>();
  #cancel: Cancel | undefined;

  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(due: Due): void {
    this.#waiting.add(due);
    this.#cancel ??= this.#clock.after(TICK_MS, () => this.#tick());
  }

  remove(due: Due): void {
    this.#waiting.delete(due);
    // The timer goes on to the next tick: under load it would be set up again at once.
  }

  /** Stops; nothing fires afterwards. */
  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#waiting.clear();
  }

  #tick(): void {
    const now = this.#clock.monotonic();
    for (const due of this.#waiting) if (due.at <= now) due.fire(now);
    this.#cancel = this.#waiting.size === 0 ? undefined : this.#clock.after(TICK_MS, () => this.#tick());
  }
}
