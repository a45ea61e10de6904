import assert from "node:assert/strict";
import fc from "fast-check";
import { CLUSTER, ENDPOINTS, LISTENER } from "../../lib/xds/protocol/types.ts";
import { OnDemandSource, type OnDemandView } from "./support/on_demand_source.ts";
import { StreamClient } from "./support/stream_client.ts";
import { runs } from "../properties.ts";

const TYPES = [ENDPOINTS, CLUSTER, LISTENER];
const POOL = ["a", "b", "c", "d", "*"];
const some = fc.subarray(POOL, { minLength: 1 });

const event = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("subscribe" as const), type: fc.nat(2), names: some }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("unsubscribe" as const), type: fc.nat(2), names: some }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("decide" as const),
      type: fc.nat(2),
      names: some,
      value: fc.option(fc.constantFrom("1", "2"), { nil: undefined }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("accept" as const), type: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("give up" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reconnect" as const), versions: fc.boolean() }) },
);
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

/** A client of a source with late decisions, over streams that come and go. */
class Model {
  readonly source = new OnDemandSource(TYPES);
  readonly subscribed = new Map(TYPES.map((type) => [type, new Set<string>()]));
  readonly has = new Map(TYPES.map((type) => [type, new Map<string, string>()]));
  client!: StreamClient<OnDemandView>;
  #checked = 0;
  #now = 0;

  constructor(readonly delta: boolean) {
    this.#connect(false);
  }

  #connect(withVersions: boolean): void {
    this.client = new StreamClient(this.source, this.delta, { wantTimeout: 1e6 });
    this.#checked = 0;
    for (const type of TYPES) {
      const names = [...this.subscribed.get(type)!];
      const has = this.has.get(type)!;
      if (!withVersions || names.length === 0) has.clear();
      if (names.length === 0) continue;
      this.client.ask(type, { names, ...(this.delta && withVersions && { versions: Object.fromEntries(has) }) });
    }
  }

  /** Responses say nothing of pending names, and in state of the world wait for them. */
  check(stillPending: (type: string, name: string) => boolean): void {
    for (const { typeUrl, removed } of this.client.received.slice(this.#checked)) {
      for (const name of removed) assert.ok(!stillPending(typeUrl, name), `${name} is pending and was said to be gone`);
      if (this.delta || typeUrl === ENDPOINTS) continue;
      for (const name of this.subscribed.get(typeUrl)!) assert.ok(!stillPending(typeUrl, name), `${name} is pending`);
    }
    this.#checked = this.client.received.length;
  }

  step(e: Event): void {
    const type = "type" in e ? TYPES[e.type]! : "";
    if (e.do === "subscribe" || e.do === "unsubscribe") this.#change(type, e);
    else if (e.do === "decide") this.source.decide(type, e.names.filter((name) => name !== "*"), e.value);
    else if (e.do === "accept") this.accept(type);
    else if (e.do === "reconnect") {
      this.client.close();
      this.#connect(e.versions);
    } else {
      // Like the timer, but the wait of this source never ends.
      this.#now++;
      for (const watch of this.client.stream.watches.values()) watch.giveUp(this.#now);
    }
    if (e.do === "decide" && e.names.includes("*")) this.source.decide(type, ["*"], undefined);
  }

  #change(type: string, { do: what, names }: { do: string; names: readonly string[] }): void {
    const set = this.subscribed.get(type)!;
    const changed = names.filter((name) => set.has(name) !== (what === "subscribe"));
    if (changed.length === 0) return;
    for (const name of changed) {
      if (what === "subscribe") set.add(name);
      else set.delete(name);
    }
    const has = this.has.get(type)!;
    for (const name of [...has.keys()]) if (!set.has("*") && !set.has(name)) has.delete(name);
    if (this.delta) this.client.ask(type, what === "subscribe" ? { names: changed } : { unsubscribe: changed });
    else this.client.ask(type, { names: [...set], nonce: this.#nonce(type) });
  }

  /** Nonce of the last accepted response. A request with an earlier nonce counts for nothing. */
  #nonce(type: string): string {
    while (this.accept(type));
    return this.client.received.findLast(({ typeUrl }) => typeUrl === type)?.nonce ?? "";
  }

  accept(type: string): boolean {
    const response = this.client.inbox.find(({ typeUrl }) => typeUrl === type);
    if (response === undefined) return false;
    const has = this.has.get(type)!;
    const set = this.subscribed.get(type)!;
    if (!this.delta && type !== ENDPOINTS) has.clear();
    for (const [name, { version, value }] of response.resources) {
      if (set.has("*") || set.has(name)) has.set(name, this.delta ? version : value);
    }
    for (const name of response.removed) has.delete(name);
    this.client.accept(type, [...set]);
    return true;
  }

  /** Everything is decided and comes through. */
  finish(): void {
    for (const type of TYPES) {
      for (const name of this.source.wanted(type)) {
        if (this.source.isPending(type, name)) this.source.decide(type, [name], name < "c" ? "end" : undefined);
      }
    }
    for (let i = 0; TYPES.some((type) => this.accept(type)); i++) assert.ok(i < 1000, "it never stops sending");
    for (const type of TYPES) {
      const set = this.subscribed.get(type)!;
      const expected = [...this.source.shared.get(type)!].filter(({ name }) => set.has("*") || set.has(name));
      const has = this.has.get(type)!;
      for (const { name, version, value } of expected) {
        assert.equal(has.get(name), this.delta ? version : new TextDecoder().decode(value), `${type} ${name}`);
      }
      // State of the world cannot announce the removal of endpoints.
      if (this.delta || type !== ENDPOINTS) assert.equal(has.size, expected.length, type);
      for (const name of set) assert.ok(this.source.wanted(type).includes(name), `${name} of ${type} is wanted`);
      if (set.size === 0) assert.deepEqual(this.source.wanted(type), [], type);
    }
    this.client.close();
    for (const type of TYPES) assert.deepEqual(this.source.wanted(type), []);
  }
}

for (const delta of [true, false]) {
  const variant = delta ? "incremental" : "state of the world";

  Deno.test(`${variant}: in any order of wanted and decided names the client hears nothing about pending names, and at the end has all resources`, () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const model = new Model(delta);
        for (const e of events) {
          model.step(e);
          model.check((type, name) => model.source.isPending(type, name));
        }
        model.finish();
      }),
      { numRuns: runs(500) },
    );
  });
}
