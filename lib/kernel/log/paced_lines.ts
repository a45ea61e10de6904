/**
 * Limits log lines whose number a stranger controls: a few lines in each interval, and the next line gives the number
 * of suppressed lines.
 *
 * @module
 */
import { type Clock, systemClock } from "../time/clock.ts";

/** Length of an interval, ms. */
export const REFUSAL_PAUSE = 1000;

/** Count of the lines that were suppressed before a line. Empty when there were none. */
export interface UnsaidLines {
  readonly earlier?: number;
}

export class PacedLines {
  readonly #most: number;
  readonly #clock: Pick<Clock, "monotonic">;
  #since = -Infinity;
  #said = 0;
  #unsaid = 0;

  /** @param most Lines in an interval. Default: 1. */
  constructor(clock: Pick<Clock, "monotonic"> = systemClock, most = 1) {
    this.#clock = clock;
    this.#most = most;
  }

  /** Fields for a line to write now. Undefined when the line is suppressed and counted. */
  next(): UnsaidLines | undefined {
    const now = this.#clock.monotonic();
    if (now >= this.#since + REFUSAL_PAUSE) {
      this.#since = now;
      this.#said = 0;
    }
    if (this.#said >= this.#most) {
      this.#unsaid++;
      return undefined;
    }
    this.#said++;
    const unsaid = this.#unsaid;
    this.#unsaid = 0;
    return unsaid > 0 ? { earlier: unsaid } : {};
  }
}
