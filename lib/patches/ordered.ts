/**
 * Patches of lists whose order counts: filters and routes.
 *
 * @module
 */
import type { CompiledPatch } from "./types.ts";

/** The element of a list that a patch looks for. */
export interface Sought<T> {
  /** Absent: the patch names none. */
  readonly matches?: (item: T) => boolean;
}

/**
 * A list with one patch that adds, inserts, replaces or removes. INSERT_* and REPLACE act on the first match, REMOVE on all.
 * Without a match to look for INSERT_BEFORE puts first and INSERT_AFTER last, REPLACE and REMOVE do nothing.
 *
 * @returns The same list where nothing changes.
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
