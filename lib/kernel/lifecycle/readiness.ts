/**
 * Readiness: named tasks that must be done before a program reports ready.
 *
 * @module
 */

/** Tasks to be done. */
export interface Readiness {
  /**
   * Adds a task and returns a function that reports the task done. Further calls of the function are harmless. Names
   * are for people.
   */
  task(name: string): () => void;
  /** True when {@link Readiness.complete} was called and every task is done. */
  ready(): boolean;
  /** Names of tasks not yet done, in order of adding. */
  pending(): string[];
  /** Ends the adding of tasks: the program is ready when all tasks are done. */
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
