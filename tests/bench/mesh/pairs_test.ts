import assert from "node:assert/strict";
import { REFERENCE } from "./calibration.ts";
import { onePair } from "./compare.ts";
import { comparePairs, type Pair, verdictOf } from "./pairs.ts";
import type { Row } from "./result.ts";

const row = (cpu: number, speed = 1, id = "a"): Row => ({
  id,
  work: "all connect",
  istio: "",
  figures: [{ name: "", unit: "CPU s", values: [cpu] }],
  calibrations: [REFERENCE * speed],
});

const pair = (here: Row, there: Row): Pair => ({ here: [here], there: [there] });

Deno.test("ratios are formed pair by pair, and their median is not the ratio of the medians", () => {
  const [found] = comparePairs([pair(row(2), row(1)), pair(row(3), row(3)), pair(row(10), row(8))]);
  assert.deepEqual(found!.ratios, [2, 1, 1.25]);
  assert.equal(found!.ratio.median, 1.25);
  assert.deepEqual([found!.here, found!.there], [3, 3]);
});

Deno.test("a machine that becomes slow in the midst of a pair does not change the ratio", () => {
  const [found] = comparePairs([pair(row(2), row(6, 3)), pair(row(4, 2), row(2))]);
  assert.deepEqual(found!.ratios, [1, 1]);
  assert.equal(found!.verdict, "same");
});

Deno.test("the raw ratio is that of what was measured, whatever the calibrations say", () => {
  const [found] = comparePairs([pair(row(2), row(2, 1.3)), pair(row(3, 0.8), row(2)), pair(row(2), row(2, 0.7))]);
  assert.equal(found!.raw, 1);
});

Deno.test("calibrations that differ make nothing worse or better that was measured as the same", () => {
  const [found] = comparePairs([pair(row(2, 0.8), row(2)), pair(row(2, 0.8), row(2))]);
  assert.equal(found!.ratio.median, 1.25);
  assert.equal(found!.verdict, "same");
});

Deno.test("rows and figures that the other tree lacks are left out, and nothing at all is an error", () => {
  const both: Pair = { here: [row(1), row(1, 1, "new")], there: [row(1)] };
  assert.deepEqual(comparePairs([both]).map(({ id }) => id), ["a"]);
  assert.throws(() => comparePairs([]), /pairs: got none/);
});

Deno.test("two values of nothing are the same, and something against nothing is worse", () => {
  assert.equal(comparePairs([pair(row(0), row(0))])[0]!.ratio.median, 1);
  assert.equal(comparePairs([pair(row(1), row(0))])[0]!.verdict, "worse");
});

Deno.test("percentages are compared as ratios: how much one value exceeds another", () => {
  const growth = (value: number): Row => ({ ...row(0), figures: [{ name: "growth", unit: "%", values: [value] }] });
  const [small] = comparePairs([pair(growth(2), growth(1)), pair(growth(1), growth(-1))]);
  assert.equal(small!.verdict, "same");
  assert.equal(small!.ratios[1], 101 / 99);
  assert.equal(comparePairs([pair(growth(20), growth(10))])[0]!.verdict, "worse");
});

Deno.test("worse and better are more than 5 % in the median, and in all pairs but one", () => {
  const time = {};
  assert.equal(verdictOf([1.06, 1.07, 1.08, 0.99, 1.06, 1.1, 1.2], time), "worse");
  assert.equal(verdictOf([1.06, 1.07, 1.08, 0.99, 1.06, 0.99, 1.2], time), "same");
  assert.equal(verdictOf([1.04, 1.04, 1.04, 1.04, 1.04, 1.04, 1.04], time), "same");
  assert.equal(verdictOf([0.5, 0.9, 0.8, 1.2, 0.7, 0.6, 0.9], time), "better");
});

Deno.test("for figures with a lower limit, less is worse", () => {
  assert.equal(verdictOf([0.9, 0.8, 0.9], { atLeast: 1 }), "worse");
  assert.equal(verdictOf([1.2, 1.3, 1.2], { atLeast: 1 }), "better");
});

Deno.test("the tree that begins changes from pair to pair", async () => {
  const order: string[] = [];
  const run = (name: string) => () => {
    order.push(name);
    return Promise.resolve([row(name === "here" ? 1 : 2)]);
  };
  const pairs = [await onePair(0, run("here"), run("there")), await onePair(1, run("here"), run("there"))];
  assert.deepEqual(order, ["here", "there", "there", "here"]);
  assert.deepEqual(pairs.map(({ here }) => here[0]!.figures[0]!.values), [[1], [1]]);
});
