import assert from "node:assert/strict";
import {
  hasFittingValues,
  LABEL_OPERATORS,
  type LabelConditions,
  meetsConditions,
} from "../../../lib/kernel/labels/selector.ts";

const meets = (conditions: LabelConditions, labels: Readonly<Record<string, string>>) =>
  meetsConditions(conditions, (key) => labels[key]);

Deno.test("each operator judges a label that is there, another value, and an absent label", () => {
  const judged = LABEL_OPERATORS.map((operator) => {
    const conditions = { matchExpressions: [{ key: "a", operator, values: ["1", "2"] }] };
    return [operator, ...[{ a: "2" }, { a: "3" }, {}].map((labels) => meets(conditions, labels))];
  });
  assert.deepEqual(judged, [
    ["In", true, false, false],
    ["NotIn", false, true, true],
    ["Exists", true, true, false],
    ["DoesNotExist", false, false, true],
  ]);
});

Deno.test("all conditions must hold; without conditions everything is selected", () => {
  const both = { matchLabels: { a: "1", b: "2" }, matchExpressions: [{ key: "c", operator: "Exists" as const }] };
  assert.ok(meets(both, { a: "1", b: "2", c: "" }));
  for (const labels of [{ a: "1", b: "2" }, { a: "1", c: "" }, { a: "1", b: "3", c: "" }]) {
    assert.ok(!meets(both, labels), JSON.stringify(labels));
  }
  assert.ok(meets({}, {}));
});

Deno.test("In and NotIn need values, and the other operators have none", () => {
  const fitting = LABEL_OPERATORS.map((operator) =>
    [[], ["1"]].map((values) => hasFittingValues({ operator, values }))
  );
  assert.deepEqual(fitting, [[false, true], [false, true], [true, false], [true, false]]);
  assert.ok(hasFittingValues({ operator: "Exists" }));
});
