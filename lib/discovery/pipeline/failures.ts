/**
 * Results that pushes could not build, and the time of another try. An exception may depend on the state of the moment,
 * and no user should have to edit a file for a second try.
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import type { Timers } from "./debounce.ts";
import type { PushFailure } from "../../xds/protocol/source.ts";

/** Time to the first new try, ms. The time doubles with each failed try. */
const FIRST_RETRY = 1000;

/** Longest time between two tries, ms. */
const LAST_RETRY = 60_000;

/** Collects failures, and asks for another try. */
export class PushFailures {
  readonly #timers: Timers;
  readonly #tryAgain: () => void;
  /** Each once: a per-proxy resource may fail for many proxies alike. */
  #found = new Map<string, PushFailure>();
  #delay = FIRST_RETRY;
  #cancel: (() => void) | undefined;
  #stopped = false;

  /** @param tryAgain Starts a push that makes every failed result again. */
  constructor(timers: Timers, tryAgain: () => void) {
    this.#timers = timers;
    this.#tryAgain = tryAgain;
  }

  /** A result could not be made, in a push or for a new proxy. */
  add(what: string, error: unknown): void {
    const reason = errorMessage(error);
    this.#found.set(`${what} ${reason}`, { what, reason });
    if (this.#cancel !== undefined || this.#stopped) return;
    this.#cancel = this.#timers.after(this.#delay, () => {
      this.#cancel = undefined;
      this.#delay = Math.min(2 * this.#delay, LAST_RETRY);
      this.#tryAgain();
    });
  }

  /** The failures since the last call: the end of a push. */
  take(): readonly PushFailure[] {
    const found = [...this.#found.values()];
    this.#found = new Map();
    if (found.length === 0) {
      this.#cancel?.();
      this.#cancel = undefined;
      this.#delay = FIRST_RETRY;
    }
    return found;
  }

  /** No more tries. */
  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
