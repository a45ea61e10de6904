import assert from "node:assert/strict";
import { Admission, defaultAdmissionRate, MAX_ADMISSION_WAIT } from "../../lib/xds/admission.ts";
import { defaultPushThrottle, PushQueue } from "../../lib/xds/push_queue.ts";

Deno.test("after a quiet second a second's worth of streams is admitted at once, the rest at the rate, in order", () => {
  let now = 10_000;
  const admission = new Admission(10, () => now);
  const waits = Array.from({ length: 15 }, () => Math.round(admission.reserve()!));
  assert.deepEqual(waits.slice(0, 11), Array(11).fill(0));
  assert.deepEqual(waits.slice(11), [100, 200, 300, 400]);
  now += 10_000;
  assert.equal(admission.reserve(), 0);
});

Deno.test("400 proxies at once are all admitted within two seconds by the default rate", () => {
  const admission = new Admission(defaultAdmissionRate(2), () => 10_000);
  const waits = Array.from({ length: 400 }, () => admission.reserve()!);
  assert.ok(Math.max(...waits) < 2000);
});

Deno.test("who would wait longer than the limit is refused, and costs the others nothing", () => {
  let now = 10_000;
  const admission = new Admission(1, () => now);
  let admitted = 0;
  while (admission.reserve() !== undefined) admitted++;
  assert.ok(admitted <= MAX_ADMISSION_WAIT / 1000 + 2);
  for (let i = 0; i < 1000; i++) assert.equal(admission.reserve(), undefined);
  now += 2000;
  assert.notEqual(admission.reserve(), undefined);
});

Deno.test("at most the limit of streams is served until one is taken", async () => {
  const waits: number[] = [];
  const queue = new PushQueue(2, (seconds) => waits.push(seconds));
  const served: number[] = [];
  const done: (() => void)[] = [];
  const streams = Array.from({ length: 5 }, (_, i) => ({
    push(taken: () => void) {
      served.push(i);
      done.push(taken);
    },
  }));
  for (const stream of [...streams, ...streams]) queue.add(stream);
  const turn = () => new Promise((resolve) => setTimeout(resolve, 5));
  await turn();
  assert.deepEqual(served, [0, 1]);
  done[0]!();
  await turn();
  assert.deepEqual(served, [0, 1, 2]);
  queue.remove(streams[1]!);
  queue.remove(streams[3]!);
  await turn();
  assert.deepEqual(served, [0, 1, 2, 4], "who has gone is neither served nor blocks a place");
  assert.equal(queue.length, 0);
  assert.equal(waits.length, 4);
});

Deno.test("the default throttle is the peer's rule", () => {
  assert.equal(defaultPushThrottle(2), 25);
  assert.equal(defaultPushThrottle(64), 100);
});
