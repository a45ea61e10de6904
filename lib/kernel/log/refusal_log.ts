/**
 * Lines about refused callers, whose number is the callers' choice: one in a while, with how many there were unsaid.
 *
 * @module
 */
import type { Clock } from "../time/clock.ts";
import type { Logger } from "./log.ts";
import { PacedLines } from "./paced_lines.ts";

/** Longest reason that is written, in characters: parts of it are the callers' words. */
const MAX_REASON = 2000;

export class RefusalLog {
  readonly #message: string;
  readonly #log: Pick<Logger, "warn">;
  readonly #lines: PacedLines;

  /** @param message of each line, e.g. `refused a certificate` */
  constructor(message: string, log: Pick<Logger, "warn">, clock: Pick<Clock, "monotonic">) {
    this.#message = message;
    this.#log = log;
    this.#lines = new PacedLines(clock);
  }

  /** A caller at an address was refused; writes a warning, or counts it for the next one. */
  add(address: string, reason: string): void {
    const unsaid = this.#lines.next();
    if (unsaid === undefined) return;
    this.#log.warn(this.#message, { address, reason: reason.slice(0, MAX_REASON), ...unsaid });
  }
}
