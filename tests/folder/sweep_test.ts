import assert from "node:assert/strict";
import { SweepPlan } from "../../lib/folder/sweep.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("a few events need no sweep, eight do, at once", () => {
  const plan = new SweepPlan();
  for (let i = 0; i < 7; i++) plan.event();
  assert.equal(plan.wait(100), undefined);
  plan.event();
  assert.equal(plan.wait(100), 0);
});

test("a sweep covers earlier events, not events during the sweep", () => {
  const plan = new SweepPlan();
  for (let i = 0; i < 8; i++) plan.event();
  plan.begin(100);
  for (let i = 0; i < 8; i++) plan.event();
  plan.end(110);
  assert.equal(plan.wait(110), 200, "10 ms of sweeping are a twentieth of 200 ms");
  plan.begin(310);
  plan.end(311);
  assert.equal(plan.wait(320), undefined);
});

test("without any event the folder is swept each minute", () => {
  const plan = new SweepPlan();
  plan.begin(0);
  plan.end(1);
  assert.equal(plan.wait(60_000), undefined);
  assert.equal(plan.wait(60_002), 0);
});
