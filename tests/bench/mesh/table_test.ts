import assert from "node:assert/strict";
import { joinRuns, met, type Row, spread } from "./result.ts";
import { missed, page, showFigure, showTarget, table } from "./table.ts";

const row = (cpu: number): Row => ({
  id: "a",
  work: "all connect",
  peer: "54 CPU s",
  figures: [
    { name: "", unit: "CPU s", values: [cpu], atMost: 2 },
    { name: "on the wire", unit: "MB", values: [120] },
  ],
});

Deno.test("a spread has the middle, the least and the greatest value", () => {
  assert.deepEqual(spread([3, 1, 2]), { median: 2, min: 1, max: 3 });
  assert.deepEqual(spread([4, 1, 2, 3]), { median: 2.5, min: 1, max: 4 });
  assert.throws(() => spread([]), RangeError);
});

Deno.test("a target is met by the median, from above and from below", () => {
  assert.equal(met({ name: "", unit: "s", values: [1, 5, 2], atMost: 2 }), true);
  assert.equal(met({ name: "", unit: "s", values: [1, 5, 2.1], atMost: 2 }), false);
  assert.equal(met({ name: "", unit: "events/s", values: [90], atLeast: 100 }), false);
  assert.equal(met({ name: "", unit: "s", values: [1] }), undefined);
});

Deno.test("the runs of a row become one row with all values, in the order of the first run", () => {
  const other: Row = { ...row(9), id: "b" };
  const joined = joinRuns([[row(1.5), other], [row(3.5)], [row(1.75)]]);
  assert.deepEqual(joined.map((r) => r.id), ["a", "b"]);
  assert.deepEqual(joined[0]!.figures[0]!.values, [1.5, 3.5, 1.75]);
});

Deno.test("a row shows the peer, each figure with its spread, and each target with its verdict", () => {
  const [joined] = joinRuns([[row(1.5)], [row(3.5)], [row(1.75)]]);
  const lines = table([joined!]).trimEnd().split("\n");
  assert.equal(lines[0], "| work | peer | measured | target |");
  assert.equal(
    lines[2],
    "| all connect | 54 CPU s | 1.75 CPU s (1.50-3.50)<br>120 MB (120-120) on the wire | <= 2 CPU s: met |",
  );
});

Deno.test("small CPU times keep three digits, and a single value has no spread", () => {
  assert.equal(showFigure({ name: "", unit: "CPU s", values: [0.034] }), "0.034 CPU s");
  assert.equal(showTarget({ name: "", unit: "CPU s", values: [0.034], atMost: 0.01 }), "<= 0.01 CPU s: **missed**");
  assert.equal(showTarget({ name: "", unit: "CPU s", values: [0.034] }), "");
});

Deno.test("a bar in a text does not end its cell", () => {
  assert.match(table([{ ...row(1), work: "a | b" }]), /\| a \\\| b \|/);
});

Deno.test("the page says what is missed, what the machine was, and that the peer was measured elsewhere", () => {
  const facts = { machine: { processor: "two cores" }, runs: 2, rounds: 5, quick: false };
  const text = page([row(3)], facts);
  assert.match(text, /- processor: two cores/);
  assert.match(text, /1 of 1 targets are missed:\n\n- all connect: 3.00 CPU s, <= 2 CPU s: \*\*missed\*\*/);
  assert.match(text, /another time and another tool/);
  assert.doesNotMatch(text, /quick run/);
  assert.match(page([row(1)], { ...facts, quick: true }), /quick run/);
  assert.equal(missed([row(1)]), "All 1 targets are met.");
  assert.equal(missed([]), "No target was measured.");
});
