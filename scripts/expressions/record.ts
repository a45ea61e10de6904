/**
 * The record of judged regular expressions: an expression per line, sorted. Checking all expressions takes minutes.
 *
 * Permissions: read of the repository.
 *
 * @module
 */

/** The record, from the root of the repository. */
export const RECORD = "tests/testdata/expressions.txt";

/** Folders of the programs, whose expressions meet texts from outside. */
export const FOLDERS: readonly string[] = ["lib", "cmd"];

/** Literals with a proven time linear in the length of the text. */
export function recordedExpressions(root: string): ReadonlySet<string> {
  return new Set(Deno.readTextFileSync(`${root}/${RECORD}`).split("\n").filter((line) => line !== ""));
}

/** The record of some literals as text. */
export function recordOf(literals: Iterable<string>): string {
  return [...literals].sort().map((one) => `${one}\n`).join("");
}
