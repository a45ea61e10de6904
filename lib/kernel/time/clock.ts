/**
 * Time as a parameter: code that waits or measures takes a {@link Clock}, so that tests can control time.
 *
 * @module
 */

/** Cancels a timer. Harmless after the timer has fired or was cancelled. */
export type Cancel = () => void;

/** Source of time and timers. */
export interface Clock {
  /** Wall time for people, milliseconds since 1970. */
  now(): number;
  /** Milliseconds since an arbitrary start, never going back, for measuring. */
  monotonic(): number;
  /** Calls `fire` once after `ms` milliseconds. Any length: longer than a platform timer (24.8 days) is chained. */
  after(ms: number, fire: () => void): Cancel;
  /** Resolves after `ms` milliseconds. An earlier abort rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Longest delay of `setTimeout`. A longer delay would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** `sleep` for any clock, made from the clock's `after`. */
export function sleepWith(clock: Pick<Clock, "after">, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    });
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, fire) {
    let left = ms;
    let timer: ReturnType<typeof setTimeout>;
    const arm = () => {
      const step = Math.min(left, LONGEST_TIMER_MS);
      left -= step;
      timer = setTimeout(() => (left > 0 ? arm() : fire()), step);
    };
    arm();
    return () => clearTimeout(timer);
  },
  sleep: (ms, signal) => sleepWith(systemClock, ms, signal),
};
