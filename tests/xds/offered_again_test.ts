/** Rejected resources are offered again after a time, and nothing else of the type waits for them. */
import assert from "node:assert/strict";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, typeRules, VIRTUAL_HOST } from "../../lib/xds/protocol/types.ts";
import { MemorySource, textResource } from "./support/memory_source.ts";
import { emptyText, StreamClient } from "./support/stream_client.ts";

const resource = (type: string, name: string, value = 1) => textResource(type, name, `${name}=${value}`);

function client(type: string, delta: boolean, names: readonly string[], version = "") {
  const source = new MemorySource().change(type, names.map((name) => resource(type, name)));
  const one = new StreamClient(source, delta);
  one.ask(type, { version });
  return { one, source, has: () => [...one.has.get(type)?.keys() ?? []].sort() };
}

for (const [variant, delta] of [["incremental", true], ["state of the world", false]] as const) {
  Deno.test(`${variant}: a rejected listener that the client names is left out, the others are sent, and it is accepted later`, () => {
    const { one, has } = client(LISTENER, delta, ["a", "b", "c"]);
    one.reject(LISTENER, "Error adding/updating listener(s) b: cannot bind '0.0.0.0:80': Address already in use");
    one.accept(LISTENER);
    assert.deepEqual([has(), one.inbox.length], [["a", "c"], 0]);
    assert.equal(one.pass(), 10_000);
    assert.ok(one.inbox[0]!.resources.has("b"));
    one.accept(LISTENER);
    assert.deepEqual([has(), one.stream.refusals.refuses, one.laters.size], [["a", "b", "c"], false, 0]);
  });

  Deno.test(`${variant}: each offer waits twice as long as the offer before, and the same rejection is not reported again`, () => {
    const { one } = client(LISTENER, delta, ["a", "b"]);
    const words = "b: Address already in use";
    one.reject(LISTENER, words);
    one.accept(LISTENER);
    const waited = Array.from({ length: 8 }, () => {
      const time = one.pass();
      one.reject(LISTENER, words);
      while (one.inbox.length > 0) one.accept(LISTENER);
      return time;
    });
    assert.deepEqual(waited, [10, 20, 40, 80, 160, 300, 300, 300].map((seconds) => 1000 * seconds));
    assert.deepEqual(one.rejects.map(({ repeated }) => repeated), [false, ...waited.map(() => true)]);
  });

  Deno.test(`${variant}: a closed stream offers nothing`, () => {
    const { one } = client(LISTENER, delta, ["a"]);
    one.reject(LISTENER, "a is bad");
    one.close();
    assert.equal(one.laters.size, 0);
  });

  Deno.test(`${variant}: an edit of a rejected resource is sent at once`, () => {
    const { one, source, has } = client(LISTENER, delta, ["a", "b"]);
    one.reject(LISTENER, "b is bad");
    one.accept(LISTENER);
    source.change(LISTENER, [resource(LISTENER, "b", 2)]);
    one.stream.reconcile();
    one.accept(LISTENER);
    assert.deepEqual([has(), one.laters.size], [["a", "b"], 0]);
  });
}

Deno.test("incremental: one bad cluster of 711, not named by the client, is found, and all others are sent", () => {
  const names = Array.from({ length: 711 }, (_, i) => `c${i}`);
  const { one, has } = client(CLUSTER, true, names);
  assert.equal(one.inbox[0]!.resources.size, 711, "the first response has all");
  while (one.inbox.length > 0) {
    if (one.inbox[0]!.resources.has("c300")) one.reject(CLUSTER, "Proto constraint validation failed");
    else one.accept(CLUSTER);
  }
  assert.deepEqual(has(), names.filter((name) => name !== "c300").sort());
  assert.ok(one.received.length < 30, `${one.received.length} responses`);
});

Deno.test("state of the world: nothing is left out for a client that has resources from an earlier stream", () => {
  const { one } = client(LISTENER, false, ["a", "b"], "17");
  one.reject(LISTENER, "b is bad");
  assert.equal(one.inbox.length, 0, "without b the client would drop the b that it may have");
  one.pass();
  assert.deepEqual(StreamClient.names(one.accept(LISTENER)), ["a", "b"]);
});

Deno.test("state of the world: a listener that was accepted before stays in its accepted version", () => {
  const { one, source } = client(LISTENER, false, ["a", "b"], "17");
  one.accept(LISTENER);
  source.change(LISTENER, [resource(LISTENER, "a", 2), resource(LISTENER, "b", 2)]);
  one.stream.reconcile();
  one.reject(LISTENER, "b is bad");
  const values = [...one.accept(LISTENER).resources.values()].map(({ value }) => value);
  assert.deepEqual(values.sort(), ["a=2", "b=1"]);
});

Deno.test("a late rejection is not offered again: the client already has the rejected resource", () => {
  const source = new MemorySource().change(ENDPOINTS, [resource(ENDPOINTS, "a")]);
  const one = new StreamClient(source, true);
  one.ask(ENDPOINTS, { names: ["a"] });
  const { nonce } = one.accept(ENDPOINTS);
  one.ask(ENDPOINTS, { nonce, error: "no module" });
  one.pass();
  assert.equal(one.inbox.length, 0);
});

Deno.test("the replacement of a virtual host is sent at once, not with the next push", () => {
  const host = resource(VIRTUAL_HOST, "80/x");
  const source = new MemorySource().change(ROUTE, [resource(ROUTE, "80")]).changeHosts("80", [host]);
  const one = new StreamClient(source, true);
  one.ask(ROUTE, { names: ["80"] });
  one.accept();
  one.ask(VIRTUAL_HOST);
  one.reject(VIRTUAL_HOST, "80/x is bad");
  source.hosts.set("80", source.table.from([resource(VIRTUAL_HOST, "80/x", 2)]));
  one.stream.answered(VIRTUAL_HOST, undefined);
  one.stream.reconcile();
  assert.deepEqual(StreamClient.names(one.accept(VIRTUAL_HOST)), ["80/x"]);
});

for (const type of [ENDPOINTS, ROUTE]) {
  Deno.test(`${typeRules(type).short}: a rejected resource that the client asks for again is sent again, and was never said to be gone`, () => {
    const source = new MemorySource().change(type, [resource(type, "a"), resource(type, "b")]);
    const one = new StreamClient(source, true);
    one.ask(type, { names: ["a", "b"] });
    one.reject(type, "a is bad");
    one.accept(type);
    one.ask(type, { names: ["a"] });
    assert.deepEqual([...one.reject(type, "a is bad").resources.keys()], ["a"]);
    one.ask(type, { names: ["a", "b"] });
    one.accept(type);
    assert.deepEqual([[...one.has.get(type)!.keys()].sort(), one.inbox.length], [["a", "b"], 0]);
    assert.deepEqual(one.received.flatMap(({ removed }) => removed), []);
  });

  Deno.test(`${typeRules(type).short}: a client that asks again for a resource of which it rejected the new version gets its earlier version`, () => {
    const source = new MemorySource().change(type, [resource(type, "a"), resource(type, "b")]);
    const one = new StreamClient(source, true);
    one.ask(type, { names: ["a"] });
    one.accept(type);
    source.change(type, [resource(type, "a", 2)]);
    one.stream.reconcile();
    one.reject(type, "a is bad");
    one.ask(type, { names: ["a", "b"] });
    const { resources, removed } = one.accept(type);
    assert.deepEqual([[...resources.values()].map(({ value }) => value).sort(), removed], [["a=1", "b=1"], []]);
    one.pass();
    assert.equal(one.accept(type).resources.get("a")!.value, "a=2");
  });
}

for (const [variant, delta] of [["incremental", true], ["state of the world", false]] as const) {
  Deno.test(`${variant}: endpoints that a changed cluster waits for come again in the version that the client took`, () => {
    const cluster = (value: number) => textResource(CLUSTER, "a", `a=${value}`, { warms: ["a"] });
    const source = new MemorySource().change(CLUSTER, [cluster(1)]).change(ENDPOINTS, [resource(ENDPOINTS, "a")]);
    const one = new StreamClient(source, delta);
    one.ask(CLUSTER);
    one.accept(CLUSTER);
    one.ask(ENDPOINTS, { names: ["a"] });
    one.accept(ENDPOINTS, ["a"]);
    source.change(ENDPOINTS, [resource(ENDPOINTS, "a", 2)]);
    one.stream.reconcile();
    one.reject(ENDPOINTS, "a is bad", ["a"]);
    source.change(CLUSTER, [cluster(2)]).change(ENDPOINTS, [resource(ENDPOINTS, "other")]);
    one.stream.reconcile();
    one.accept(CLUSTER);
    const { resources, removed } = one.accept(ENDPOINTS, ["a"]);
    assert.deepEqual([[...resources.values()].map(({ value }) => value), removed], [["a=1"], []]);
  });

  Deno.test(`${variant}: endpoints that the client rejected are offered to a changed cluster that waits for them`, () => {
    const cluster = (value: number) => textResource(CLUSTER, "a", `a=${value}`, { warms: ["a"] });
    const source = new MemorySource().change(CLUSTER, [cluster(1)]).change(ENDPOINTS, [resource(ENDPOINTS, "a")]);
    const one = new StreamClient(source, delta);
    one.ask(CLUSTER);
    one.accept(CLUSTER);
    one.ask(ENDPOINTS, { names: ["a"] });
    one.reject(ENDPOINTS, "a is bad", ["a"]);
    source.change(CLUSTER, [cluster(2)]);
    one.stream.reconcile();
    assert.equal(one.accept(ENDPOINTS, ["a"]).resources.get("a")!.value, "a=1");
  });

  Deno.test(`${variant}: the absence of a name in a rejected response is said again`, () => {
    const source = new MemorySource().change(ENDPOINTS, [resource(ENDPOINTS, "a")]);
    const one = new StreamClient(source, delta);
    const names = ["a", "gone"];
    one.ask(ENDPOINTS, { names });
    one.reject(ENDPOINTS, "a is bad", names);
    const { resources, removed } = one.accept(ENDPOINTS, names);
    const empty = [...resources.values()].map(({ value }) => value);
    assert.deepEqual([empty, removed], delta ? [[], ["gone"]] : [[emptyText("gone")], []]);
    assert.equal(one.inbox.length, 0);
  });

  Deno.test(`${variant}: the rejected removal of all that a client has from an earlier stream is offered again`, () => {
    const one = new StreamClient(new MemorySource().serve(LISTENER), delta);
    one.ask(LISTENER, delta ? { versions: { a: "1" } } : { version: "1" });
    one.reject(LISTENER, "no");
    assert.equal(one.inbox.length, 0);
    one.pass();
    const { resources, removed } = one.accept(LISTENER);
    assert.deepEqual([resources.size, removed], [0, delta ? ["a"] : []]);
    assert.deepEqual([one.accepted, one.laters.size], [[LISTENER], 0]);
  });
}

Deno.test("state of the world: once a client has taken all, a bad new listener is left out although the client came with earlier resources", () => {
  const { one, source } = client(LISTENER, false, ["a"], "17");
  one.accept(LISTENER);
  source.change(LISTENER, [resource(LISTENER, "a", 2), resource(LISTENER, "b")]);
  one.stream.reconcile();
  one.reject(LISTENER, "b is bad");
  assert.deepEqual([...one.accept(LISTENER).resources.values()].map(({ value }) => value), ["a=2"]);
});
