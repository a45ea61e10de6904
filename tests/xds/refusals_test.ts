/** A client's rejected resources are not in force there. Its acknowledged resources are, despite other rejections. */
import assert from "node:assert/strict";
import { PushLedger } from "../../lib/xds/ledger.ts";
import { CLUSTER, ENDPOINTS } from "../../lib/xds/protocol/types.ts";
import { MemorySource, textResource } from "./support/memory_source.ts";
import { StreamClient } from "./support/stream_client.ts";

const cause = (name: string) => `ServiceEntry/x/${name}`;
const resource = (type: string, name: string, value: number) =>
  textResource(type, name, `${name}=${value}`, { causes: [cause(name)] });

/** Why a client lacks objects, by object. */
const lacked = (one: StreamClient) => Object.fromEntries(new Map(one.stream.refusals.lacked()));

function client(type: string, delta: boolean, names: string[], versions?: Record<string, string>) {
  const source = new MemorySource().change(type, names.map((name) => resource(type, name, 1)));
  const one = new StreamClient(source, delta);
  const isWhole = type === CLUSTER;
  one.ask(type, { names: isWhole ? [] : names, ...(versions && { versions }) });
  const change = (name: string, value: number) => {
    source.change(type, [resource(type, name, value)]);
    one.stream.reconcile();
  };
  return { one, change, source };
}

for (const [variant, delta] of [["incremental", true], ["state of the world", false]] as const) {
  Deno.test(`${variant}: a rejection of the first response that names nothing counts against all of it`, () => {
    const { one } = client(CLUSTER, delta, ["a", "b", "c"]);
    one.reject(CLUSTER, "Proto constraint validation failed");
    for (const name of ["a", "b", "c"]) assert.notEqual(one.stream.refusals.lacks(cause(name)), undefined);
    while (one.inbox.length > 0) one.reject(CLUSTER, "Proto constraint validation failed");
    assert.equal(one.stream.refusals.refuses, true);
    const words = one.rejects[0]!.message;
    for (const name of ["a", "b", "c"]) assert.equal(one.stream.refusals.lacks(cause(name)), words);
    assert.equal(one.stream.refusals.lacks(cause("other")), undefined);
  });

  Deno.test(`${variant}: after a late rejection only the objects with a missing resource are not in force`, () => {
    const { one, change } = client(CLUSTER, delta, ["a", "b", "c"]);
    one.accept(CLUSTER);
    change("b", 2);
    one.reject(CLUSTER, "no good");
    assert.deepEqual(lacked(one), { [cause("b")]: "no good" });
    change("a", 2);
    assert.equal(one.stream.refusals.lacks(cause("c")), undefined, "c is as it was acknowledged");
    assert.notEqual(one.stream.refusals.lacks(cause("b")), undefined, "b is on its way again and was never taken");
    while (one.inbox.length > 0) one.accept(CLUSTER);
    change("b", 3);
    while (one.inbox.length > 0) one.accept(CLUSTER);
    assert.deepEqual([lacked(one), one.stream.refusals.refuses], [{}, false]);
  });

  Deno.test(`${variant}: a resource that the client names is lacking, with the client's words, and its neighbours are acknowledged`, () => {
    const names = ["a", "b", "c"];
    const { one, change } = client(ENDPOINTS, delta, names);
    one.reject(ENDPOINTS, "b is bad", names);
    assert.equal(one.stream.refusals.lacks(cause("a")), "", "not known yet");
    assert.equal(one.stream.refusals.lacks(cause("b")), "b is bad");
    one.accept(ENDPOINTS, names);
    assert.deepEqual(lacked(one), { [cause("b")]: "b is bad" });
    change("c", 2);
    one.accept(ENDPOINTS, names);
    assert.deepEqual(lacked(one), { [cause("b")]: "b is bad" }, "another acknowledgement does not count for it");
    change("b", 2);
    one.accept(ENDPOINTS, names);
    assert.deepEqual([lacked(one), one.accepted], [{}, [ENDPOINTS]]);
  });

  Deno.test(`${variant}: while a bad one is looked for, nothing is said of the others`, () => {
    const names = Array.from({ length: 64 }, (_, i) => `n${i}`);
    const { one } = client(ENDPOINTS, delta, names);
    one.reject(ENDPOINTS, "one of them is bad", names);
    for (const name of names) assert.equal(one.stream.refusals.lacks(cause(name)), "");
    while (one.inbox.length > 0) {
      if (one.inbox[0]!.resources.has("n17")) one.reject(ENDPOINTS, "one of them is bad", names);
      else one.accept(ENDPOINTS, names);
    }
    assert.deepEqual(lacked(one), { [cause("n17")]: "one of them is bad" });
  });
}

Deno.test("a returning client without its rejected resource does not have the resource", () => {
  const { one } = client(CLUSTER, true, ["a", "b"]);
  one.reject(CLUSTER, "a is bad");
  const { resources } = one.accept(CLUSTER);
  assert.deepEqual(lacked(one), { [cause("a")]: "a is bad" });
  const versions = Object.fromEntries([...resources].map(([name, { version }]) => [name, version]));
  const again = client(CLUSTER, true, ["a", "b"], versions).one;
  assert.deepEqual(StreamClient.names(again.inbox[0]!), ["a"]);
  again.reject(CLUSTER, "it is bad");
  assert.deepEqual(lacked(again), { [cause("a")]: "it is bad" });
});

Deno.test("what a removal would take away is lacking as long as the removal is rejected", () => {
  const { one, source } = client(CLUSTER, true, ["a", "b"]);
  one.accept(CLUSTER);
  source.change(CLUSTER, [], ["a"]);
  one.stream.reconcile();
  one.reject(CLUSTER, "it is in use");
  assert.deepEqual(lacked(one), { [cause("a")]: "it is in use" });
});

Deno.test("an object counts on each proxy by what that proxy lacks, and waiting for it ends when all have spoken", async () => {
  const ledger = new PushLedger();
  const lacks = new Map<string, string>();
  const refusals = {
    get refuses() {
      return lacks.size > 0;
    },
    lacks: (key: string) => lacks.get(key),
    lacked: () => lacks,
  };
  const [good, bad] = [ledger.join("good"), ledger.join("bad", () => false, refusals)];
  ledger.begin({ id: 1, reasons: {}, objects: [], full: true, startedAt: Date.now() });
  const waits = ledger.waitLive(1, 60_000, { object: "o" });
  ledger.settled(good!);
  lacks.set("o", "");
  ledger.settled(bad!);
  assert.deepEqual(ledger.reach("o", 1), { live: 1, total: 2, failing: 0, refused: 0, words: [] });
  lacks.set("o", "no");
  ledger.settled(bad!);
  assert.equal(await waits, false);
  assert.deepEqual(ledger.reach("o", 1), { live: 1, total: 2, failing: 0, refused: 1, words: ["no"] });
  assert.deepEqual(ledger.reach("other", 1), { live: 2, total: 2, failing: 0, refused: 0, words: [] });
  assert.deepEqual(ledger.synced(), { synced: 1, total: 2, failing: 0, refusing: 1 });
});

Deno.test("a rejected response that was asked for counts against all pushes so far", () => {
  const ledger = new PushLedger();
  const stream = ledger.join("a");
  const push = (id: number) => ledger.begin({ id, reasons: {}, objects: [], full: true, startedAt: Date.now() });
  push(1);
  push(2);
  ledger.responded(stream, { typeUrl: CLUSTER, resources: 1, removed: 0, bytes: 1, asked: true });
  const info = { code: 13, message: "no", repeated: false, late: false, resources: [], causes: [] };
  ledger.rejected(stream, { ...info, typeUrl: CLUSTER });
  ledger.settled(stream);
  push(3);
  ledger.settled(stream);
  assert.deepEqual([1, 2, 3].map((id) => ledger.live(id).live), [0, 0, 1]);
  ledger.accepted(stream, CLUSTER);
  assert.deepEqual([1, 2, 3].map((id) => ledger.live(id).live), [1, 1, 1]);
});
