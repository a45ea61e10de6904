import assert from "node:assert/strict";
import { REFERENCE } from "./calibration.ts";
import { atReference, joinRuns, met, quantile, type Row, spread } from "./result.ts";

const normal = (count: number) => Array.from({ length: count }, () => REFERENCE);

Deno.test("a spread has the middle, the least and the greatest value", () => {
  assert.deepEqual(spread([3, 1, 2]), { median: 2, min: 1, max: 3 });
  assert.deepEqual(spread([4, 1, 2, 3]), { median: 2.5, min: 1, max: 4 });
  assert.throws(() => spread([]), RangeError);
});

Deno.test("a quantile is the value below which that part of the values lies", () => {
  const values = Array.from({ length: 100 }, (_, i) => 100 - i);
  assert.equal(quantile(values, 0.99), 100);
  assert.equal(quantile(values, 0.5), 51);
  assert.equal(quantile(values, 1), 100);
});

Deno.test("a time at reference speed is its quotient by the calibration beside it, run by run", () => {
  const figure = { name: "", unit: "CPU s", values: [3, 3, 3] } as const;
  assert.deepEqual(atReference(figure, [REFERENCE, 2 * REFERENCE, REFERENCE / 2]), [3, 1.5, 6]);
  assert.throws(() => atReference(figure, [REFERENCE]), /calibrations: got 1, expected one for each of 3 values/);
});

Deno.test("waiting time is not scaled by the speed of the machine", () => {
  const figure = { name: "last proxy", unit: "ms", values: [160, 80], waited: 100 } as const;
  assert.deepEqual(atReference(figure, [2 * REFERENCE, 2 * REFERENCE]), [130, 80]);
});

Deno.test("bytes, counts and ratios do not depend on the speed of the machine", () => {
  for (const unit of ["MB", "kB", "MiB", "resources", "messages", "events/s", "%", "x"] as const) {
    assert.deepEqual(atReference({ name: "", unit, values: [7] }, [3 * REFERENCE]), [7]);
  }
});

Deno.test("a target is met by the median at reference speed, from above and from below", () => {
  assert.equal(met({ name: "", unit: "s", values: [1, 5, 2], atMost: 2 }, normal(3)), true);
  assert.equal(met({ name: "", unit: "s", values: [1, 5, 2.1], atMost: 2 }, normal(3)), false);
  assert.equal(met({ name: "", unit: "s", values: [1, 5, 2.1], atMost: 2 }, normal(3).map((c) => 2 * c)), true);
  assert.equal(met({ name: "", unit: "events/s", values: [90], atLeast: 100 }, normal(1)), false);
  assert.equal(met({ name: "", unit: "s", values: [1] }, normal(1)), undefined);
});

Deno.test("the runs of a row become one row with all values and calibrations, in the order of the first run", () => {
  const row = (id: string, value: number, calibration: number): Row => ({
    id,
    work: "all connect",
    istio: "54 CPU s",
    figures: [{ name: "", unit: "CPU s", values: [value] }],
    calibrations: [calibration],
  });
  const joined = joinRuns([[row("a", 1.5, 1), row("b", 9, 2)], [row("a", 3.5, 3)], [row("a", 1.75, 4)]]);
  assert.deepEqual(joined.map((r) => r.id), ["a", "b"]);
  assert.deepEqual(joined[0]!.figures[0]!.values, [1.5, 3.5, 1.75]);
  assert.deepEqual(joined[0]!.calibrations, [1, 3, 4]);
});
