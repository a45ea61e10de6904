/**
 * Files that look half-written. After a moment the files are taken with their present content.
 *
 * @module
 */

/** How long a file may look half-written before its present content is taken, ms. */
const SETTLE_MS = 50;

/** The files held back. */
export class HeldBack {
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #onSettled: (path: string) => void;

  /** @param onSettled Called when a file has been held back long enough. */
  constructor(onSettled: (path: string) => void) {
    this.#onSettled = onSettled;
  }

  get isEmpty(): boolean {
    return this.#timers.size === 0;
  }

  /** Holds a file back, from now on. */
  hold(path: string): void {
    const end = () => {
      this.#timers.delete(path);
      this.#onSettled(path);
    };
    this.#timers.set(path, setTimeout(end, SETTLE_MS));
  }

  /** A file has been read again. */
  release(path: string): void {
    clearTimeout(this.#timers.get(path));
    this.#timers.delete(path);
  }

  /** Nothing is called any more. */
  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }
}
