/**
 * Lines about refused callers, as many as callers cause: one line in an interval, with the number of suppressed lines.
 *
 * @module
 */
import type { Clock } from "../time/clock.ts";
import type { Logger } from "./log.ts";
import { PacedLines } from "./paced_lines.ts";

/** Longest reason in a line, in characters. Callers choose parts of the reason. */
const MAX_REASON = 2000;

export class RefusalLog {
  readonly #message: string;
  readonly #log: Pick<Logger, "warn">;
  readonly #lines: PacedLines;

  /** @param message The message of each line, e.g. `refused a certificate`. */
  constructor(message: string, log: Pick<Logger, "warn">, clock: Pick<Clock, "monotonic">) {
    this.#message = message;
    this.#log = log;
    this.#lines = new PacedLines(clock);
  }

  /** Records a refused caller by address: writes a warning, or counts the caller for the next line. */
  add(address: string, reason: string): void {
    const unsaid = this.#lines.next();
    if (unsaid === undefined) return;
    this.#log.warn(this.#message, { address, reason: reason.slice(0, MAX_REASON), ...unsaid });
  }
}
