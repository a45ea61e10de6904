/**
 * Judges the regular expressions of the programs again and writes the record of linear expressions. `--new` judges only
 * expressions missing in the record.
 *
 * Permissions: read of the repository, write of its record.
 *
 * @module
 */
import { findExpressions } from "./find.ts";
import { judgeExpression } from "./judge.ts";
import { FOLDERS, RECORD, recordedExpressions, recordOf } from "./record.ts";

/** The checker decides every present expression in a fraction of this time, even on a busy machine. */
const PATIENCE_MS = 120_000;

const root = new URL("../..", import.meta.url).pathname;
const known = Deno.args.includes("--new") ? recordedExpressions(root) : new Set<string>();
const linear: string[] = [];
for (const [literal, places] of findExpressions(root, FOLDERS).literals) {
  const verdict = known.has(literal) ? { kind: "linear" } as const : judgeExpression(literal, PATIENCE_MS);
  if (verdict.kind === "linear") linear.push(literal);
  else console.error(`${places.join(", ")} ${literal}`, verdict);
}
Deno.writeTextFileSync(`${root}/${RECORD}`, recordOf(linear));
console.log(`${linear.length} expressions are linear: ${RECORD}`);
