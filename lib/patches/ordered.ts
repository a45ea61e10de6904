/**
 * Patches of ordered lists: filters and routes.
 *
 * @module
 */
import type { CompiledPatch } from "./types.ts";

/** The list element in a patch's match. */
export interface Sought<T> {
  /** Absent: the patch has no match for elements. */
  readonly matches?: (item: T) => boolean;
}

/**
 * A list after a patch that adds, inserts, replaces or removes. INSERT_* and REPLACE act on the first match, REMOVE on
 * all. Without a match, INSERT_BEFORE inserts first, INSERT_AFTER last, and REPLACE and REMOVE have no effect.
 *
 * @returns The same list if nothing changes.
 */
export function patchedList<T>(list: readonly T[], patch: CompiledPatch, { matches }: Sought<T>): readonly T[] {
  const value = patch.value as T;
  const at = matches === undefined ? -1 : list.findIndex(matches);
  switch (patch.operation) {
    case "ADD":
      return [...list, value];
    case "INSERT_FIRST":
      return [value, ...list];
    case "INSERT_BEFORE":
      return matches === undefined ? [value, ...list] : at < 0 ? list : list.toSpliced(at, 0, value);
    case "INSERT_AFTER":
      return matches === undefined ? [...list, value] : at < 0 ? list : list.toSpliced(at + 1, 0, value);
    case "REPLACE":
      return at < 0 ? list : list.with(at, value);
    case "REMOVE":
      return at < 0 ? list : list.filter((item) => !matches!(item));
    case "MERGE":
      return list;
  }
}
