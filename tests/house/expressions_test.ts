import assert from "node:assert/strict";
import { expressionsOf, findExpressions } from "../../scripts/expressions/find.ts";
import { judgeExpression } from "../../scripts/expressions/judge.ts";
import { FOLDERS, recordedExpressions } from "../../scripts/expressions/record.ts";

const root = new URL("../..", import.meta.url).pathname;
const { literals, made } = findExpressions(root, FOLDERS);
const recorded = recordedExpressions(root);

/** Time of the checker for an expression; the task waits longer. */
const PATIENCE_MS = 5_000;

/** Files that compile a text into an expression, with the reason why a match cannot take long. */
const MADE: Readonly<Record<string, string>> = {
  "lib/config/validation/regex_syntax.ts": "the expression is read and never run: a user's is run by Envoy or RE2",
};

Deno.test("the time of every regular expression is linear in the length of the text, by the checker's automata", () => {
  const wrong = [...literals].filter(([literal]) => !recorded.has(literal)).map(([literal, places]) => {
    const verdict = judgeExpression(literal, PATIENCE_MS);
    const words = verdict.kind === "linear"
      ? "is linear: run `deno task expressions --new`, which records it"
      : verdict.kind === "slow"
      ? `takes time of ${verdict.growth}, for example for ${verdict.attack}: see lib/kernel/text/edges.ts`
      : `is not decided (${verdict.reason}): write it without looking around, or in two`;
    return `${places.join(", ")} ${literal} ${words}`;
  });
  assert.deepEqual(wrong, []);
});

Deno.test("every expression in the record is in the tree", () => {
  assert.deepEqual([...recorded].filter((literal) => !literals.has(literal)), [], "run `deno task expressions --new`");
});

Deno.test("the record equals the checker's verdicts: a part of the record, another part after each change, is judged again", () => {
  const all = [...recorded];
  const share = 40;
  const judged = all.filter((_, index) => index % share === all.length % share).map((literal) => ({
    literal,
    verdict: judgeExpression(literal, PATIENCE_MS),
  }));
  assert(judged.length > 0);
  assert.deepEqual(judged.filter(({ verdict }) => verdict.kind === "slow"), []);
});

Deno.test("no program makes a regular expression of a text, but for the files with a reason", () => {
  assert.deepEqual([...new Set(made)], Object.keys(MADE));
});

Deno.test("the finder sees expressions where a division could be, and no expression in texts and comments", () => {
  const source = [
    "const a = 6 / 3 / 1; // /no+/",
    'const b = "/no*/";',
    "if (x) /(a+)+b/.test(y);",
    "const c = [1].map((z) => /c[/]d/g);",
    "new RegExp(a);",
  ].join("\n");
  assert.deepEqual(expressionsOf(source), {
    literals: [{ literal: "/(a+)+b/", line: 3 }, { literal: "/c[/]d/g", line: 4 }],
    made: 1,
  });
});

Deno.test("the checker finds what is quadratic and what is exponential, and passes what is linear", () => {
  assert.equal(judgeExpression("/^\\+?(?:\\d+\\.?\\d*|\\.\\d+)$/", PATIENCE_MS).kind, "slow");
  assert.equal(judgeExpression("/(?:a+)+b/", PATIENCE_MS).kind, "slow");
  assert.equal(judgeExpression("/\\/+$/", PATIENCE_MS).kind, "slow");
  assert.equal(judgeExpression("/^\\d+(?:\\.\\d*)?$/", PATIENCE_MS).kind, "linear");
  assert.equal(judgeExpression("/^(a+)-\\1$/", PATIENCE_MS).kind, "undecided");
});
