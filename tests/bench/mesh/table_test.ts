import assert from "node:assert/strict";
import { REFERENCE } from "./calibration.ts";
import { comparePairs } from "./pairs.ts";
import type { Figure, Row } from "./result.ts";
import { missed, page, showComparison, showFigure, showTarget, table } from "./table.ts";

/** A row of runs on the reference machine. */
const row = (...cpu: number[]): Row => ({
  id: "a",
  work: "all connect",
  istio: "54 CPU s",
  figures: [
    { name: "", unit: "CPU s", values: cpu, atMost: 2 },
    { name: "on the wire", unit: "MB", values: cpu.map(() => 120) },
  ],
  calibrations: cpu.map(() => REFERENCE),
});

Deno.test("a row shows Istio, each figure with its spread and at reference speed, and each target with its verdict", () => {
  const lines = table([row(1.5, 3.5, 1.75)]).trimEnd().split("\n");
  assert.equal(lines[0], "| work | Istio | measured | target |");
  assert.equal(
    lines[2],
    "| all connect | 54 CPU s | 1.75 CPU s (1.50-3.50) -> 1.75<br>120 MB (120-120) on the wire | <= 2 CPU s: met |",
  );
});

Deno.test("a time on a machine of half the speed is shown as measured, and judged as it would be at reference speed", () => {
  const figure: Figure = { name: "", unit: "CPU s", values: [3], atMost: 2 };
  assert.equal(showFigure(figure, [2 * REFERENCE]), "3.00 CPU s -> 1.50");
  assert.equal(showTarget(figure, [2 * REFERENCE]), "<= 2 CPU s: met");
  assert.equal(showTarget(figure, [REFERENCE]), "<= 2 CPU s: **missed**");
});

Deno.test("small CPU times keep three digits, and a single value has no spread", () => {
  const figure: Figure = { name: "", unit: "CPU s", values: [0.034] };
  assert.equal(showFigure(figure, [REFERENCE]), "0.034 CPU s -> 0.034");
  assert.equal(showTarget({ ...figure, atMost: 0.01 }, [REFERENCE]), "<= 0.01 CPU s: **missed**");
  assert.equal(showTarget(figure, [REFERENCE]), "");
});

Deno.test("a bar in a text does not end its cell", () => {
  assert.match(table([{ ...row(1), work: "a | b" }]), /\| a \\\| b \|/);
});

Deno.test("the page says what is missed, what the machine was, and that Istio was measured elsewhere", () => {
  const facts = { machine: { processor: "two cores" }, runs: 2, rounds: 5, quick: false };
  const text = page([row(3)], facts);
  assert.match(text, /- processor: two cores/);
  assert.match(text, /1 of 1 targets are missed:\n\n- all connect: 3.00 CPU s -> 3.00, <= 2 CPU s: \*\*missed\*\*/);
  assert.match(text, /another time and another tool/);
  assert.doesNotMatch(text, /quick run/);
  assert.match(page([row(1)], { ...facts, quick: true }), /quick run/);
  assert.equal(missed([row(1)]), "All 1 targets are met.");
  assert.equal(missed([]), "No target was measured.");
});

Deno.test("a comparison shows its verdict, the ratio with its spread and without calibration, and both medians", () => {
  const pairs = [1.1, 1.2, 1.3].map((cpu) => ({ here: [row(cpu)], there: [row(1)] }));
  assert.equal(showComparison(comparePairs(pairs)[0]!), "worse:  1.20 (1.10-1.30)    raw 1.20    1.20 / 1.00 CPU s");
});
