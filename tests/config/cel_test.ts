/** Recognition of CEL expressions. */
import assert from "node:assert/strict";
import { celProblem } from "../../lib/config/validation/cel.ts";
import { BAD, GOOD } from "./cel_expressions.ts";

Deno.test("expressions are distinguished from other texts, and the place of a mistake is named", () => {
  assert.deepEqual(GOOD.map(celProblem).filter((problem) => problem !== undefined), []);
  assert.deepEqual(BAD.filter((text) => celProblem(text) === undefined), []);
  assert.match(celProblem("a == ") ?? "", /^at 6: expected/);
  assert.match(celProblem("(".repeat(200_000)) ?? "", /less nesting/);
});
