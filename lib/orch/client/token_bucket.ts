/**
 * A limit of the rate of requests: a burst at once, and then a number of requests a second.
 *
 * @module
 */
import type { Clock } from "../../kernel/time/clock.ts";

/** Requests are let through in the order of their arrival. */
export class TokenBucket {
  readonly #qps: number;
  readonly #burst: number;
  readonly #clock: Clock;
  #tokens: number;
  #at: number;

  /**
   * @param qps Requests a second; 0: no limit.
   * @param burst Requests at once; fewer than 1 counts as 1.
   */
  constructor(qps: number, burst: number, clock: Clock) {
    this.#qps = qps;
    this.#burst = Math.max(1, burst);
    this.#clock = clock;
    this.#tokens = this.#burst;
    this.#at = clock.monotonic();
  }

  /**
   * Waits for a turn.
   *
   * @returns The milliseconds waited.
   * @throws the signal's reason when it aborts first. The turn goes to the next request.
   */
  async take(signal?: AbortSignal): Promise<number> {
    signal?.throwIfAborted();
    if (this.#qps <= 0) return 0;
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) / 1000 * this.#qps) - 1;
    this.#at = now;
    if (this.#tokens >= 0) return 0;
    const wait = -this.#tokens / this.#qps * 1000;
    try {
      await this.#clock.sleep(wait, signal);
    } catch (error) {
      this.#tokens++;
      throw error;
    }
    return wait;
  }
}
