/** Work by key: each key once at a time, few keys together, no key lost, failed keys again. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { KeyedQueue } from "../../../lib/orch/queue/keyed_queue.ts";
import { runs } from "../../properties.ts";

Deno.test("a key is worked on once at a time, and again when it was added meanwhile", async () => {
  const gates: PromiseWithResolvers<void>[] = [];
  const queue = new KeyedQueue({
    ...{ id: "test", clock: createFakeClock(), workers: 5 },
    work: async () => {
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      await gate.promise;
    },
  });
  for (let i = 0; i < 3; i++) queue.add("a");
  assert.equal(gates.length, 1);
  gates[0]!.resolve();
  while (gates.length < 2) await Promise.resolve();
  gates[1]!.resolve();
  await queue.idle();
  assert.equal(gates.length, 2);
});

Deno.test("failures come again after pauses that grow; who adds the key meanwhile does not wait; forgotten ones stay away", async () => {
  const clock = createFakeClock();
  const at: number[] = [];
  const queue = new KeyedQueue({
    ...{ id: "test", clock, random: () => 1 },
    work: () => {
      at.push(clock.monotonic());
      return Promise.reject(new Error("as the test wants"));
    },
  });
  queue.add("a");
  await clock.advance(4000);
  assert.deepEqual(at, [0, 500, 1500, 3500]);
  queue.add("a");
  await clock.advance(0);
  assert.equal(at.at(-1), 4000);
  queue.forget("a");
  await clock.advance(120_000);
  assert.equal(at.length, 5);
  assert.equal(clock.pending(), 0);
});

Deno.test("a queue that stops aborts what it does, waits for that, and takes nothing more", async () => {
  const clock = createFakeClock();
  const done: string[] = [];
  const queue = new KeyedQueue({
    ...{ id: "test", clock },
    work: async (key, signal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      done.push(key);
      signal.throwIfAborted();
    },
  });
  queue.add("a");
  queue.add("b");
  await queue.stop();
  queue.add("c");
  assert.deepEqual(done, ["a"]);
  assert.equal(clock.pending(), 0);
});

Deno.test("in any order of adding, failing and ending, the last state of each key is worked on and no place is exceeded", async () => {
  const add = fc.record({ key: fc.constantFrom("a", "b", "c", "d"), fails: fc.boolean(), pause: fc.nat({ max: 900 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(add, { maxLength: 15 }), fc.integer({ min: 1, max: 3 }), async (adds, workers) => {
      const clock = createFakeClock();
      const wanted = new Map<string, number>();
      const seen = new Map<string, number>();
      const running = new Set<string>();
      let most = 0;
      const failing = new Set<string>();
      const queue = new KeyedQueue({
        ...{ id: "test", clock, workers },
        work: async (key) => {
          assert.ok(!running.has(key), "one at a time");
          running.add(key);
          most = Math.max(most, running.size);
          const version = wanted.get(key)!;
          await clock.sleep(300);
          running.delete(key);
          if (failing.delete(key)) throw new Error("as the test wants");
          seen.set(key, version);
        },
      });
      for (const [index, { key, fails, pause }] of adds.entries()) {
        wanted.set(key, index);
        if (fails) failing.add(key);
        queue.add(key);
        await clock.advance(pause);
      }
      await clock.advance(60_000);
      assert.deepEqual([...seen].sort(), [...wanted].sort());
      assert.ok(most <= workers);
    }),
    { numRuns: runs(30) },
  );
});

Deno.test("depth, wait and time of work are measured", async () => {
  const clock = createFakeClock();
  const metrics = createMetrics("pilot-discovery");
  const queue = new KeyedQueue({ ...{ id: "q", clock, metrics }, work: () => clock.sleep(2000) });
  queue.add("a");
  queue.add("b");
  assert.match((await metrics.scrape()).body, /pilot_worker_queue_depth\{queueID="q"\} 1\n/);
  await clock.advance(4000);
  const { body } = await metrics.scrape();
  assert.match(body, /pilot_worker_queue_depth\{queueID="q"\} 0\n/);
  assert.match(body, /pilot_worker_queue_latency_sum\{queueID="q"\} 2\n/);
  assert.match(body, /pilot_worker_queue_duration_sum\{queueID="q"\} 4\n/);
});
