import assert from "node:assert/strict";
import fc from "fast-check";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, VIRTUAL_HOST } from "../../lib/xds/protocol/types.ts";
import type { ClientResources } from "../../lib/xds/ads/client_resources.ts";
import { findInStack } from "../../lib/xds/ads/set_stack.ts";
import { MemorySource, textResource } from "./support/memory_source.ts";
import { type Received, StreamClient } from "./support/stream_client.ts";
import { runs } from "../properties.ts";

const RUNS = runs(300);

const WILD = [CLUSTER, LISTENER];
const NAMED = [ENDPOINTS, ROUTE];
const ALL = [...WILD, ...NAMED];
const POOL = Array.from({ length: 6 }, (_, i) => `n${i}`);

const event = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("change" as const), type: fc.nat(3), name: fc.nat(5), value: fc.nat(3) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("remove" as const), type: fc.nat(3), name: fc.nat(5) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("own" as const), type: fc.nat(3), name: fc.nat(5), value: fc.nat(3) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("hosts" as const), route: fc.nat(5), name: fc.nat(2), value: fc.nat(3) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("push" as const) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("accept" as const), type: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reject" as const), type: fc.nat(4), naming: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reject late" as const), type: fc.nat(4) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("subscribe" as const),
      type: fc.nat(1),
      names: fc.uniqueArray(fc.nat(5), { maxLength: 4, minLength: 1 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("unsubscribe" as const),
      type: fc.nat(1),
      names: fc.uniqueArray(fc.nat(5), { maxLength: 3, minLength: 1 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reconnect" as const), versions: fc.boolean() }) },
);
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

/** A client by the rules of the protocol, over streams that come and go. */
class Model {
  readonly source = new MemorySource().serve(...ALL);
  client: StreamClient;
  readonly subscribed = new Map(NAMED.map((type) => [type, new Set<string>()]));
  /** Per type: nonce of the last response taken in. */
  nonces = new Map<string, string>();
  readonly has = new Map<string, Map<string, { version: string; value: string }>>();
  /** How often the server may send a name unchanged. */
  readonly mayRepeat = new Map<string, number>();
  rejected = false;
  #values = 0;

  constructor(readonly delta: boolean) {
    for (const type of [...ALL, VIRTUAL_HOST]) this.has.set(type, new Map());
    this.client = this.#connect(false);
  }

  #connect(withVersions: boolean): StreamClient {
    this.nonces = new Map();
    const client = this.client = new StreamClient(this.source, this.delta, { maxResponseBytes: 80 });
    for (const type of [...ALL, ...(this.delta ? [VIRTUAL_HOST] : [])]) {
      const names = [...this.subscribed.get(type) ?? []];
      if (names.length === 0 && NAMED.includes(type)) {
        this.has.set(type, new Map());
        continue;
      }
      if (!withVersions) this.has.set(type, new Map());
      const versions = Object.fromEntries([...this.has.get(type)!].map(([name, { version }]) => [name, version]));
      for (const name of names) this.#allowRepeat(type + name);
      client.ask(type, { names, ...(this.delta && withVersions && { versions }) });
    }
    return client;
  }

  resource(type: string, name: string, value: number | string) {
    return textResource(type, name, `${name}=${value}`);
  }

  step(e: Event): void {
    if (e.do === "change") this.source.change(ALL[e.type]!, [this.resource(ALL[e.type]!, POOL[e.name]!, e.value)]);
    else if (e.do === "remove") this.source.change(ALL[e.type]!, [], [POOL[e.name]!]);
    else if (e.do === "own") {
      const type = ALL[e.type]!;
      this.client.view.own.set(type, this.source.table.from([this.resource(type, POOL[e.name]!, "own" + e.value)]));
    } else if (e.do === "hosts") {
      const name = `${POOL[e.route]}/${e.name}`;
      if (e.value === 0) this.source.changeHosts(POOL[e.route]!, [], [name]);
      else this.source.changeHosts(POOL[e.route]!, [this.resource(VIRTUAL_HOST, name, e.value)]);
    } else if (e.do === "push") this.client.stream.reconcile();
    else if (e.do === "accept") this.accept([...ALL, VIRTUAL_HOST][e.type]!);
    else if (e.do === "reject") this.reject([...ALL, VIRTUAL_HOST][e.type]!, e.naming);
    else if (e.do === "reject late") this.rejectLate([...ALL, VIRTUAL_HOST][e.type]!);
    else if (e.do === "subscribe") this.subscribe(NAMED[e.type]!, e.names.map((i) => POOL[i]!));
    else if (e.do === "unsubscribe") this.unsubscribe(NAMED[e.type]!, e.names.map((i) => POOL[i]!));
    else {
      this.client.stream.close();
      this.client = this.#connect(e.versions);
    }
  }

  accept(type: string): boolean {
    const response = this.client.inbox.find((r) => r.typeUrl === type);
    if (response === undefined) return false;
    this.client.take(type);
    this.apply(response);
    this.nonces.set(type, response.nonce);
    this.client.ask(type, { nonce: response.nonce, names: this.delta ? [] : [...this.subscribed.get(type) ?? []] });
    return true;
  }

  reject(type: string, naming: boolean): void {
    const response = this.client.inbox.find((r) => r.typeUrl === type);
    if (response === undefined) return;
    this.rejected = true;
    this.client.take(type);
    this.nonces.set(type, response.nonce);
    const error = naming ? `bad: ${[...response.resources.keys()][0] ?? "?"}` : "bad";
    this.client.ask(type, {
      nonce: response.nonce,
      error,
      names: this.delta ? [] : [...this.subscribed.get(type) ?? []],
    });
  }

  /** Rejects an accepted response late, and keeps its resources. */
  rejectLate(type: string): void {
    const nonce = this.nonces.get(type);
    if (nonce === undefined) return;
    this.client.ask(type, { nonce, error: "late", names: this.delta ? [] : [...this.subscribed.get(type) ?? []] });
  }

  apply(response: Received): void {
    const type = response.typeUrl;
    if (!this.delta && WILD.includes(type)) this.has.set(type, new Map());
    const has = this.has.get(type)!;
    const wanted = this.subscribed.get(type);
    for (const [name, { version, value }] of response.resources) {
      if (wanted !== undefined && !wanted.has(name)) continue;
      if (type === VIRTUAL_HOST && !this.subscribed.get(ROUTE)!.has(name.split("/")[0]!)) continue;
      if (this.delta && !this.rejected && (this.mayRepeat.get(type + name) ?? 0) === 0 && type !== VIRTUAL_HOST) {
        assert.notEqual(has.get(name)?.version, version, `${name} was sent though the client has this version of it`);
      }
      this.mayRepeat.set(type + name, Math.max(0, (this.mayRepeat.get(type + name) ?? 0) - 1));
      has.set(name, { version, value });
    }
    for (const name of response.removed) has.delete(name);
  }

  #allowRepeat(key: string): void {
    this.mayRepeat.set(key, (this.mayRepeat.get(key) ?? 0) + 1);
  }

  subscribe(type: string, names: string[]): void {
    const set = this.subscribed.get(type)!;
    for (const name of names) {
      set.add(name);
      this.#allowRepeat(type + name);
    }
    this.client.ask(type, this.delta ? { names } : { names: [...set], nonce: this.nonces.get(type) ?? "" });
  }

  unsubscribe(type: string, names: string[]): void {
    const set = this.subscribed.get(type)!;
    const dropped = names.filter((name) => set.delete(name));
    for (const name of dropped) {
      this.has.get(type)!.delete(name);
      if (type !== ROUTE) continue;
      for (const host of this.has.get(VIRTUAL_HOST)!.keys()) {
        if (host.startsWith(name + "/")) this.has.get(VIRTUAL_HOST)!.delete(host);
      }
    }
    if (this.delta) this.client.ask(type, { unsubscribe: names });
    else if (dropped.length > 0) this.client.ask(type, { names: [...set], nonce: this.nonces.get(type) ?? "" });
  }

  /** Gives every resource a new version. */
  renewAll(): void {
    for (const type of ALL) {
      const names = [...this.source.shared.get(type)!].map((r) => r.name);
      this.source.change(type, names.map((name) => this.resource(type, name, `renewed${this.#values++}`)));
      const own = this.client.view.own.get(type);
      if (own) {
        this.client.view.own.set(
          type,
          own.with([...own].map((r) => this.resource(type, r.name, `o${this.#values++}`))),
        );
      }
    }
    for (const [route, set] of this.source.hosts) {
      this.source.changeHosts(route, [...set].map((r) => this.resource(VIRTUAL_HOST, r.name, `r${this.#values++}`)));
    }
  }

  /** Lets everything come through. */
  drain(): void {
    for (let i = 0; i < 1000; i++) {
      this.client.stream.reconcile();
      const took = [...ALL, VIRTUAL_HOST].filter((type) => this.accept(type));
      if (took.length === 0) return;
    }
    assert.fail("the server never stops sending");
  }

  expected(type: string): Map<string, string> {
    const wanted = this.subscribed.get(type);
    const all = new Map<string, string>();
    if (type === VIRTUAL_HOST) {
      for (const route of this.subscribed.get(ROUTE)!) {
        for (const host of this.source.hosts.get(route) ?? []) all.set(host.name, host.version);
      }
      return all;
    }
    for (const set of this.client.view.resourceSets(type)!) for (const r of set) all.set(r.name, r.version);
    return new Map([...all].filter(([name]) => wanted === undefined || wanted.has(name)));
  }

  check(): void {
    const values = (type: string) => new Map([...this.has.get(type)!].sort().map(([name, { value }]) => [name, value]));
    for (const type of this.delta ? [...ALL, VIRTUAL_HOST] : ALL) {
      const expected = this.expected(type);
      // State of the world cannot announce the removal of an endpoint or a route: left-over resources are allowed.
      const names = this.delta || WILD.includes(type) ? values(type).keys() : expected.keys();
      assert.deepEqual([...names].sort(), [...expected.keys()].sort(), type);
      for (const [name, version] of expected) {
        if (this.delta) assert.equal(this.has.get(type)!.get(name)!.version, version, `${type} ${name}`);
        else assert.equal(values(type).get(name), this.#value(type, name), `${type} ${name}`);
      }
    }
  }

  #value(type: string, name: string): string {
    const sets = this.client.view.resourceSets(type)!.toReversed();
    for (const set of sets) {
      const found = set.get(name);
      if (found !== undefined) return new TextDecoder().decode(found.value);
    }
    return "";
  }
}

/** The invariants of a type on a stream, as named in `client_resources.ts`. */
function assertInvariants(resources: ClientResources): void {
  const { state, sent, want, acknowledged, inFlight, portion, differ, blamed } = resources;
  assert.equal(acknowledged, inFlight === undefined ? sent : inFlight.before, "acknowledged");
  assert.equal(state === "in flight", inFlight !== undefined, "one response at a time");
  if (state === "settled") {
    for (const { set } of want) {
      for (const { name, version } of set) assert.equal(findInStack(sent, name)?.version, version);
    }
  }
  if (inFlight === undefined) assert.equal(differ, state === "due", "only a due type is sent");
  if (state === "held") assert.ok(resources.rejecting && resources.lastError !== "", "held by a rejection");
  assert.ok(portion > 0, "a portion holds something");
  if (resources.lastError !== "late") {
    for (const { name, version } of blamed) assert.notEqual(findInStack(sent, name)?.version, version, "rejected");
  }
}

for (const delta of [true, false]) {
  const variant = delta ? "incremental" : "state of the world";

  Deno.test(`${variant}: under any order of events a client ends with exactly what it subscribes to, and nothing is sent twice`, () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const model = new Model(delta);
        for (const e of events) if (e.do !== "reject") model.step(e);
        model.drain();
        model.check();
        const before = model.client.received.length;
        model.client.stream.reconcile();
        assert.equal(model.client.received.length, before, "nothing more to say");
        model.client.stream.close();
      }),
      { numRuns: RUNS },
    );
  });

  Deno.test(`${variant}: rejections delay nothing endlessly: once everything has a new version, the client has it all`, () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const model = new Model(delta);
        for (const e of events) model.step(e);
        model.renewAll();
        model.drain();
        model.check();
        model.client.stream.close();
      }),
      { numRuns: RUNS },
    );
  });

  Deno.test(`${variant}: the invariants of every type hold after every event`, () => {
    const met = new Set<string>();
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const model = new Model(delta);
        for (const e of events) {
          model.step(e);
          for (const { resources } of model.client.stream.watches.values()) {
            assertInvariants(resources);
            met.add(resources.state);
          }
        }
        model.client.stream.close();
      }),
      { numRuns: RUNS },
    );
    for (const state of ["settled", "in flight", "held"]) {
      assert.ok(met.has(state), `no order of events led to: ${state}`);
    }
  });
}
