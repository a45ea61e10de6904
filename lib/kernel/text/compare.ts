/**
 * The order of texts, for output that is the same on every machine.
 *
 * @module
 */

/** Compares by code unit, whatever the language of the machine, for `sort`. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
