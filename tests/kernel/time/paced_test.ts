import assert from "node:assert/strict";
import { paced, unpaced } from "../../../lib/kernel/time/paced.ts";

/** Work with a fixed time for each step, ms, on a clock moved by the work alone. */
function slowWork(steps: number, each: number) {
  let now = 0;
  let done = 0;
  function* work(): Generator<void, string> {
    for (; done < steps; done++) {
      now += each;
      yield;
    }
    return "done";
  }
  return { work, now: () => now, steps: () => done };
}

Deno.test("the event loop turns each time that 20 ms are used up, and the result is handed on", async () => {
  const { work, now } = slowWork(100, 5);
  const turnedAt: number[] = [];
  const turn = () => Promise.resolve(void turnedAt.push(now()));
  assert.equal(await paced(work(), { now, turn }), "done");
  assert.equal(turnedAt.length, 25);
  assert.deepEqual(turnedAt.slice(0, 3), [20, 40, 60]);
});

Deno.test("a signal ends the work at the next turn, with its reason", async () => {
  const { work, now, steps } = slowWork(100, 10);
  const ending = new AbortController();
  const reason = new Error("enough");
  const turn = () => Promise.resolve(ending.abort(reason));
  await assert.rejects(paced(work(), { now, turn, signal: ending.signal }), reason);
  assert.ok(steps() < 5);
});

Deno.test("timers fire while the work goes on", async () => {
  let fired = false;
  const timer = setTimeout(() => fired = true, 0);
  function* untilFired(): Generator<void, void> {
    while (!fired) yield;
  }
  await paced(untilFired());
  clearTimeout(timer);
  assert.ok(fired);
});

Deno.test("an exception of the work is thrown, and paced or at once it is the same work", async () => {
  function* failing(): Generator<void, void> {
    yield;
    throw new RangeError("no");
  }
  await assert.rejects(paced(failing()), RangeError);
  assert.throws(() => unpaced(failing()), RangeError);
  assert.equal(unpaced(slowWork(3, 1).work()), "done");
});
