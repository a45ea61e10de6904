import assert from "node:assert/strict";
import { defaultPushThrottle, PushQueue } from "../../lib/xds/push_queue.ts";

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
  assert.deepEqual(served, [0, 1, 2, 4], "a stream that has gone is neither served nor blocks a place");
  assert.equal(queue.length, 0);
  assert.equal(waits.length, 4);
});

Deno.test("the default throttle is Istio's rule", () => {
  assert.equal(defaultPushThrottle(2), 25);
  assert.equal(defaultPushThrottle(64), 100);
});
