import assert from "node:assert/strict";
import { ConfigStore } from "../../lib/config/store.ts";
import { type ConfigObject, objectKey } from "../../lib/config/types.ts";
import { inFile } from "./origins.ts";

function rule(namespace: string, name: string, hash = "1"): ConfigObject<"DestinationRule"> {
  return {
    kind: "DestinationRule",
    key: objectKey("DestinationRule", namespace, name),
    meta: { name, namespace, labels: {}, annotations: {}, creationTimestamp: 0 },
    spec: { host: name },
    origin: inFile("a.yaml"),
    hash,
  };
}

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("objects are found by name and listed by kind and namespace, sorted", () => {
  const store = new ConfigStore();
  const source = store.addSource("a", 0);
  source.apply({ upserted: [rule("b", "y"), rule("a", "x"), rule("b", "x")], removed: [] });
  assert.equal(store.get("DestinationRule", "b", "y")?.spec.host, "y");
  assert.equal(store.get("DestinationRule", "b", "z"), undefined);
  assert.equal(store.get("Gateway", "b", "y"), undefined);
  assert.deepEqual(store.list("DestinationRule").map((one) => one.key.slice(16)), ["a/x", "b/x", "b/y"]);
  assert.deepEqual(store.list("DestinationRule", "b").map((one) => one.meta.name), ["x", "y"]);
  assert.deepEqual(store.list("DestinationRule", "none"), []);
  assert.deepEqual(store.list("Gateway"), []);
  assert.equal(store.size, 3);
});

test("a list is the same array until an object of its kind changes", () => {
  const store = new ConfigStore();
  const source = store.addSource("a", 0);
  source.apply({ upserted: [rule("a", "x")], removed: [] });
  const all = store.list("DestinationRule");
  const mine = store.list("DestinationRule", "a");
  assert.equal(store.list("DestinationRule"), all);
  assert.equal(store.list("DestinationRule", "a"), mine);
  source.apply({ upserted: [rule("a", "y")], removed: [] });
  assert.notEqual(store.list("DestinationRule"), all);
  assert.equal(all.length, 1);
});

test("a change set has the added, updated and removed objects, old and new", () => {
  const store = new ConfigStore();
  const source = store.addSource("a", 0);
  source.apply({ upserted: [rule("a", "x"), rule("a", "y"), rule("a", "z")], removed: [] });
  const set = source.apply({
    upserted: [rule("a", "x", "2"), rule("a", "y"), rule("a", "new")],
    removed: ["DestinationRule/a/z", "DestinationRule/a/never", "Nothing/a/b"],
  });
  assert.deepEqual(set.added.map((one) => one.meta.name), ["new"]);
  assert.deepEqual(set.updated.map((one) => [one.old.hash, one.new.hash]), [["1", "2"]]);
  assert.deepEqual(set.refreshed.map((one) => one.new.meta.name), ["y"]);
  assert.deepEqual(set.removed.map((one) => one.meta.name), ["z"]);
});

test("listeners get changes and refreshed objects, see the new state, and can unsubscribe", () => {
  const store = new ConfigStore();
  const source = store.addSource("a", 0);
  const seen: number[][] = [];
  const leave = store.subscribe(({ added, refreshed }) => {
    seen.push([store.list("DestinationRule").length, added.length, refreshed.length]);
  });
  source.apply({ upserted: [rule("a", "x")], removed: [] });
  source.apply({ upserted: [rule("a", "x")], removed: [] });
  source.apply({ upserted: [], removed: ["DestinationRule/a/none"] });
  leave();
  source.apply({ upserted: [rule("a", "y")], removed: [] });
  assert.deepEqual(seen, [[1, 1, 0], [1, 0, 1]]);
});

test("removal and addition of one key in one batch is an update", () => {
  const store = new ConfigStore();
  const source = store.addSource("a", 0);
  source.apply({ upserted: [rule("a", "x")], removed: [] });
  const set = source.apply({ upserted: [rule("a", "x", "2")], removed: ["DestinationRule/a/x"] });
  assert.equal(store.get("DestinationRule", "a", "x")?.hash, "2");
  assert.deepEqual([set.removed.length, set.added.length], [0, 0]);
  assert.deepEqual(set.updated.map((one) => [one.old.hash, one.new.hash]), [["1", "2"]]);
});
