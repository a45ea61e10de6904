import assert from "node:assert/strict";
import { WaitingObjects } from "../../../lib/discovery/status/waiting_objects.ts";
import { KEPT_MS, PENDING_MS } from "../../../lib/gateway_api/status/live.ts";

const MOMENT = 1000;

const state = (hasProxies: boolean, generation = 1) => ({ generation, isUnsettled: true, hasProxies });

Deno.test("an object is looked at again at the end of each patience, and no more after the last", () => {
  const waiting = new WaitingObjects(MOMENT);
  assert.deepEqual(waiting.note("a", state(false), 100), { waited: 0, moment: MOMENT });
  assert.deepEqual(waiting.due(100 + MOMENT - 1), []);
  assert.deepEqual(waiting.due(100 + MOMENT), ["a"]);
  waiting.note("a", state(false), 100 + MOMENT);
  assert.deepEqual(waiting.due(100 + PENDING_MS - 1), []);
  assert.deepEqual(waiting.due(100 + PENDING_MS), ["a"]);
  assert.equal(waiting.note("a", state(false), 100 + PENDING_MS).waited, PENDING_MS);
  assert.deepEqual(waiting.due(100 + KEPT_MS - 1), []);
  assert.deepEqual(waiting.due(200 + KEPT_MS), ["a"]);
  waiting.note("a", state(false), 200 + KEPT_MS);
  assert.deepEqual(waiting.due(1e9), []);
});

Deno.test("a new version waits anew for proxies, and a settled object waits no more", () => {
  const waiting = new WaitingObjects(MOMENT);
  waiting.note("a", state(true), 0);
  assert.equal(waiting.note("a", state(true), 500).waited, 500);
  assert.equal(waiting.note("a", state(true, 2), 600).waited, 0);
  assert.deepEqual(waiting.due(600 + PENDING_MS), ["a"]);
  assert.equal(waiting.note("a", { ...state(true, 2), isUnsettled: false }, 700).waited, 0);
  assert.deepEqual(waiting.due(1e9), []);
});

Deno.test("versions that come without a pause have one moment together, and the next version has another", () => {
  const waiting = new WaitingObjects(MOMENT);
  for (let at = 0; at < MOMENT; at += 100) {
    assert.deepEqual(waiting.note("a", state(true, at), at), { waited: 0, moment: MOMENT - at });
  }
  assert.deepEqual(waiting.due(MOMENT - 1), []);
  assert.deepEqual(waiting.due(MOMENT), ["a"]);
  assert.deepEqual(waiting.note("a", state(true, 900), MOMENT), { waited: 100, moment: 100 });
  assert.deepEqual(waiting.note("a", state(true, 1100), MOMENT + 100), { waited: 0, moment: MOMENT });
});

Deno.test("the first proxy of an object gets a moment, and patience with the version goes on", () => {
  const waiting = new WaitingObjects(MOMENT);
  waiting.note("a", state(false), 0);
  assert.deepEqual(waiting.note("a", state(true), 5000), { waited: 5000, moment: 5000 + MOMENT });
  assert.deepEqual(waiting.due(5000 + MOMENT - 1), []);
  assert.deepEqual(waiting.due(5000 + MOMENT), ["a"]);
  assert.deepEqual(waiting.note("a", state(true), 5500), { waited: 5500, moment: 5000 + MOMENT });
  assert.deepEqual(waiting.note("a", state(false), 5600), { waited: 5600, moment: 5000 + MOMENT });
});

Deno.test("an event of a proxy concerns objects with proxies alone", () => {
  const waiting = new WaitingObjects(MOMENT);
  waiting.note("a", state(true), 0);
  waiting.note("b", state(false), 0);
  assert.deepEqual(waiting.withProxies(), ["a"]);
});
