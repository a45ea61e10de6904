/**
 * Long work in steps. Between steps the event loop turns, so that signals, streams and timers do not wait long.
 *
 * @module
 */

/** Longest stretch of work without a turn of the event loop, ms. */
export const SLICE_MS = 20;

/** How work is paced. */
export interface PaceOptions {
  /** Ends the work early: the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Milliseconds on a steady clock; for tests. */
  readonly now?: () => number;
  /** Resolves after a turn of the event loop; for tests. */
  readonly turn?: () => Promise<void>;
}

/**
 * Runs a generator to its end. The event loop may turn at each `yield`, and turns after 20 ms of work, so a step should
 * not take longer. Does nothing if the signal is aborted at the start.
 *
 * @returns The result of the generator.
 * @throws The generator's error, or the reason of the signal.
 */
export async function paced<T>(work: Generator<void, T>, options: PaceOptions = {}): Promise<T> {
  const { signal, now = () => performance.now(), turn = oneTurn } = options;
  signal?.throwIfAborted();
  let end = now() + SLICE_MS;
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    if (now() < end) continue;
    await turn();
    signal?.throwIfAborted();
    end = now() + SLICE_MS;
  }
}

/**
 * Like {@linkcode paced}, but the first slice runs at once: short work is done when the call returns.
 *
 * @returns The promise of the rest, or undefined when no work is left.
 * @throws The generator's error in the first slice.
 */
export function begun(work: Generator<void, void>, options: PaceOptions = {}): Promise<void> | undefined {
  const { signal, now = () => performance.now(), turn = oneTurn } = options;
  for (const end = now() + SLICE_MS; now() < end;) if (work.next().done) return undefined;
  return turn().then(() => {
    signal?.throwIfAborted();
    return paced(work, options);
  });
}

/** Runs a generator to its end at once, for small work or for callers that cannot wait. */
export function unpaced<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/**
 * Resolves after a turn of the event loop that also checks sockets. A timer makes the loop wait for the system. With
 * `setImmediate` the loop checks sockets only about every sixty turns, and a request waits for a second.
 */
export function oneTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
