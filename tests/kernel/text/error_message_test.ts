import assert from "node:assert/strict";
import { compareTexts } from "../../../lib/kernel/text/compare.ts";
import { errorMessage } from "../../../lib/kernel/text/error_message.ts";

Deno.test("anything thrown has a message: an error its own, other values their text", () => {
  assert.deepEqual([new TypeError("no host"), "closed", 7, undefined].map(errorMessage), [
    "no host",
    "closed",
    "7",
    "undefined",
  ]);
});

Deno.test("texts are ordered by code unit, capitals first, and an accent last", () => {
  assert.deepEqual(["é", "b", "a", "B"].sort(compareTexts), ["B", "a", "b", "é"]);
  assert.equal(compareTexts("a", "a"), 0);
});
