/**
 * Work in lanes: one work after the other for each pod, and a bounded number of works at once. Pure.
 *
 * @module
 */

/** Lanes by key. */
export class Lanes {
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /** @param width Works at once. */
  constructor(width: number) {
    this.#free = width;
  }

  /**
   * Does a work after the earlier works of its key.
   * @param urgent Before all works that wait for a place, because a container runtime waits. Default: after them.
   */
  run<T>(key: string, work: () => Promise<T>, urgent = false): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const begin = () => this.#whenFree(work, urgent);
    const done = before.then(begin, begin);
    this.#last.set(key, done);
    const forget = () => {
      if (this.#last.get(key) === done) this.#last.delete(key);
    };
    done.then(forget, forget);
    return done;
  }

  /** Resolves when no work is left. */
  async settled(): Promise<void> {
    while (this.#last.size > 0) await Promise.allSettled(this.#last.values());
  }

  async #whenFree<T>(work: () => Promise<T>, urgent: boolean): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => urgent ? this.#waiting.unshift(resolve) : this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
