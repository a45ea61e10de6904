/** The states of an informer without input and output. */
import assert from "node:assert/strict";
import { BackOff } from "../../../lib/orch/informer/back_off.ts";
import type { KeptObject } from "../../../lib/orch/informer/cache.ts";
import { InformerMachine } from "../../../lib/orch/informer/machine.ts";

const object = (name: string, version = "1", uid = name): KeptObject<string> => ({
  namespace: "",
  name,
  uid,
  version,
  value: version,
});

Deno.test("objects of an unfinished list are not in force, and objects of the next attempt are", () => {
  const machine = new InformerMachine<string>();
  assert.equal(machine.page({ objects: [object("a")], version: "5", token: "t" }), undefined);
  assert.deepEqual(machine.step, { ask: "page", token: "t", asOf: "any" });
  machine.failed(true);
  assert.deepEqual([machine.step, machine.cache.size], [{ ask: "page", token: undefined, asOf: "now" }, 0]);
  machine.page({ objects: [object("b")], version: "6", token: "" });
  assert.deepEqual([...machine.cache.values()].map(({ name }) => name), ["b"]);
  assert.deepEqual(machine.step, { ask: "watch", version: "6" });
});

Deno.test("a step that fails is tried again where it was; the third failure without progress lists anew", () => {
  const machine = new InformerMachine<string>();
  machine.page({ objects: [], version: "5", token: "" });
  machine.failed(false);
  machine.failed(false);
  assert.equal(machine.step.ask, "watch");
  machine.events([], "6");
  machine.failed(false);
  machine.failed(false);
  assert.deepEqual(machine.step, { ask: "watch", version: "6" });
  machine.failed(false);
  assert.equal(machine.step.ask, "page");
});

Deno.test("a list after a watch is not older than the known objects, and a list after a failed list asks for the present state", () => {
  const machine = new InformerMachine<string>();
  assert.deepEqual(machine.step, { ask: "page", token: undefined, asOf: "any" });
  machine.failed(false);
  assert.deepEqual(machine.step, { ask: "page", token: undefined, asOf: "now" });
  machine.page({ objects: [], version: "5", token: "" });
  machine.events([], "8");
  machine.failed(true);
  assert.deepEqual(machine.step, { ask: "page", token: undefined, asOf: { version: "8" } });
  machine.failed(false);
  assert.deepEqual(machine.step, { ask: "page", token: undefined, asOf: "now" });
});

Deno.test("events of one moment are one change, and the end of an earlier object does not end the present object of the name", () => {
  const machine = new InformerMachine<string>();
  machine.page({ objects: [object("a"), object("b")], version: "5", token: "" });
  const change = machine.events([
    { type: "gone", object: object("a") },
    { type: "put", object: object("a", "7", "other") },
    { type: "put", object: object("c", "8") },
    { type: "gone", object: object("c", "9") },
    { type: "gone", object: object("b", "10", "of before") },
  ], "10");
  assert.deepEqual(change, { upserted: [object("a", "7", "other")], removed: [] });
  assert.deepEqual([...machine.cache.values()].map(({ name }) => name).sort(), ["a", "b"]);
});

Deno.test("an API that was restored from a backup, with older versions, is what holds", () => {
  const machine = new InformerMachine<string>();
  machine.page({ objects: [object("a", "9")], version: "9", token: "" });
  machine.failed(true);
  const change = machine.page({ objects: [object("a", "3")], version: "3", token: "" });
  assert.deepEqual([change?.upserted.length, machine.step], [1, { ask: "watch", version: "3" }]);
});

Deno.test("pauses double up to half a minute, and lie between half and all of their length", () => {
  const longest = new BackOff(() => 1);
  const shortest = new BackOff(() => 0);
  assert.deepEqual(Array.from({ length: 8 }, () => longest.next()), [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000]);
  assert.deepEqual(Array.from({ length: 3 }, () => shortest.next()), [250, 500, 1000]);
  longest.reset();
  assert.equal(longest.next(), 500);
});
