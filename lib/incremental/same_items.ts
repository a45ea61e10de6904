/**
 * Comparison of lists by their items.
 *
 * @module
 */

/** Whether two lists hold the same things in the same order, each by identity. */
export function sameItems<T>(a: readonly T[], b: readonly T[]): boolean {
  return a === b || a.length === b.length && a.every((item, i) => item === b[i]);
}
