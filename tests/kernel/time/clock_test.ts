import assert from "node:assert/strict";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";

Deno.test("a fake clock fires timers in order of time, then of creation, and no timer too early", async () => {
  const clock = createFakeClock();
  const fired: string[] = [];
  clock.after(20, () => fired.push("b"));
  clock.after(10, () => fired.push("a"));
  clock.after(20, () => fired.push("c"));
  const cancel = clock.after(15, () => fired.push("never"));
  cancel();
  await clock.advance(19);
  assert.deepEqual(fired, ["a"]);
  await clock.advance(1);
  assert.deepEqual(fired, ["a", "b", "c"]);
  assert.equal(clock.monotonic(), 20);
});

Deno.test("a timer set by a timer fires in the same advance when it is due", async () => {
  const clock = createFakeClock();
  const at: number[] = [];
  const again = () => {
    at.push(clock.monotonic());
    if (at.length < 3) clock.after(10, again);
  };
  clock.after(10, again);
  await clock.advance(30);
  assert.deepEqual(at, [10, 20, 30]);
});

Deno.test("a sleep ends with its signal", async () => {
  const clock = createFakeClock();
  const controller = new AbortController();
  const sleep = clock.sleep(1000, controller.signal);
  controller.abort(new Error("enough"));
  await assert.rejects(sleep, /enough/);
  assert.equal(clock.pending(), 0);
  await assert.rejects(clock.sleep(1, AbortSignal.abort(new Error("before"))), /before/);
});

Deno.test("a timer longer than the platform's longest does not fire at once", async () => {
  let fired = false;
  const cancel = systemClock.after(2 ** 31 + 1000, () => (fired = true));
  await systemClock.sleep(5);
  assert.equal(fired, false);
  cancel();
});
