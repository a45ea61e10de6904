/**
 * When lines of one sort are written whose number is a stranger's choice: a few in a while, and the next one says how many
 * there were unsaid.
 *
 * @module
 */
import { type Clock, systemClock } from "../time/clock.ts";

/** Milliseconds of a while. */
export const REFUSAL_PAUSE = 1000;

/** The lines before this one that were not written; empty: there were none. */
export interface UnsaidLines {
  readonly earlier?: number;
}

export class PacedLines {
  readonly #most: number;
  readonly #clock: Pick<Clock, "monotonic">;
  #since = -Infinity;
  #said = 0;
  #unsaid = 0;

  /** @param most lines in a while. Default: 1. */
  constructor(clock: Pick<Clock, "monotonic"> = systemClock, most = 1) {
    this.#clock = clock;
    this.#most = most;
  }

  /** Fields for the line that is due; undefined: it is counted instead. */
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
