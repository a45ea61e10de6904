/**
 * Work that is under way and work that waits: a few run at once, a bounded number waits, the rest is refused, so that
 * those who ask take neither all processors nor all memory.
 *
 * @module
 */

/** There was no place to wait. */
export class QueueFull extends Error {
  override readonly name = "QueueFull";
}

/** Runs work a few at a time, in the order in which it came. */
export class WorkQueue {
  readonly #atOnce: number;
  readonly #mayWait: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /**
   * @param atOnce Works at a time; less than 1 counts as 1.
   * @param mayWait Places to wait. Default 1000: more than a second of signatures on one processor.
   */
  constructor(atOnce: number, mayWait = 1000) {
    this.#atOnce = Math.max(1, atOnce);
    this.#mayWait = mayWait;
  }

  /**
   * Runs work when its turn has come.
   *
   * @throws {QueueFull} at once, when no place is free
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#atOnce) {
      if (this.#waiting.length >= this.#mayWait) throw new QueueFull(`no place is free: ${this.#mayWait} wait already`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running++;
    try {
      return await work();
    } finally {
      // The place goes to the one that waits the longest.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
