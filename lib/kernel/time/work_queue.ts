/**
 * A queue for work: a few jobs run at once, a bounded number waits, and further jobs are refused. So callers take
 * neither all processors nor all memory.
 *
 * @module
 */

/** The queue has no free place. */
export class QueueFull extends Error {
  override readonly name = "QueueFull";
}

/** Runs a few jobs at a time, in the order of arrival. */
export class WorkQueue {
  readonly #atOnce: number;
  readonly #mayWait: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /**
   * @param atOnce Jobs at a time. Less than 1 counts as 1.
   * @param mayWait Waiting places. Default 1000: more than a second of signatures on one processor.
   */
  constructor(atOnce: number, mayWait = 1000) {
    this.#atOnce = Math.max(1, atOnce);
    this.#mayWait = mayWait;
  }

  /**
   * Runs a job in its turn.
   *
   * @throws {QueueFull} at once, when no place is free.
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#atOnce) {
      if (this.#waiting.length >= this.#mayWait) throw new QueueFull(`no place is free: ${this.#mayWait} wait already`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running++;
    try {
      return await work();
    } finally {
      // The place goes to the job with the longest wait.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
