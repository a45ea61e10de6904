import assert from "node:assert/strict";
import { BoundedLabel } from "../../../lib/kernel/metrics/single_value.ts";

Deno.test("of the values that others choose the first are shown, with a bounded length; later ones are `other`", () => {
  const label = new BoundedLabel(3);
  const given = ["a", "b", "a", "x".repeat(300), "c", "a", "d", "b"];
  assert.deepEqual(given.map((text) => label.of(text)), ["a", "b", "a", "x".repeat(256), "other", "a", "other", "b"]);
  assert.equal(
    new Set(Array.from({ length: 2000 }, ((label) => (_, i) => label.of(`${i}`))(new BoundedLabel()))).size,
    501,
  );
});
