import assert from "node:assert/strict";
import fc from "fast-check";
import type { Endpoint, ServiceKey } from "../../lib/registry/types.ts";
import { EndpointIndex } from "../../lib/registry/endpoint_index.ts";
import { plainEndpoint } from "../../lib/registry/mock.ts";
import { runs } from "../properties.ts";

function endpoint(address: string, more: Partial<Endpoint> = {}): Endpoint {
  const given = { port: 80, portName: "http", labels: { app: "a" }, clusterId: "c1", namespace: "ns" };
  return plainEndpoint({ address, ...given, ...more });
}

Deno.test("shards of a service are one list, ordered by shard; an empty list removes a shard", () => {
  const index = new EndpointIndex();
  index.set("ns/a", "Orch/c2", [endpoint("10.0.0.2")]);
  index.set("ns/a", "Orch/c1", [endpoint("10.0.0.1")]);
  assert.deepEqual(index.endpoints("ns/a").map((e) => e.address), ["10.0.0.1", "10.0.0.2"]);
  index.set("ns/a", "Orch/c1", []);
  assert.deepEqual(index.endpoints("ns/a").map((e) => e.address), ["10.0.0.2"]);
  index.removeShard("Orch/c2");
  assert.deepEqual(index.endpoints("ns/a"), []);
  assert.deepEqual([...index.entries()], []);
});

Deno.test("an empty list is no shard and no change for a service without one, and ends a lone one", () => {
  const index = new EndpointIndex();
  index.set("ns/a", "Orch/c1", []);
  assert.deepEqual([index.pending, index.shards("ns/a").size], [false, 0]);
  index.set("ns/a", "Orch/c1", [endpoint("10.0.0.1")]);
  index.set("ns/a", "Orch/c2", []);
  assert.deepEqual([...index.shards("ns/a").keys()], ["Orch/c1"]);
  index.set("ns/a", "Orch/c1", []);
  assert.deepEqual([index.shards("ns/a").size, index.endpoints("ns/a")], [0, []]);
});

Deno.test("a list keeps its identity until its content changes, and unchanged endpoints keep theirs", () => {
  const index = new EndpointIndex();
  index.set("ns/a", "s", [endpoint("10.0.0.1"), endpoint("10.0.0.2")]);
  const first = index.endpoints("ns/a");
  index.set("ns/a", "s", [endpoint("10.0.0.1"), endpoint("10.0.0.2")]);
  assert.equal(index.endpoints("ns/a"), first);
  index.set("ns/a", "s", [endpoint("10.0.0.2"), endpoint("10.0.0.3")]);
  const second = index.endpoints("ns/a");
  assert.notEqual(second, first);
  assert.equal(second[0], first[1]);
});

Deno.test("drain gives services whose content changed since the last time, and their addresses", () => {
  const index = new EndpointIndex();
  index.set("ns/a", "s", [endpoint("10.0.0.1")]);
  index.set("ns/b", "s", [endpoint("10.0.0.2")]);
  assert.equal(index.pending, true);
  assert.deepEqual(index.drain(), {
    services: new Set(["ns/a", "ns/b"]),
    addresses: new Set(["10.0.0.1", "10.0.0.2"]),
  });
  assert.equal(index.pending, false);
  index.set("ns/a", "s", []);
  index.set("ns/a", "s", [endpoint("10.0.0.1")]);
  assert.deepEqual(index.drain(), { services: new Set(), addresses: new Set() });
  index.set("ns/a", "s", [endpoint("10.0.0.1", { health: "unhealthy" })]);
  assert.deepEqual(index.drain(), { services: new Set(["ns/a"]), addresses: new Set(["10.0.0.1"]) });
  index.set("ns/a", "s", []);
  assert.deepEqual(index.endpoints("ns/a"), [], "a read between write and drain takes no change away");
  assert.deepEqual(index.drain(), { services: new Set(["ns/a"]), addresses: new Set(["10.0.0.1"]) });
});

Deno.test("every field of an endpoint counts as content", () => {
  const changes: Partial<Endpoint>[] = [
    { port: 81 },
    { portName: "x" },
    { labels: { app: "b" } },
    { labels: { app: "a", v: "1" } },
    { labels: {} },
    { locality: "r" },
    { network: "n" },
    { clusterId: "c2" },
    { weight: 2 },
    { health: "draining" },
    { serviceAccount: "sa" },
    { namespace: "x" },
    { workloadName: "x" },
    { tlsMode: "mesh" },
    { hostname: "x" },
    { subdomain: "x" },
    { nodeName: "x" },
  ];
  for (const change of changes) {
    const index = new EndpointIndex();
    index.set("ns/a", "s", [endpoint("10.0.0.1")]);
    index.drain();
    index.set("ns/a", "s", [endpoint("10.0.0.1", change)]);
    assert.equal(index.drain().services.size, 1, JSON.stringify(change));
  }
});

Deno.test("the endpoints at an address are found, for all services", () => {
  const index = new EndpointIndex();
  index.set("ns/b", "s", [endpoint("10.0.0.1"), endpoint("10.0.0.9")]);
  index.set("ns/a", "s", [endpoint("10.0.0.1", { port: 81 }), endpoint("10.0.0.1", { port: 82 })]);
  const at = (address: string) => index.byAddress(address).map((p) => `${p.service} ${p.endpoint.port}`);
  assert.deepEqual(at("10.0.0.1"), ["ns/a 81", "ns/a 82", "ns/b 80"]);
  index.set("ns/a", "s", []);
  assert.deepEqual(at("10.0.0.1"), ["ns/b 80"]);
  index.set("ns/b", "s", [endpoint("10.0.0.9")]);
  assert.deepEqual(at("10.0.0.1"), []);
});

Deno.test("any order of writes, reads and drains ends as a fresh index, and the drains give all changes", () => {
  const write = fc.record({
    service: fc.constantFrom<ServiceKey>("ns/a", "ns/b"),
    shard: fc.constantFrom("s1", "s2"),
    list: fc.array(
      fc.record({ address: fc.constantFrom("1", "2", "3"), weight: fc.constantFrom(1, 2) }).map((e) =>
        endpoint(e.address, { weight: e.weight })
      ),
      { maxLength: 3 },
    ),
    then: fc.constantFrom("nothing", "read", "find", "drain"),
  });
  fc.assert(
    fc.property(fc.array(write, { maxLength: 30 }), (writes) => {
      const [index, fresh] = [new EndpointIndex(), new EndpointIndex()];
      const world = new Map<string, (typeof writes)[number]>();
      const seen = new Map<ServiceKey, string>([["ns/a", "[]"], ["ns/b", "[]"]]);
      for (const step of [...writes, { ...writes[0]!, then: "drain" }].filter((step) => step.service)) {
        index.set(step.service, step.shard, step.list);
        world.set(`${step.service}|${step.shard}`, step as (typeof writes)[number]);
        if (step.then === "read") index.endpoints(step.service);
        if (step.then === "find") index.byAddress("1");
        if (step.then !== "drain") continue;
        const { services } = index.drain();
        for (const [service, before] of seen) {
          const now = JSON.stringify(index.endpoints(service));
          if (now !== before) assert.ok(services.has(service));
          seen.set(service, now);
        }
      }
      for (const { service, shard, list } of world.values()) fresh.set(service, shard, list);
      for (const service of seen.keys()) assert.deepEqual(index.endpoints(service), fresh.endpoints(service));
      const at = (which: EndpointIndex, address: string) =>
        which.byAddress(address).map((p) => JSON.stringify(p)).sort();
      for (const address of ["1", "2", "3"]) assert.deepEqual(at(index, address), at(fresh, address));
    }),
    { numRuns: runs(500) },
  );
});
