/**
 * Lines about refused callers, whose number is the callers' choice: one in a while, with how many there were unsaid.
 *
 * @module
 */
import type { Clock } from "../time/clock.ts";
import type { Logger } from "./log.ts";

/** Milliseconds between two lines. */
export const REFUSAL_PAUSE = 1000;

/** See the module. */
export class RefusalLog {
  readonly #message: string;
  readonly #log: Pick<Logger, "warn">;
  readonly #clock: Pick<Clock, "monotonic">;
  #quietUntil = -Infinity;
  #unsaid = 0;

  /** @param message of each line, e.g. `refused a certificate` */
  constructor(message: string, log: Pick<Logger, "warn">, clock: Pick<Clock, "monotonic">) {
    this.#message = message;
    this.#log = log;
    this.#clock = clock;
  }

  /** A caller at an address was refused; writes a warning, or counts it for the next one. */
  add(address: string, reason: string): void {
    const now = this.#clock.monotonic();
    if (now < this.#quietUntil) {
      this.#unsaid++;
      return;
    }
    this.#log.warn(this.#message, { address, reason, ...(this.#unsaid > 0 ? { earlier: this.#unsaid } : {}) });
    this.#quietUntil = now + REFUSAL_PAUSE;
    this.#unsaid = 0;
  }
}
