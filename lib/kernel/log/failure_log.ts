/**
 * Lines about something that fails at every attempt, whose number is the callers' choice: one when that begins, and one
 * when it ends.
 *
 * @module
 */
import type { Logger } from "./log.ts";

/** Messages of the two lines. */
export interface FailureMessages {
  readonly begins: string;
  readonly ends: string;
}

export class FailureLog {
  readonly #messages: FailureMessages;
  readonly #log: Pick<Logger, "warn" | "info">;
  /** Failures since the last success. */
  #failures = 0;

  constructor(messages: FailureMessages, log: Pick<Logger, "warn" | "info">) {
    this.#messages = messages;
    this.#log = log;
  }

  /** An attempt failed; writes a warning when the one before did not. */
  failed(reason: string): void {
    if (this.#failures++ === 0) this.#log.warn(this.#messages.begins, { reason });
  }

  /** An attempt succeeded; says how many failed before it. */
  succeeded(): void {
    if (this.#failures > 0) this.#log.info(this.#messages.ends, { failures: this.#failures });
    this.#failures = 0;
  }
}
