/**
 * When to try again, by pod: soon at first, then twice as late each time.
 *
 * @module
 */
import type { Cancel, Clock } from "../../kernel/time/clock.ts";

/** First wait, and the longest, milliseconds. */
const FIRST_MS = 100;
const LONGEST_MS = 30_000;

interface Attempt {
  readonly cancel: Cancel;
  readonly wait: number;
  readonly why: string;
}

/** Attempts to come. */
export class Retries {
  readonly #attempts = new Map<string, Attempt>();
  readonly #clock: Clock;
  readonly #again: (key: string) => void;
  #stopped = false;

  /** @param again Called when it is time. */
  constructor(clock: Clock, again: (key: string) => void) {
    this.#clock = clock;
    this.#again = again;
  }

  /** Plans another attempt. `isFirst`: this reason was not the last reason. */
  later(key: string, why: string): { isFirst: boolean; wait: number } {
    const before = this.#attempts.get(key);
    before?.cancel();
    const wait = before === undefined ? FIRST_MS : Math.min(2 * before.wait, LONGEST_MS);
    const cancel = this.#stopped ? () => {} : this.#clock.after(wait, () => this.#again(key));
    this.#attempts.set(key, { cancel, wait, why });
    return { isFirst: before?.why !== why, wait };
  }

  /** An attempt succeeded. */
  done(key: string): void {
    this.#attempts.get(key)?.cancel();
    this.#attempts.delete(key);
  }

  stop(): void {
    this.#stopped = true;
    for (const { cancel } of this.#attempts.values()) cancel();
  }
}
