/**
 * The record of regular expressions that were judged: one line each, sorted. A checker takes minutes for all of them.
 *
 * Permissions: read of the repository.
 *
 * @module
 */

/** The record, from the root of the repository. */
export const RECORD = "tests/testdata/expressions.txt";

/** Folders of the programs: what meets texts from outside. */
export const FOLDERS: readonly string[] = ["lib", "cmd"];

/** Literals whose time is linear in the length of the text, by the checker. */
export function recordedExpressions(root: string): ReadonlySet<string> {
  return new Set(Deno.readTextFileSync(`${root}/${RECORD}`).split("\n").filter((line) => line !== ""));
}

/** The record of some literals as text. */
export function recordOf(literals: Iterable<string>): string {
  return [...literals].sort().map((one) => `${one}\n`).join("");
}
