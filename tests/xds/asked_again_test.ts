/**
 * Clients that ask for names that they have, while resources come, go and swap their names: a client never keeps a
 * resource that is gone.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { ENDPOINTS, LISTENER, ROUTE, VIRTUAL_HOST } from "../../lib/xds/protocol/types.ts";
import { MemorySource, textResource } from "./support/memory_source.ts";
import { emptyText, StreamClient } from "./support/stream_client.ts";
import { runs } from "../properties.ts";

const RUNS = runs(500);

const POOL = ["a", "b", "c", "d"];
const anyName = fc.constantFrom(...POOL);

const event = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("put" as const),
      name: anyName,
      value: fc.nat(2),
      aliases: fc.uniqueArray(anyName, { maxLength: 2 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("remove" as const), name: anyName }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("ask" as const), name: anyName }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("unsubscribe" as const), name: anyName }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("push", "accept", "reject", "ask all" as const) }) },
);
type AskedAgainEvent = typeof event extends fc.Arbitrary<infer T> ? T : never;

/** A client of the virtual hosts of one route configuration. */
class HostsClient {
  readonly source = new MemorySource().serve(ROUTE);
  readonly client = new StreamClient(this.source, true, { maxResponseBytes: 60 });
  readonly #aliases = new Map<string, readonly string[]>();

  constructor() {
    this.client.ask(ROUTE, { names: ["r"] });
    this.client.ask(VIRTUAL_HOST, { names: ["*"] });
  }

  step(event: AskedAgainEvent): void {
    const { client } = this;
    if (event.do === "put") this.put(event.name, event.value, event.aliases);
    else if (event.do === "remove") this.remove(event.name);
    else if (event.do === "ask") client.ask(VIRTUAL_HOST, { names: [`r/${event.name}`] });
    else if (event.do === "unsubscribe") client.ask(VIRTUAL_HOST, { unsubscribe: [`r/${event.name}`] });
    else if (event.do === "ask all") client.ask(VIRTUAL_HOST, { names: ["*"] });
    else if (event.do === "push") client.stream.reconcile();
    else if (client.inbox.length > 0) {
      const { typeUrl } = client.inbox[0]!;
      if (event.do === "reject" && typeUrl === VIRTUAL_HOST) client.reject(typeUrl, "bad");
      else client.accept(typeUrl);
    }
  }

  /** A name belongs to one resource at most. */
  put(name: string, value: number, others: readonly string[]): void {
    const aliases = others.filter((other) => other !== name);
    const names = new Set([name, ...aliases]);
    for (const [owner, its] of this.#aliases) {
      if (owner !== name && (names.has(owner) || its.some((one) => names.has(one)))) this.remove(owner);
    }
    this.#aliases.set(name, aliases);
    const facts = { aliases: aliases.map((alias) => `r/${alias}`) };
    this.source.changeHosts("r", [textResource(VIRTUAL_HOST, `r/${name}`, `r/${name}=${value}`, facts)]);
  }

  remove(name: string): void {
    this.#aliases.delete(name);
    this.source.changeHosts("r", [], [`r/${name}`]);
  }

  /** The client takes everything. @returns what the client has, and what it should have */
  settle(): [has: string[], wants: string[]] {
    // What was rejected is offered again beside a change.
    this.source.changeHosts("r", [textResource(VIRTUAL_HOST, "r/last", "r/last=1")]);
    for (const name of this.#aliases.keys()) this.put(name, 9, []);
    this.client.stream.reconcile();
    while (this.client.inbox.length > 0) this.client.accept();
    const has = [...this.client.has.get(VIRTUAL_HOST) ?? []].map(([, { value }]) => value).sort();
    return [
      has,
      [...["last=1"], ...[...this.#aliases.keys()].map((name) => `${name}=9`)].map((one) => `r/${one}`).sort(),
    ];
  }
}

Deno.test("whatever a client asks for again, it ends with the present resources, and with no other", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 25, size: "max" }), (events) => {
      const hosts = new HostsClient();
      for (const event of events) hosts.step(event);
      const [has, wants] = hosts.settle();
      assert.deepEqual(has, wants);
      hosts.client.close();
    }),
    { numRuns: RUNS },
  );
});

Deno.test("a resource that goes after the client asked for it again goes, although its name is another one's further name", () => {
  for (const asked of ["r/a", "r/alias", "*"]) {
    const hosts = new HostsClient();
    hosts.client.accept(VIRTUAL_HOST);
    hosts.put("a", 1, ["alias"]);
    hosts.client.stream.reconcile(); // in flight
    hosts.client.ask(VIRTUAL_HOST, { names: [asked] });
    hosts.remove("a");
    hosts.put("b", 1, ["a", "alias"]);
    hosts.client.accept(VIRTUAL_HOST);
    const { resources, removed } = hosts.client.accept(VIRTUAL_HOST);
    assert.deepEqual([[...resources.keys()], removed], [["r/b"], ["r/a"]], asked);
    hosts.client.close();
  }
});

Deno.test("a client that rejects the news hears of the removal again", () => {
  const hosts = new HostsClient();
  hosts.client.accept(VIRTUAL_HOST);
  hosts.put("a", 1, []);
  hosts.client.stream.reconcile();
  hosts.client.ask(VIRTUAL_HOST, { names: ["r/a"] });
  hosts.remove("a");
  hosts.put("b", 1, ["a"]);
  hosts.client.accept(VIRTUAL_HOST);
  assert.deepEqual(hosts.client.reject(VIRTUAL_HOST, "bad").removed, ["r/a"]);
  hosts.put("b", 2, ["a"]);
  hosts.client.stream.reconcile();
  assert.deepEqual(hosts.client.accept(VIRTUAL_HOST).removed, ["r/a"]);
  hosts.client.close();
});

Deno.test("a virtual host that goes before its route configuration is asked for again goes from the client", () => {
  const hosts = new HostsClient();
  hosts.client.accept(VIRTUAL_HOST);
  hosts.put("a", 1, []);
  hosts.client.stream.reconcile();
  hosts.client.accept(VIRTUAL_HOST);
  hosts.remove("a");
  hosts.client.ask(ROUTE, { names: ["r"] });
  while (hosts.client.inbox.length > 0) hosts.client.accept();
  assert.deepEqual([...hosts.client.has.get(VIRTUAL_HOST) ?? []], []);
  hosts.client.close();
});

Deno.test("a virtual host that is on its way while its route configuration is dropped and asked for again goes from the client", () => {
  const hosts = new HostsClient();
  hosts.client.accept(VIRTUAL_HOST);
  hosts.put("a", 1, []);
  hosts.client.stream.reconcile(); // in flight
  hosts.client.ask(ROUTE, { unsubscribe: ["r"] });
  hosts.remove("a");
  hosts.client.ask(ROUTE, { names: ["r"] });
  while (hosts.client.inbox.length > 0) hosts.client.accept();
  assert.deepEqual([...hosts.client.has.get(VIRTUAL_HOST) ?? []], []);
  hosts.client.close();
});

Deno.test("a name is said to be gone to a client that asked for it, when its resource goes before its part of the answer", () => {
  const resources = ["a", "b"].map((name) => textResource(ENDPOINTS, name, `${name}=1`));
  for (const delta of [true, false]) {
    const source = new MemorySource().change(ENDPOINTS, resources);
    const client = new StreamClient(source, delta, { maxResponseBytes: 1 });
    client.ask(ENDPOINTS, { names: ["a", "b"] });
    const [first] = client.inbox[0]!.resources.keys();
    const other = first === "a" ? "b" : "a";
    source.change(ENDPOINTS, [], [other]);
    client.accept(ENDPOINTS, ["a", "b"]);
    const last = client.accept(ENDPOINTS, ["a", "b"]);
    const empty = [...last.resources.values()].map(({ value }) => value);
    assert.deepEqual([empty, last.removed], delta ? [[], [other]] : [[emptyText(other)], []]);
    client.close();
  }
});

Deno.test("a resource that goes while the client rejects its new version goes, although the client has it from an earlier stream", () => {
  for (const delta of [true, false]) {
    const source = new MemorySource().change(LISTENER, [textResource(LISTENER, "l", "l=2")]);
    const client = new StreamClient(source, delta);
    client.ask(LISTENER, delta ? { versions: { l: "1" } } : { version: "1" });
    source.change(LISTENER, [], ["l"]);
    client.reject(LISTENER, "bad");
    const { resources, removed } = client.accept(LISTENER);
    assert.deepEqual([resources.size, removed], [0, delta ? ["l"] : []]);
    client.close();
  }
});

Deno.test("state of the world: endpoints that a client drops and names again, beside late nonces, are answered again, absent ones too", () => {
  for (const [kept, again] of [[["k"], "a"], [["k"], "absent"], [[], "a"], [[], "absent"]] as const) {
    const source = new MemorySource().serve(ENDPOINTS);
    source.change(ENDPOINTS, ["a", "k"].map((name) => textResource(ENDPOINTS, name, `${name}=1`)));
    const client = new StreamClient(source, false);
    const names = [...kept, again];
    client.ask(ENDPOINTS, { names: [...names, "new"] });
    const { nonce } = client.accept(ENDPOINTS, [...names, "new"]);
    source.change(ENDPOINTS, [textResource(ENDPOINTS, "new", "new=1")]);
    client.stream.reconcile();
    client.ask(ENDPOINTS, { names: [...kept], nonce });
    client.ask(ENDPOINTS, { names, nonce });
    client.accept(ENDPOINTS, names);
    assert.deepEqual([...client.accept(ENDPOINTS, names).resources.keys()], [again]);
    assert.equal(client.inbox.length, 0);
    client.close();
  }
});

Deno.test("state of the world: a name that a client drops and names again, beside late nonces, is sent again", () => {
  const source = new MemorySource().serve(ENDPOINTS);
  source.change(ENDPOINTS, [textResource(ENDPOINTS, "a", "a=1"), textResource(ENDPOINTS, "b", "b=1")]);
  const client = new StreamClient(source, false);
  client.ask(ENDPOINTS, { names: ["a"] });
  const { nonce } = client.accept(ENDPOINTS, ["a", "b"]);
  // The response with `b` is on its way.
  client.ask(ENDPOINTS, { names: ["b"], nonce });
  client.ask(ENDPOINTS, { names: ["a", "b"], nonce });
  client.has.get(ENDPOINTS)!.delete("a");
  while (client.inbox.length > 0) client.accept(ENDPOINTS, ["a", "b"]);
  assert.deepEqual([...client.has.get(ENDPOINTS)!.keys()].sort(), ["a", "b"]);
  client.close();
});
