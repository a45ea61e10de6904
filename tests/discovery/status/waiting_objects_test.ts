import assert from "node:assert/strict";
import { WaitingObjects } from "../../../lib/discovery/status/waiting_objects.ts";
import { KEPT_MS, PENDING_MS } from "../../../lib/gateway_api/status/live.ts";

const MOMENT = 1000;

const state = (hasProxies: boolean, generation = 1) => ({ generation, isUnsettled: true, hasProxies });

Deno.test("an object is looked at again at the end of each patience, and no more after the last", () => {
  const waiting = new WaitingObjects(MOMENT);
  assert.equal(waiting.note("a", state(false), 100), 0);
  assert.deepEqual(waiting.due(100 + MOMENT - 1), []);
  assert.deepEqual(waiting.due(100 + MOMENT), ["a"]);
  waiting.note("a", state(false), 100 + MOMENT);
  assert.deepEqual(waiting.due(100 + PENDING_MS - 1), []);
  assert.deepEqual(waiting.due(100 + PENDING_MS), ["a"]);
  assert.equal(waiting.note("a", state(false), 100 + PENDING_MS), PENDING_MS);
  assert.deepEqual(waiting.due(100 + KEPT_MS - 1), []);
  assert.deepEqual(waiting.due(200 + KEPT_MS), ["a"]);
  waiting.note("a", state(false), 200 + KEPT_MS);
  assert.deepEqual(waiting.due(1e9), []);
});

Deno.test("a new version waits anew, and a settled object waits no more", () => {
  const waiting = new WaitingObjects(MOMENT);
  waiting.note("a", state(true), 0);
  assert.equal(waiting.note("a", state(true), 500), 500);
  assert.equal(waiting.note("a", state(true, 2), 600), 0);
  assert.deepEqual(waiting.due(600 + MOMENT - 1), []);
  assert.deepEqual(waiting.due(600 + MOMENT), ["a"]);
  assert.equal(waiting.note("a", { ...state(true, 2), isUnsettled: false }, 700), 0);
  assert.deepEqual(waiting.due(1e9), []);
});

Deno.test("an event of a proxy concerns objects with proxies alone", () => {
  const waiting = new WaitingObjects(MOMENT);
  waiting.note("a", state(true), 0);
  waiting.note("b", state(false), 0);
  assert.deepEqual(waiting.withProxies(), ["a"]);
});
