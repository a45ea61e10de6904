/**
 * File operations with a time limit each and a limit on their total number.
 *
 * A file system without an answer (a network mount, a program behind a mount) holds a thread of the runtime for each
 * operation. The runtime has 32 of these threads for all work. A program with all threads held signs nothing and looks
 * up no name. So at most {@link SLOTS} operations run at once. A late operation keeps its slot until the system ends
 * the operation, and the caller goes on without the result.
 *
 * @module
 */

/** Operations at once in the whole process: half of the runtime's threads. */
const SLOTS = 16;

/** Longest wait for an operation, ms. A busy disk answers in a tenth of the time. */
const FILE_PATIENCE = 10_000;

/** The limits of an operation. */
export interface FileBound {
  /** Longest wait, ms. Default {@linkcode FILE_PATIENCE}. */
  readonly ms?: number;
  /** Ends the wait with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Slots for operations. The threads belong to the process, so the process has a single object of this class. */
class Slots {
  #free = SLOTS;
  readonly #waiting = new Set<() => void>();

  /** Takes a slot if one is free. */
  take(): boolean {
    if (this.#free === 0) return false;
    this.#free--;
    return true;
  }

  /** Calls back when the caller has a slot. Returns a function to give up waiting. */
  wait(taken: () => void): () => void {
    this.#waiting.add(taken);
    return () => void this.#waiting.delete(taken);
  }

  /** Gives a slot back. */
  give(): void {
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      return next();
    }
    this.#free++;
  }
}

const slots = new Slots();

/**
 * The result of an operation on a file or folder.
 *
 * @param path Named in the error.
 * @throws {Deno.errors.TimedOut} when the operation takes longer; the signal's reason; and the operation's own error.
 */
export function inTime<T>(path: string, operation: () => Promise<T>, bound: FileBound = {}): Promise<T> {
  const { ms = FILE_PATIENCE, signal } = bound;
  return new Promise<T>((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    let withdraw = () => {};
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      settle();
    };
    const giveUp = (why: unknown) => {
      withdraw();
      end(() => reject(why));
    };
    const onAbort = () => giveUp(signal?.reason);
    const timer = setTimeout(() => giveUp(new Deno.errors.TimedOut(lateText(path, ms))), ms);
    signal?.addEventListener("abort", onAbort);
    const run = () => {
      operation().finally(() => slots.give()).then((value) => end(() => resolve(value)), (e) => end(() => reject(e)));
    };
    if (slots.take()) run();
    else withdraw = slots.wait(run);
  });
}

function lateText(path: string, ms: number): string {
  return `${path}: no answer of the file system in ${ms / 1000} s`;
}
