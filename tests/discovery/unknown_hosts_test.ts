/** What hosts outside of the mesh cost: a client that asks for very many is bounded, alone and together with others, and forgotten. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { MAX_ASKED, OnDemandResources } from "../../lib/discovery/proxies/on_demand_resources.ts";
import { PipelineSource } from "../../lib/discovery/proxies/source.ts";
import { UnknownHosts } from "../../lib/discovery/proxies/unknown_hosts.ts";
import type { EncodedResource } from "../../lib/resource/encoded.ts";
import { InternedNames } from "../../lib/resource/names.ts";
import type { ProxyView } from "../../lib/xds/protocol/source.ts";
import { CLUSTER, ROUTE, VIRTUAL_HOST } from "../../lib/xds/protocol/types.ts";
import { StreamClient } from "../xds/support/stream_client.ts";
import { Fixture, service } from "./fixture.ts";
import { runs } from "../properties.ts";

const names = new InternedNames();

function world() {
  const fixture = new Fixture();
  fixture.put(service(1), service(2));
  fixture.pipeline.flush();
  const metadata = { ON_DEMAND: { stringValue: "true" }, PROXY_CONFIG: { stringValue: "{}" } };
  const unknown = new UnknownHosts(1000);
  let count = 0;
  return {
    fixture,
    unknown,
    /** A sidecar under the common bound. @param proven Its namespace. */
    sidecar(proven = "x", gaveUp?: () => void) {
      const state = fixture.join({ namespace: "x", address: `10.9.${++count >> 8}.${count & 255}`, metadata });
      return new OnDemandResources(state, { unknown, namespace: proven, gaveUp });
    },
  };
}

function ask(asked: OnDemandResources, ...hosts: string[]): readonly EncodedResource[] {
  asked.wantHosts(names.of(hosts.map((host) => `80/${host}`)));
  return asked.virtualHosts("80").flatMap((set) => [...set]);
}

const many = (count: number, of: string) => Array.from({ length: count }, (_, i) => `${of}${i}.unknown`);

Deno.test("a client that asks for 100,000 names keeps its stream, costs a bounded number of answers, and no other client anything", () => {
  const { fixture } = world();
  const source = new PipelineSource(fixture.pipeline, fixture.nodes);
  const text = (stringValue: string) => ({ stringValue });
  const fields = { ON_DEMAND: text("true"), PROXY_CONFIG: text("{}") };
  const connect = (name: string, address: string) => {
    const id = `sidecar~${address}~${name}.x~x.svc.cluster.local`;
    const wire = {
      table: fixture.pipeline.table,
      connect: (...args: Parameters<PipelineSource["connect"]>) => source.connect(...args) as ProxyView,
    };
    const client = new StreamClient(wire, true, { request: { node: { id, metadata: { fields } } } });
    client.ask(CLUSTER);
    client.accept(CLUSTER);
    client.ask(ROUTE, { names: ["80"] });
    client.accept(ROUTE);
    client.ask(VIRTUAL_HOST);
    client.accept(VIRTUAL_HOST);
    return client;
  };
  const [mallory, other] = [connect("mallory", "10.9.0.1"), connect("other", "10.9.0.2")];
  for (let from = 0; from < 100_000; from += 2000) {
    mallory.ask(VIRTUAL_HOST, { names: Array.from({ length: 2000 }, (_, i) => `80/h${from + i}.unknown`) });
    while (mallory.inbox.length > 0) mallory.accept();
  }
  const { hosts, whole } = mallory.view.onDemand!;
  assert.ok(hosts.get("80")!.size <= 4 * MAX_ASKED);
  assert.equal([...whole.keys()].join(), "80");
  const sets = mallory.view.virtualHosts("80").flatMap((set) => [...set]);
  assert.ok(sets.length <= 3, `${sets.length} virtual hosts: the usual ones, without one for each name`);
  assert.equal(other.inbox.length, 0);
  other.ask(VIRTUAL_HOST, { names: ["80/s1.example.com"] });
  while (other.inbox.length > 0) other.accept();
  assert.deepEqual([...other.has.get(VIRTUAL_HOST)!.keys()].sort(), [
    "80/s1.example.com:80",
    "80/unknown:not-asked-yet.invalid",
  ]);
});

Deno.test("sidecars that together ask for too many unknown hosts get everything, with the reason; others still get what they ask for", () => {
  const { sidecar, unknown } = world();
  const hostile = Array.from({ length: 30 }, () => sidecar());
  hostile.forEach((asked, i) => {
    const held = ask(asked, ...many(100, `m${i}-`));
    assert.ok(held.some(({ aliases }) => aliases.includes(`80/m${i}-99.unknown`)), "every question has an answer");
  });
  assert.equal(unknown.size, 1000);
  assert.deepEqual([...hostile[29]!.whole.values()], [
    "the sidecars of this server have called too many hosts outside of the mesh",
  ]);
  const other = sidecar();
  assert.equal(ask(other, "a.unknown", "b.unknown", "s1.example.com").length, 4);
  assert.equal(other.whole.size, 0);
  for (const asked of hostile) asked.close();
  assert.equal(unknown.size, 2);
  assert.equal(ask(sidecar(), ...many(100, "again")).length, 101, "what was forgotten makes room");
});

Deno.test("the unknown hosts of one namespace make no sidecar of another namespace larger", () => {
  const { sidecar, unknown } = world();
  let gaveUp = 0;
  const hostile = Array.from({ length: 10 }, () => sidecar("mallory", () => gaveUp++));
  hostile.forEach((asked, i) => ask(asked, ...many(100, `m${i}-`)));
  assert.deepEqual([unknown.size, gaveUp], [1000, 0]);
  const other = sidecar("shop");
  const held = ask(other, ...many(150, "s"));
  assert.equal(other.whole.size, 0);
  assert.equal(held.length, 151, "every question has an answer, beside the first virtual host");
  assert.equal(gaveUp, 2, "sidecars of the namespace with the most unknown hosts gave up, as few as necessary");
  const whole = hostile.filter((asked) => asked.whole.size > 0);
  assert.equal(whole.length, 2);
  for (const asked of whole) assert.ok(ask(asked).some(({ name }) => name === "80/s2.example.com:80"));
  assert.equal(unknown.size, 950);
  const larger = Array.from({ length: 20 }, () => sidecar("shop"));
  larger.forEach((asked, i) => ask(asked, ...many(100, `l${i}-`)));
  assert.ok(
    hostile.some((asked) => asked.whole.size === 0),
    "a namespace pushes others down to its own number, not further",
  );
  assert.ok(unknown.size <= 1000);
  for (const asked of [...hostile, ...larger, other]) asked.close();
  assert.equal(unknown.size, 0);
});

Deno.test("a sidecar that got everything holds no virtual host of an unknown host any more", () => {
  const { sidecar, unknown } = world();
  const asked = sidecar();
  ask(asked, ...many(MAX_ASKED, "h"));
  assert.equal(unknown.size, MAX_ASKED);
  ask(asked, "one-more.unknown");
  assert.equal(unknown.size, 0);
});

Deno.test("sidecars share the virtual host of one unknown host, also after other virtual hosts have changed", () => {
  const { fixture, sidecar } = world();
  const [one, two] = [sidecar(), sidecar()];
  const of = (asked: OnDemandResources) => ask(asked, "a.unknown").find(({ name }) => name === "80/unknown:a.unknown");
  const first = of(one);
  assert.ok(first);
  assert.equal(of(two), first);
  fixture.put(service(3));
  fixture.pipeline.flush();
  assert.equal(of(one), first);
});

Deno.test("in random lives the number of unknown hosts is that of the open sidecars", () => {
  const step = fc.record({
    sidecar: fc.nat(5),
    hosts: fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 60 }),
    leaves: fc.boolean(),
  });
  const { sidecar, unknown } = world();
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const open = new Map<number, { readonly asked: OnDemandResources; readonly hosts: Set<string> }>();
      for (const { sidecar: nth, hosts, leaves } of steps) {
        const one = open.getOrInsertComputed(nth, () => ({ asked: sidecar(), hosts: new Set() }));
        for (const host of hosts) one.hosts.add(`h${host}.unknown`);
        ask(one.asked, ...one.hosts);
        if (leaves) {
          one.asked.close();
          open.delete(nth);
        }
        const counted = [...open.values()].filter(({ asked }) => asked.whole.size === 0);
        assert.equal(unknown.size, counted.reduce((sum, { hosts }) => sum + hosts.size, 0));
      }
      for (const { asked } of open.values()) asked.close();
      assert.equal(unknown.size, 0);
    }),
    { numRuns: runs(30) },
  );
});
