/**
 * Readiness: named tasks that must be done before a program says that it is ready.
 *
 * @module
 */

/** Tasks to be done. */
export interface Readiness {
  /** Adds a task and returns how to report it done (more than once is harmless). Names are for people. */
  task(name: string): () => void;
  /** True when {@link Readiness.complete} was called and every task is done. */
  ready(): boolean;
  /** Names of tasks not yet done, in order of adding. */
  pending(): string[];
  /** No more tasks come: from now on ready when all are done. */
  complete(): void;
  /** Resolves when ready. */
  readonly whenReady: Promise<void>;
}

/** Readiness without tasks; not ready until {@link Readiness.complete}. */
export function createReadiness(): Readiness {
  const open = new Map<symbol, string>();
  const { promise, resolve } = Promise.withResolvers<void>();
  let completed = false;
  const ready = () => completed && open.size === 0;
  const check = () => {
    if (ready()) resolve();
  };
  return {
    task(name) {
      const key = Symbol(name);
      open.set(key, name);
      return () => {
        open.delete(key);
        check();
      };
    },
    ready,
    pending: () => [...open.values()],
    complete() {
      completed = true;
      check();
    },
    whenReady: promise,
  };
}
