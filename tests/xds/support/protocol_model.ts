/**
 * A client by the rules of the protocol, which lives through any order of events, and what the server may and must send
 * to such a client.
 *
 * @module
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, VIRTUAL_HOST } from "../../../lib/xds/protocol/types.ts";
import { MemorySource, textResource } from "./memory_source.ts";
import { emptyText, type Received, StreamClient } from "./stream_client.ts";

const WILD = [CLUSTER, LISTENER];
const NAMED = [ENDPOINTS, ROUTE];
const ALL = [...WILD, ...NAMED];
const POOL = Array.from({ length: 6 }, (_, i) => `n${i}`);
/** Virtual hosts of a route configuration. */
const HOSTS = [0, 1, 2];

/** Events of the source, of the client and of the connection between the two. */
export const protocolEvent = fc.oneof(
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
export type ProtocolEvent = typeof protocolEvent extends fc.Arbitrary<infer T> ? T : never;

/** A client by the rules of the protocol, over streams that come and go. */
export class ProtocolModel {
  readonly source = new MemorySource().serve(...ALL);
  client: StreamClient;
  readonly subscribed = new Map(NAMED.map((type) => [type, new Set<string>()]));
  /** Per type: nonce of the last response taken in. */
  nonces = new Map<string, string>();
  /** State of the world, per type: version of the last response taken in. */
  readonly #versions = new Map<string, string>();
  readonly has = new Map<string, Map<string, { version: string; value: string }>>();
  /**
   * Per type and name that the client has asked for: the number of responses on the stream before. A later response
   * answers, even with what the client has: the client may have forgotten a resource that the client asks for again. A
   * response that was on its way answers nothing, so the same version may come twice.
   */
  readonly asked = new Map<string, number>();
  rejected = false;
  /** Per type and name: the version that the client rejected by name, and that nobody has changed or asked for since. */
  readonly #refused = new Map<string, string>();
  /** Responses of the present stream that were looked at. */
  #seen = 0;
  #values = 0;

  constructor(readonly delta: boolean) {
    for (const type of [...ALL, VIRTUAL_HOST]) this.has.set(type, new Map());
    this.client = this.#connect(false);
  }

  #connect(withVersions: boolean): StreamClient {
    this.nonces = new Map();
    this.asked.clear();
    this.#refused.clear();
    this.#seen = 0;
    const client = this.client = new StreamClient(this.source, this.delta, { maxResponseBytes: 80 });
    for (const type of [...ALL, ...(this.delta ? [VIRTUAL_HOST] : [])]) {
      const names = [...this.subscribed.get(type) ?? []];
      if (names.length === 0 && NAMED.includes(type)) {
        this.has.set(type, new Map());
        continue;
      }
      if (!withVersions) {
        this.has.set(type, new Map());
        this.#versions.delete(type);
      }
      const versions = Object.fromEntries([...this.has.get(type)!].map(([name, { version }]) => [name, version]));
      const version = this.#versions.get(type) ?? "";
      for (const name of names) if (!this.has.get(type)!.has(name)) this.asked.set(type + name, 0);
      client.ask(type, { names, ...(this.delta ? withVersions && { versions } : { version }) });
    }
    return client;
  }

  resource(type: string, name: string, value: number | string) {
    return textResource(type, name, `${name}=${value}`);
  }

  step(e: ProtocolEvent): void {
    this.#live(e);
    this.#look();
  }

  #live(e: ProtocolEvent): void {
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
    this.#look();
    const response = this.client.inbox.find((r) => r.typeUrl === type);
    if (response === undefined) return false;
    this.client.take(type);
    this.apply(response);
    this.#versions.set(type, response.version);
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
    for (const name of [...response.resources.keys(), ...response.removed]) this.#answered(type + name, response);
    const [[first, { version }] = ["?", { version: "" }]] = response.resources;
    if (naming || response.resources.size === 1) this.#refused.set(type + first, version);
    const error = naming ? `bad: ${first}` : "bad";
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
    for (const [name, { version, value }] of response.resources) {
      if (!this.#takes(type, name)) continue;
      if (this.delta && !this.rejected && !this.asked.has(type + name)) {
        assert.notEqual(has.get(name)?.version, version, `${name} was sent though the client has this version of it`);
      }
      this.#answered(type + name, response);
      has.set(name, { version, value });
    }
    for (const name of response.removed) {
      this.#answered(type + name, response);
      has.delete(name);
    }
  }

  /**
   * Looks at what the server has sent since the last look. The source has not changed since, and the client has not
   * answered.
   */
  #look(): void {
    const { inbox } = this.client;
    // In state of the world, a second request before the first answer has no nonce either, and gets an answer of its own.
    if (this.delta) {
      assert.equal(new Set(inbox.map(({ typeUrl }) => typeUrl)).size, inbox.length, "one response of a type at a time");
    }
    for (const response of this.client.received.slice(this.#seen)) {
      const { typeUrl, resources, removed } = response;
      // In state of the world the server passes over a request beside an answer that is on its way.
      if (this.delta) {
        for (const name of resources.keys()) assert.ok(this.#takes(typeUrl, name), `${name} is unasked for`);
      }
      for (const name of removed) {
        assert.ok(!this.expected(typeUrl).has(name), `${name} was said to be gone, but is not`);
      }
      for (const [name, { version, value }] of resources) {
        if (value === emptyText(name)) assert.ok(!this.expected(typeUrl).has(name), `${name} came empty, but is not`);
        const refused = this.delta && !this.asked.has(typeUrl + name) ? this.#refused.get(typeUrl + name) : undefined;
        assert.notEqual(version, refused, `${name} was rejected, and was sent again although nothing changed`);
      }
    }
    this.#seen = this.client.received.length;
    for (const type of [...ALL, VIRTUAL_HOST]) {
      const expected = this.expected(type);
      for (const key of this.#refused.keys()) {
        if (!key.startsWith(type)) continue;
        const refused = this.#refused.get(key);
        if (refused !== expected.get(key.slice(type.length))) this.#refused.delete(key);
      }
    }
  }

  /** Whether the client has subscribed to a resource. */
  #takes(type: string, name: string): boolean {
    if (type === VIRTUAL_HOST) return this.subscribed.get(ROUTE)!.has(name.split("/")[0]!);
    return this.subscribed.get(type)?.has(name) ?? true;
  }

  #answered(key: string, response: Received): void {
    const before = this.asked.get(key);
    // In state of the world the server passes over a request beside a response on its way, which therefore answers.
    const answers = before !== undefined && (!this.delta || this.client.received.indexOf(response) >= before);
    if (answers) this.asked.delete(key);
  }

  /** The client asks for names, and with route configurations for their virtual hosts. */
  #asks(type: string, names: readonly string[]): void {
    const { length } = this.client.received;
    for (const name of names) {
      this.asked.set(type + name, length);
      if (type === ROUTE) { for (const host of HOSTS) this.asked.set(`${VIRTUAL_HOST}${name}/${host}`, length); }
    }
  }

  subscribe(type: string, names: string[]): void {
    const set = this.subscribed.get(type)!;
    this.#asks(type, this.delta ? names : names.filter((name) => !set.has(name)));
    for (const name of names) set.add(name);
    this.client.ask(type, this.delta ? { names } : { names: [...set], nonce: this.nonces.get(type) ?? "" });
  }

  unsubscribe(type: string, names: string[]): void {
    const set = this.subscribed.get(type)!;
    const dropped = names.filter((name) => set.delete(name));
    for (const name of dropped) {
      this.has.get(type)!.delete(name);
      this.asked.delete(type + name);
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

  /**
   * Lets everything come through, and the rejected removals of types of which nothing is left: no new version leads
   * there, so these removals wait for the next offer. (A stock Envoy applies removals without a look at them, and rejects
   * none.)
   */
  drainOffers(): void {
    this.drain();
    this.check((type) => this.expected(type).size > 0);
    this.passTime();
  }

  /** Lets the time until the next offer pass, and takes what is offered. */
  passTime(): void {
    this.#refused.clear();
    if (this.client.laters.size > 0) this.client.pass();
    this.drain();
  }

  /** Names that the client asked for, and that no response has told the client of. */
  unanswered(): string[] {
    return [...ALL, VIRTUAL_HOST].flatMap((type) => {
      const expected = this.expected(type);
      const asked = [...this.asked.keys()].filter((key) => key.startsWith(type)).map((key) => key.slice(type.length));
      if (type === VIRTUAL_HOST && !this.delta) return [];
      // Nobody asks for a virtual host by its name: an absent one is told only to a client that has it. In state of the
      // world there is no word for an absent route configuration.
      const mayLack = type === VIRTUAL_HOST || (!this.delta && type === ROUTE);
      return asked.filter((name) => !mayLack || expected.has(name));
    });
  }

  expected(type: string): Map<string, string> {
    const all = new Map<string, string>();
    if (type === VIRTUAL_HOST) {
      for (const route of this.subscribed.get(ROUTE)!) {
        for (const host of this.source.hosts.get(route) ?? []) all.set(host.name, host.version);
      }
      return all;
    }
    for (const set of this.client.view.resourceSets(type)!) for (const r of set) all.set(r.name, r.version);
    return new Map([...all].filter(([name]) => this.#takes(type, name)));
  }

  /** The client has exactly what it should have. @param isMeant the types to check; default: all */
  check(isMeant: (type: string) => boolean = () => true): void {
    const values = (type: string) => new Map([...this.has.get(type)!].sort().map(([name, { value }]) => [name, value]));
    for (const type of this.delta ? [...ALL, VIRTUAL_HOST] : ALL) {
      if (!isMeant(type)) continue;
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
