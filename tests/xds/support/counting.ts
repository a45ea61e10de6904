/**
 * Counts how often methods are called, because costs are compared by operations and never by time.
 *
 * @module
 */

/** A running count. */
export interface Count {
  /** Ends counting; returns the number of calls. */
  stop(): number;
}

/** Counts calls of some methods of an object, e.g. of `String.prototype`. */
export function calls<T extends object>(object: T, methods: readonly (keyof T)[]): Count {
  let count = 0;
  const originals = methods.map((method) => [method, object[method] as (...args: unknown[]) => unknown] as const);
  for (const [method, original] of originals) {
    object[method] = function (this: unknown, ...args: unknown[]) {
      count++;
      return original.apply(this, args);
    } as T[typeof method];
  }
  return {
    stop() {
      for (const [method, original] of originals) object[method] = original as T[typeof method];
      return count;
    },
  };
}
