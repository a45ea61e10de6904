import assert from "node:assert/strict";
import { createDrain } from "../../../lib/kernel/lifecycle/drain.ts";
import { createReadiness } from "../../../lib/kernel/lifecycle/readiness.ts";
import { createStopper } from "../../../lib/kernel/lifecycle/stop.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";

Deno.test("a program is ready when no more tasks are added and all tasks are done, and names the tasks that it waits for", async () => {
  const readiness = createReadiness();
  const folder = readiness.task("folder");
  const registry = readiness.task("registry");
  folder();
  folder();
  assert.equal(readiness.ready(), false);
  assert.deepEqual(readiness.pending(), ["registry"]);
  registry();
  assert.equal(readiness.ready(), false, "more tasks may still come");
  readiness.complete();
  assert.equal(readiness.ready(), true);
  await readiness.whenReady;
});

Deno.test("two tasks of one name are two", () => {
  const readiness = createReadiness();
  const first = readiness.task("cluster");
  readiness.task("cluster");
  first();
  assert.deepEqual(readiness.pending(), ["cluster"]);
});

Deno.test("draining starts once and keeps its first reason", async () => {
  const drain = createDrain();
  assert.equal(drain.started, false);
  drain.start("signal");
  drain.start("request");
  assert.equal(drain.reason, "signal");
  assert.equal(await drain.whenStarted, "signal");
  assert.equal(drain.signal.aborted, true);
});

Deno.test("parts end in reverse order, one failing does not keep the next, and a second stop is the first", async () => {
  const order: string[] = [];
  const stopper = createStopper(1000, createFakeClock());
  stopper.add("store", () => void order.push("store"));
  stopper.add("bad", () => {
    throw new Error("no");
  });
  stopper.add("server", async () => {
    await Promise.resolve();
    order.push("server");
  });
  stopper.add("gone", () => void order.push("gone"))();
  const outcomes = await stopper.stop();
  assert.deepEqual(order, ["server", "store"]);
  assert.deepEqual(outcomes.map((o) => [o.name, o.result]), [["server", "done"], ["bad", "failed"], ["store", "done"]]);
  assert.equal(await stopper.stop(), outcomes);
});

Deno.test("one deadline holds for all parts: a hanging one is signalled and left, the rest still end", async () => {
  const clock = createFakeClock();
  const stopper = createStopper(1000, clock);
  let forced = false;
  stopper.add("store", () => {});
  stopper.add("server", (signal) => {
    signal.addEventListener("abort", () => (forced = true));
    return new Promise(() => {});
  });
  const stopping = stopper.stop();
  await clock.advance(1000);
  assert.deepEqual((await stopping).map((o) => [o.name, o.result]), [["server", "late"], ["store", "done"]]);
  assert.equal(forced, true);
  assert.equal(clock.pending(), 0);
});
