/** Several sources in one store: the highest source with an object decides, and gives way when its object goes. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { formatFinding } from "../../lib/finding/finding.ts";
import { hiddenFinding } from "../../lib/config/overlap.ts";
import { type ChangeSet, ConfigStore, type StoreSource } from "../../lib/config/store.ts";
import { type ConfigObject, objectKey } from "../../lib/config/types.ts";

function rule(source: string, name: string, version = 1): ConfigObject<"DestinationRule"> {
  return {
    kind: "DestinationRule",
    key: objectKey("DestinationRule", "x", name),
    meta: { name, namespace: "x", labels: {}, annotations: {}, creationTimestamp: 0 },
    spec: { host: `${source}-${version}` },
    origin: { from: "file", source, file: `${name}.yaml`, line: 1, within: "" },
    hash: `${source}-${version}`,
  };
}

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const hosts = (store: ConfigStore) => store.list("DestinationRule").map((one) => one.spec.host);

test("of one object in two sources the higher one is in force; when it goes, the lower one is back", () => {
  const store = new ConfigStore();
  const low = store.addSource("low", 1);
  const high = store.addSource("high", 0);
  const heard: ChangeSet[] = [];
  store.subscribe((changes) => heard.push(changes));
  low.apply({ upserted: [rule("low", "a"), rule("low", "b")], removed: [] });
  high.apply({ upserted: [rule("high", "a")], removed: [] });
  assert.deepEqual(hosts(store), ["high-1", "low-1"]);
  assert.deepEqual([store.size, low.size, high.size], [2, 2, 1]);
  assert.deepEqual(heard[1]?.updated.map((one) => [one.old.hash, one.new.hash]), [["low-1", "high-1"]]);
  assert.deepEqual(
    store.hidden().map((hidden) => formatFinding(hiddenFinding(hidden))),
    [
      "low/a.yaml:1 DestinationRule x/a: warning: " +
      "DestinationRule x/a is hidden by the object in high/a.yaml:1, which has precedence",
    ],
  );
  high.apply({ upserted: [], removed: ["DestinationRule/x/a"] });
  assert.deepEqual(hosts(store), ["low-1", "low-1"]);
  assert.deepEqual(heard[2]?.updated.map((one) => [one.old.hash, one.new.hash]), [["high-1", "low-1"]]);
  assert.deepEqual(heard[2]?.removed, []);
  assert.deepEqual(store.hidden(), []);
});

test("a change of a hidden object changes nothing in force, and is reported as such", () => {
  const store = new ConfigStore();
  const high = store.addSource("high", 0);
  const low = store.addSource("low", 1);
  high.apply({ upserted: [rule("high", "a")], removed: [] });
  const { added, updated, removed, refreshed, hidden } = low.apply({ upserted: [rule("low", "a")], removed: [] });
  assert.deepEqual([added, updated, removed, refreshed, hidden.before], [[], [], [], [], []]);
  assert.deepEqual(hidden.after.map(({ object, by }) => [object.hash, by.hash]), [["low-1", "high-1"]]);
  const gone = low.apply({ upserted: [], removed: ["DestinationRule/x/a"] });
  assert.deepEqual([gone.hidden.before.length, gone.hidden.after.length, gone.removed.length], [1, 0, 0]);
});

test("if a listener changes the store, all listeners get this change after the present change", () => {
  const store = new ConfigStore();
  const written = store.addSource("written", 0);
  const made = store.addSource("made", 1);
  const first: string[] = [];
  const second: string[] = [];
  store.subscribe(({ added }) => {
    first.push(...added.map((one) => one.meta.name));
    const from = added.find((one) => one.meta.name === "a");
    if (from) made.apply({ upserted: [rule("made", "b")], removed: [] });
  });
  store.subscribe(({ added }) => second.push(...added.map((one) => one.meta.name)));
  written.apply({ upserted: [rule("written", "a")], removed: [] });
  assert.deepEqual([first, second], [["a", "b"], ["a", "b"]]);
});

const step = fc.record({
  source: fc.nat(2),
  upserted: fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.nat(2)), { maxLength: 3 }),
  removed: fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 2 }),
});

test("after any changes of three sources the store is that of a fresh one, and the change sets lead there", () => {
  fc.assert(fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
    const store = new ConfigStore();
    // Added in another order than the order of precedence.
    const sources: StoreSource[] = [];
    for (const rank of [1, 0, 2]) sources[rank] = store.addSource(`s${rank}`, rank);
    const model: Map<string, ConfigObject>[] = [new Map(), new Map(), new Map()];
    const replayed = new Map<string, ConfigObject>();
    store.subscribe(({ added, updated, removed, refreshed }) => {
      for (const { key } of removed) assert.ok(replayed.delete(key));
      for (const { old, new: now } of [...updated, ...refreshed]) {
        assert.equal(replayed.get(now.key), old);
        replayed.set(now.key, now);
      }
      for (const object of added) {
        assert.ok(!replayed.has(object.key));
        replayed.set(object.key, object);
      }
    });
    for (const { source, upserted, removed } of steps) {
      const objects = upserted.map(([name, version]) => rule(`s${source}`, name, version));
      const keys = removed.map((name) => `DestinationRule/x/${name}`);
      sources[source]!.apply({ upserted: objects, removed: keys });
      for (const key of keys) model[source]!.delete(key);
      for (const object of objects) model[source]!.set(object.key, object);
      const all = new Set(model.flatMap((objects) => [...objects.keys()]));
      const expected = [...all].sort().map((key) => model.find((objects) => objects.has(key))!.get(key)!);
      assert.deepEqual(store.list("DestinationRule"), expected);
      assert.deepEqual([...replayed.keys()].sort(), [...all].sort());
      for (const object of expected) assert.equal(replayed.get(object.key), object);
      const covered = model.flatMap((objects) => [...objects.values()]).length - expected.length;
      assert.deepEqual([store.size, store.hidden().length], [expected.length, covered]);
    }
  }));
});
