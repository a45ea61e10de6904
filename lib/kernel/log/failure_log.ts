/**
 * Lines about a failure that repeats at every attempt, as often as callers try: one line when the failures begin, and
 * another when they end.
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

  /** Records a failed attempt. Writes a warning unless the previous attempt failed too. */
  failed(reason: string): void {
    if (this.#failures++ === 0) this.#log.warn(this.#messages.begins, { reason });
  }

  /** Records a successful attempt. Logs the number of failures before it. */
  succeeded(): void {
    if (this.#failures > 0) this.#log.info(this.#messages.ends, { failures: this.#failures });
    this.#failures = 0;
  }
}
