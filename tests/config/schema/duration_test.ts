import assert from "node:assert/strict";
import fc from "fast-check";
import { parseDuration } from "../../../lib/config/schema/duration.ts";

const TABLE: readonly (readonly [string, number | undefined])[] = [
  ["5s", 5000],
  ["0.5s", 500],
  [".5s", 500],
  ["1.001s", 1001],
  ["1h30m", 5_400_000],
  ["100ms", 100],
  ["1us", 0.001],
  ["1µs", 0.001],
  ["1ns", 0.000001],
  ["-1s", -1000],
  ["+1s", 1000],
  ["0", 0],
  ["0s", 0],
  ["8760h", 31_536_000_000],
  ["", undefined],
  ["5", undefined],
  ["s", undefined],
  ["5 s", undefined],
  ["5d", undefined],
  ["1s1", undefined],
  [".s", undefined],
  ["1..5s", undefined],
  ["5S", undefined],
];

for (const [text, expected] of TABLE) {
  Deno.test({
    name: `${JSON.stringify(text)} is ${expected === undefined ? "no duration" : `${expected} ms`}`,
    permissions: "none",
    fn: () => assert.equal(parseDuration(text), expected),
  });
}

Deno.test({
  name: "whole milliseconds survive being written and read",
  permissions: "none",
  fn: () =>
    fc.assert(fc.property(fc.integer({ min: -9e9, max: 9e9 }), (milliseconds) => {
      assert.equal(parseDuration(`${milliseconds / 1000}s`), milliseconds);
    })),
});
