/**
 * Long work in steps, so that the event loop turns between them: signals, streams and timers are not kept waiting.
 *
 * @module
 */

/** How long work goes on before the event loop turns, ms. */
export const SLICE_MS = 20;

/** How work is paced. */
export interface PaceOptions {
  /** Ends the work early: the promise rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Milliseconds on a steady clock; for tests. */
  readonly now?: () => number;
  /** Resolves after a turn of the event loop; for tests. */
  readonly turn?: () => Promise<void>;
}

/**
 * Runs a generator to its end; each `yield` is a place where the event loop may turn. It turns when the work has gone on
 * for 20 ms, so a step should take no more than that. With a signal that is aborted already nothing is done.
 *
 * @returns The result of the generator.
 * @throws what the generator throws, or the reason of the signal.
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
 * As {@linkcode paced}, with the first slice at once: short work is done when this returns.
 *
 * @returns the promise of the rest; undefined: there is none.
 * @throws what the generator throws in the first slice.
 */
export function begun(work: Generator<void, void>, options: PaceOptions = {}): Promise<void> | undefined {
  const { signal, now = () => performance.now(), turn = oneTurn } = options;
  for (const end = now() + SLICE_MS; now() < end;) if (work.next().done) return undefined;
  return turn().then(() => {
    signal?.throwIfAborted();
    return paced(work, options);
  });
}

/** Runs a generator to its end at once, for work that is small, or for callers that cannot wait. */
export function unpaced<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/**
 * Resolves after a turn of the event loop, in which sockets are looked at, too. A timer makes the loop wait for the system;
 * with `setImmediate` it looks at sockets once in some sixty turns, and a request waits for a second.
 */
export function oneTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
