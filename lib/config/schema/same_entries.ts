/**
 * Equality of maps of strings.
 *
 * @module
 */
import type { StringMap } from "./json.ts";

/** Whether two maps have the same entries, in any order. */
export function sameEntries(a: StringMap, b: StringMap): boolean {
  let count = 0;
  for (const key in a) {
    if (a[key] !== b[key]) return false;
    count++;
  }
  for (const _ in b) count--;
  return count === 0;
}
