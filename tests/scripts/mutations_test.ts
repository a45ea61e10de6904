import assert from "node:assert/strict";
import { mutated } from "../../scripts/mutations/apply.ts";
import { MUTATIONS } from "../../scripts/mutations/list.ts";

const root = new URL("../..", import.meta.url).pathname;

Deno.test("every planted mistake still fits the tree: its text stands exactly once in its file", () => {
  const wrong = MUTATIONS.flatMap((row) => {
    try {
      mutated(Deno.readTextFileSync(root + row.file), row);
      return [];
    } catch (error) {
      return [String(error)];
    }
  });
  assert.deepEqual(wrong, []);
});

Deno.test("a planted mistake is refused where its text stands twice, or changes nothing", () => {
  const row = { file: "a.ts", find: "x", replace: "y", breaks: "" };
  assert.equal(mutated("a x b", row), "a y b");
  assert.throws(() => mutated("x x", row), /stands there 2 times, not once/);
  assert.throws(() => mutated("", row), /stands there 0 times/);
  assert.throws(() => mutated("x", { ...row, replace: "x" }), /replaced by itself/);
});
