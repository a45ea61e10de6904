import assert from "node:assert/strict";
import { calibrationWork, EXPECTED, REFERENCE } from "./calibration.ts";
import { Calibrator } from "./calibrator.ts";

Deno.test("the calibration always does the same work", () => {
  assert.equal(calibrationWork(), EXPECTED);
});

/** A machine with the listed speeds, one per calibration. */
function machine(...speeds: number[]) {
  let measured = 0;
  const calibrator = new Calibrator(() => Promise.resolve(speeds[measured++]!));
  return { calibrator, measured: () => measured };
}

Deno.test("work has the mean of the calibrations just before and just after it; a series shares them", async () => {
  const { calibrator, measured } = machine(1, 3, 5);
  assert.deepEqual(await calibrator.beside(() => Promise.resolve("a")), { result: "a", calibration: 2 });
  assert.deepEqual(await calibrator.beside(() => Promise.resolve("b")), { result: "b", calibration: 4 });
  assert.equal(measured(), 3);
});

Deno.test("after a pause, and after work that failed, the next work has a calibration of its own", async () => {
  const { calibrator, measured } = machine(1, 1, 3, 3, 5, 7, 7);
  await calibrator.beside(() => Promise.resolve());
  calibrator.pause();
  assert.equal((await calibrator.beside(() => Promise.resolve())).calibration, 3);
  calibrator.pause();
  await assert.rejects(calibrator.beside(() => Promise.reject(new Error("no"))));
  assert.equal((await calibrator.beside(() => Promise.resolve())).calibration, 7);
  assert.equal(measured(), 7);
});

Deno.test("without calibrations the machine counts as the reference", async () => {
  assert.deepEqual(await Calibrator.none().beside(() => Promise.resolve(1)), { result: 1, calibration: REFERENCE });
});
