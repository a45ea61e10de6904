import assert from "node:assert/strict";
import { Code } from "../../lib/grpc/codes.ts";
import { InternedNames } from "../../lib/resource/names.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, SECRET } from "../../lib/xds/protocol/types.ts";
import { calls } from "./support/counting.ts";
import { allocatedBytes } from "./support/memory.ts";
import { ConnectServer } from "./support/connect_server.ts";
import { MemorySource, textResource } from "./support/memory_source.ts";
import { OnDemandSource, type OnDemandView } from "./support/on_demand_source.ts";
import { emptyText, type Received, StreamClient, type StreamClientOptions } from "./support/stream_client.ts";

const names = StreamClient.names;

/** The names of which a response says that there are no endpoints. */
function absent({ resources, removed }: Received): string[] {
  return [...removed, ...[...resources].filter(([name, { value }]) => value === emptyText(name)).map(([name]) => name)];
}

/** A client whose source has the resource `there` of each type, and knows the absence of `gone`. */
function connect(types: readonly string[], delta: boolean, options?: StreamClientOptions) {
  const source = new OnDemandSource(types, ["there", "gone"]);
  for (const type of types) source.decide(type, ["there"], "1");
  return { source, client: new StreamClient<OnDemandView>(source, delta, options) };
}

for (const delta of [true, false]) {
  const variant = delta ? "incremental" : "state of the world";

  Deno.test(`${variant}: of present, pending and absent names the client hears about decided names at once, and about the others later`, () => {
    const { source, client } = connect([ENDPOINTS], delta);
    const asked = ["there", "later", "never", "gone"];
    client.ask(ENDPOINTS, { names: asked });
    const first = client.accept(ENDPOINTS, asked);
    assert.deepEqual(absent(first), ["gone"]);
    assert.equal(first.resources.get("there")?.value, "there=1");
    assert.equal(first.resources.size + first.removed.length, 2);
    assert.equal(client.inbox.length, 0);
    source.decide(ENDPOINTS, ["later"], "1");
    const second = client.accept(ENDPOINTS, asked);
    assert.deepEqual([names(second), second.removed], [["later"], []]);
    source.decide(ENDPOINTS, ["never"], undefined);
    assert.deepEqual(absent(client.accept(ENDPOINTS, asked)), ["never"]);
    assert.equal(client.inbox.length, 0);
    client.close();
  });

  Deno.test(`${variant}: a request of pending names alone is answered with the first decision, even if that is absence`, () => {
    for (const value of ["1", undefined]) {
      const { source, client } = connect([SECRET, ROUTE], delta);
      client.ask(SECRET, { names: ["later", "never"] });
      client.ask(ROUTE, { names: ["there"] });
      assert.deepEqual(client.received.map(({ typeUrl }) => typeUrl), [ROUTE], "other types are not held up");
      source.decide(SECRET, ["later"], value);
      const answer = client.accept(SECRET, ["later", "never"]);
      assert.deepEqual([...answer.resources.keys()], value === undefined ? [] : ["later"]);
      assert.deepEqual(answer.removed, delta && value === undefined ? ["later"] : []);
      client.close();
    }
  });

  Deno.test(`${variant}: a name that stays pending counts as absent after a time, and is sent when it comes yet`, async () => {
    const { source, client } = connect([ENDPOINTS], delta, { wantTimeout: 5 });
    const late = Promise.withResolvers<void>();
    const reconcile = client.stream.reconcile.bind(client.stream);
    client.stream.reconcile = () => {
      reconcile();
      if (client.inbox.length > 0) late.resolve();
    };
    client.ask(ENDPOINTS, { names: ["later"] });
    assert.equal(client.inbox.length, 0);
    await late.promise;
    const answer = client.accept(ENDPOINTS, ["later"]);
    assert.deepEqual(absent(answer), ["later"]);
    source.decide(ENDPOINTS, ["later"], "1");
    assert.deepEqual(names(client.accept(ENDPOINTS, ["later"])), ["later"]);
    client.close();
  });

  Deno.test(`${variant}: who unsubscribes while a name is pending hears nothing of it, and the source may forget it`, () => {
    const { source, client } = connect([ENDPOINTS], delta);
    client.ask(ENDPOINTS, { names: ["there", "later"] });
    const { nonce } = client.take();
    assert.deepEqual(source.wanted(ENDPOINTS), ["later", "there"]);
    client.ask(ENDPOINTS, delta ? { nonce, unsubscribe: ["later"] } : { nonce, names: ["there"] });
    assert.deepEqual(source.wanted(ENDPOINTS), ["there"]);
    source.decide(ENDPOINTS, ["later"], "1");
    client.view.control.answered(ENDPOINTS, ["later"]);
    assert.equal(client.inbox.length, 0);
    client.close();
  });

  Deno.test(`${variant}: the end of a stream releases all that it wants, and ends its wait`, () => {
    const { source, client } = connect([ENDPOINTS, ROUTE], delta);
    client.ask(ENDPOINTS, { names: ["there", "later"] });
    client.ask(ROUTE, { names: ["a", "b"] });
    const sent = client.received.length;
    client.close();
    assert.deepEqual([source.wanted(ENDPOINTS), source.wanted(ROUTE)], [[], []]);
    source.decide(ENDPOINTS, ["later"], "1");
    client.view.control.answered(ENDPOINTS);
    assert.equal(client.received.length, sent);
    // A left-over timer fails this test.
  });

  Deno.test(`${variant}: the wildcard is wanted as "*"; while it is pending a first answer is not given`, () => {
    const { source, client } = connect([LISTENER, CLUSTER], delta);
    source.decide(LISTENER, ["there"], undefined);
    client.ask(LISTENER);
    assert.deepEqual([source.wanted(LISTENER), client.inbox.length], [["*"], 0]);
    source.decide(LISTENER, ["*"], undefined);
    assert.deepEqual(names(client.accept(LISTENER)), []);
    client.ask(CLUSTER, { names: ["*", "there"] });
    assert.deepEqual(source.wanted(CLUSTER), ["*", "there"]);
    client.close();
  });

  Deno.test(`${variant}: names that many streams want are looked up once each`, () => {
    const source = new OnDemandSource([ENDPOINTS]);
    const asked = Array.from({ length: 50 }, (_, i) => `n${i}`);
    const table = new InternedNames();
    const clients = Array.from({ length: 20 }, () => new StreamClient<OnDemandView>(source, delta, { names: table }));
    for (const client of clients) client.ask(ENDPOINTS, { names: asked });
    assert.equal(source.lookups.length, 50);
    source.decide(ENDPOINTS, asked, "1");
    for (const client of clients) assert.equal(client.accept(ENDPOINTS, asked).resources.size, 50);
    for (const client of clients.slice(1)) client.close();
    assert.equal(source.wanted(ENDPOINTS).length, 50, "one stream still wants them");
    clients[0]!.close();
    assert.equal(source.wanted(ENDPOINTS).length, 0);
  });

  Deno.test(`${variant}: a view that leaves nothing pending is asked once a request, and its names are not gone through`, () => {
    const asked = Array.from({ length: 1000 }, (_, i) => `n${i}`);
    const cost = (withWant: boolean) => {
      const source = new MemorySource().change(
        ENDPOINTS,
        asked.map((name) => textResource(ENDPOINTS, name, `${name}=1`)),
      );
      let asks = 0;
      const want = () => (asks++, []);
      const make = () => Object.assign(source.connect({ node: { id: "c" } } as never), withWant ? { want } : {});
      const client = new StreamClient({ table: source.table, connect: make }, delta);
      const iterations = calls(Map.prototype, ["get", "set", "has", "delete"]);
      const sets = calls(Set.prototype, ["has", "add"]);
      client.ask(ENDPOINTS, { names: asked });
      while (client.inbox.length > 0) client.accept(ENDPOINTS, asked);
      const count = iterations.stop() + sets.stop();
      client.close();
      return { count, asks };
    };
    cost(true);
    const [without, withWant] = [cost(false), cost(true)];
    assert.deepEqual([without.asks, withWant.asks], [0, 1]);
    assert.ok(withWant.count - without.count < 20, JSON.stringify({ without, withWant }));
  });
}

const service = (i: number) => `outbound|80||svc-${i}.example.com`;

/** Ways to want and decide many names. */
const WAYS: Record<string, (size: number) => StreamClient<OnDemandView>> = {
  "incremental, together": (size) => together(size, true),
  "state of the world, together": (size) => together(size, false),
  "one by one": (size) => {
    const { source, client } = connect([ENDPOINTS], true);
    for (let i = 0; i < size; i++) client.ask(ENDPOINTS, { names: [service(i)] });
    for (let i = 0; i < size; i++) source.decide(ENDPOINTS, [service(i)], undefined);
    while (client.inbox.length > 0) client.accept();
    return client;
  },
};

function together(size: number, delta: boolean): StreamClient<OnDemandView> {
  const { source, client } = connect([ENDPOINTS], delta);
  const all = Array.from({ length: size }, (_, i) => service(i));
  client.ask(ENDPOINTS, { names: all });
  source.decide(ENDPOINTS, all, "1");
  while (client.inbox.length > 0) client.accept(ENDPOINTS, all);
  return client;
}

for (const [what, way] of Object.entries(WAYS)) {
  Deno.test(`10,000 pending names cost at most 2.2 times what 5,000 cost: ${what}`, () => {
    const cost = (size: number) => {
      const maps = calls(Map.prototype, ["get", "set", "has", "delete"]);
      const sets = calls(Set.prototype, ["has", "add"]);
      const before = allocatedBytes();
      const client = way(size);
      const operations = maps.stop() + sets.stop();
      client.close();
      return { operations, bytes: allocatedBytes() - before };
    };
    // Allocations of the compiler during warm-up count for nobody: the least of some runs has none.
    const least = (size: number) => {
      const runs = Array.from({ length: 3 }, () => cost(size));
      return { operations: runs[0]!.operations, bytes: Math.min(...runs.map(({ bytes }) => bytes)) };
    };
    cost(100);
    const [half, whole] = [least(5000), least(10_000)];
    const figures = JSON.stringify({ half, whole });
    assert.ok(whole.operations < 2.2 * half.operations, figures);
    assert.ok(whole.bytes < 2.2 * half.bytes, figures);
  });
}

Deno.test("state of the world: clusters wait until all wanted clusters are decided, because missing clusters would be deleted", () => {
  const { source, client } = connect([CLUSTER], false);
  client.ask(CLUSTER, { names: ["there"] });
  client.accept(CLUSTER, ["there"]);
  const { nonce } = client.received[0]!;
  client.ask(CLUSTER, { names: ["there", "later", "never"], nonce });
  assert.equal(client.inbox.length, 0);
  source.decide(CLUSTER, ["later"], "1");
  assert.equal(client.inbox.length, 0);
  source.decide(CLUSTER, ["never"], undefined);
  assert.deepEqual(names(client.accept(CLUSTER, ["there", "later", "never"])), ["later", "there"]);
  client.close();
});

Deno.test("state of the world: a client that begins anew is answered anew, still without pending clusters", () => {
  const { source, client } = connect([ENDPOINTS], false);
  client.ask(ENDPOINTS, { names: ["later"] });
  client.ask(ENDPOINTS, { names: ["later"] });
  assert.equal(client.inbox.length, 0);
  source.decide(ENDPOINTS, ["later"], "1");
  assert.deepEqual(names(client.accept(ENDPOINTS, ["later"])), ["later"]);
  client.close();
});

Deno.test("incremental: a returning client does not hear that a pending resource is gone", () => {
  const { source, client } = connect([ENDPOINTS, LISTENER], true);
  client.ask(ENDPOINTS, { names: ["later", "there"], versions: { later: "1", gone: "1" } });
  assert.deepEqual(client.accept(ENDPOINTS).removed, ["gone"]);
  source.decide(LISTENER, ["*"], undefined);
  client.ask(LISTENER, { versions: { later: "1", gone: "1" } });
  assert.deepEqual(source.wanted(LISTENER), ["*", "gone", "later"]);
  source.decide(LISTENER, ["*"], undefined);
  assert.deepEqual(client.accept(LISTENER).removed, ["gone"]);
  source.decide(LISTENER, ["later"], undefined);
  assert.deepEqual(client.accept(LISTENER).removed, ["later"]);
  source.decide(ENDPOINTS, ["later"], undefined);
  assert.deepEqual(client.accept(ENDPOINTS).removed, ["later"]);
  client.close();
});

Deno.test("incremental: a name that is unsubscribed under a wildcard is answered though others of the request are pending", () => {
  const { source, client } = connect([ENDPOINTS], true);
  client.ask(ENDPOINTS, { names: ["*", "gone"] });
  assert.deepEqual(client.accept().removed, ["gone"]);
  client.ask(ENDPOINTS, { names: ["later"], unsubscribe: ["gone"] });
  assert.deepEqual(client.accept().removed, ["gone"]);
  source.decide(ENDPOINTS, ["later"], undefined);
  assert.deepEqual(client.accept().removed, ["later"]);
  client.close();
});

Deno.test("a source that decides while it is asked, and says that it will decide later, has decided", () => {
  for (const decided of [undefined, ["later"]]) {
    const { source, client } = connect([ENDPOINTS], true);
    const want = client.view.want.bind(client.view);
    client.view.want = (typeUrl, asked) => {
      const pending = want(typeUrl, asked);
      client.view.control.answered(typeUrl, decided);
      return pending;
    };
    source.decide(ENDPOINTS, ["later"], undefined);
    client.ask(ENDPOINTS, { names: ["later"] });
    assert.deepEqual(client.accept().removed, ["later"]);
    client.close();
  }
});

Deno.test("an answer looks at its own type alone, and at names that were never pending too", () => {
  const { source, client } = connect([ENDPOINTS, ROUTE], true);
  client.ask(ENDPOINTS, { names: ["there"] });
  client.ask(ROUTE, { names: ["there"] });
  while (client.inbox.length > 0) client.accept();
  const { reads } = client.view;
  const before = reads.count;
  source.decide(ENDPOINTS, ["there"], "2");
  assert.deepEqual([names(client.take()), reads.count - before], [["there"], 1]);
  client.close();
});

Deno.test("pending names count as names of the stream", () => {
  const { client } = connect([ENDPOINTS], true);
  const long = "n".repeat(1 << 20);
  const refused = { code: Code.RESOURCE_EXHAUSTED };
  assert.throws(() => {
    for (let i = 0; i < 12; i++) client.ask(ENDPOINTS, { names: [long + i] });
  }, refused);
  client.close();
});

Deno.test("a view revoked while names are pending ends the stream, and an answer that comes later means nothing", async () => {
  const source = new OnDemandSource([ENDPOINTS]);
  await using at = new ConnectServer({}, source);
  at.source.atOnce.add("1");
  at.ask(1, ENDPOINTS, 0, ["later"]);
  assert.deepEqual(source.wanted(ENDPOINTS), ["later"]);
  at.connectOf(1).control.revoke(Code.PERMISSION_DENIED, "the account was deleted");
  assert.deepEqual(source.wanted(ENDPOINTS), []);
  at.connectOf(1).control.answered(ENDPOINTS);
  await at.client.read();
  assert.deepEqual([at.end(1)[0], at.received(1), at.client.late, at.errors], ["status 7", [], 0, []]);
});

Deno.test("over the wire a decision is sent by the push queue, without any push", async () => {
  const source = new OnDemandSource([ENDPOINTS]);
  await using at = new ConnectServer({}, source);
  for (const stream of [1, 3]) {
    at.source.atOnce.add(String(stream));
    at.ask(stream, ENDPOINTS, 0, ["later"]);
  }
  await at.client.read();
  assert.deepEqual(at.received(1), []);
  source.decide(ENDPOINTS, ["later"], "1");
  await at.client.until(() => at.received(1).length > 0 && at.received(3).length > 0);
  assert.deepEqual([at.received(1), at.received(3)], [[ENDPOINTS], [ENDPOINTS]]);
});

Deno.test("a cluster asked for by name that goes and comes back before listeners have settled is at the client", () => {
  const source = new OnDemandSource([CLUSTER, LISTENER], []);
  source.decide(CLUSTER, ["a"], "1");
  const client = new StreamClient<OnDemandView>(source, true);
  client.ask(CLUSTER, { names: ["a"] });
  client.ask(LISTENER, { names: ["*"] });
  source.decide(CLUSTER, ["a"], undefined);
  client.accept(CLUSTER);
  source.decide(CLUSTER, ["a"], "1");
  source.decide(LISTENER, ["*"], undefined);
  while (client.inbox.length > 0) client.accept();
  assert.deepEqual([...client.has.get(CLUSTER) ?? []].map(([name]) => name), ["a"]);
  client.close();
});
