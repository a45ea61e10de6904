import assert from "node:assert/strict";
import { Aggregate } from "../../lib/registry/aggregate.ts";
import type { Endpoint, Service } from "../../lib/registry/types.ts";
import { EndpointIndex } from "../../lib/registry/endpoint_index.ts";
import { plainEndpoint, plainService } from "../../lib/registry/mock.ts";
import { serviceTargets } from "../../lib/registry/inbound.ts";
import { pod } from "./objects.ts";

function service(more: Partial<Service> = {}): Service {
  const ports = [{ name: "http", port: 80, protocol: "HTTP" as const }];
  return plainService({
    hostname: "a.com",
    namespace: "ns",
    provider: "External",
    ports,
    cause: "ServiceEntry/ns/a",
    ...more,
  });
}

function endpoint(address: string, port: number, portName = "http", clusterId = "c1"): Endpoint {
  return plainEndpoint({ address, port, portName, clusterId, namespace: "ns" });
}

const ENTRIES = { provider: "External", clusterId: "c1" } as const;
const ORCH1 = { provider: "Orch", clusterId: "c1" } as const;
const ORCH2 = { provider: "Orch", clusterId: "c2" } as const;

function setUp() {
  const endpoints = new EndpointIndex();
  const all = new Aggregate(endpoints);
  return { endpoints, all };
}

function namespacesOf(all: Aggregate, hostname: string): string[] {
  return [...all.services()].filter((service) => service.hostname === hostname).map(({ namespace }) => namespace);
}

Deno.test("services are found by key and host, and drain gives those whose content changed", () => {
  const { all } = setUp();
  const sink = all.sink(ENTRIES);
  sink.services([service(), service({ namespace: "other" })], []);
  assert.equal(all.pending, true);
  assert.deepEqual(all.drain().services, new Set(["ns/a.com", "other/a.com"]));
  assert.deepEqual(namespacesOf(all, "a.com").sort(), ["ns", "other"]);
  assert.equal(all.serviceCount, 2);
  const first = all.service("ns/a.com");
  sink.services([service()], []);
  assert.equal(all.service("ns/a.com"), first);
  assert.equal(all.drain().services.size, 0);
  sink.services([], ["ns/a.com", "ns/unknown.com"]);
  assert.deepEqual(all.drain().services, new Set(["ns/a.com"]));
  assert.equal(all.service("ns/a.com"), undefined);
  assert.deepEqual(namespacesOf(all, "a.com"), ["other"]);
});

Deno.test("the orchestrator's service wins over an older entry of the same host and namespace, and gives way when it goes", () => {
  const { all } = setUp();
  all.sink(ENTRIES).services([service({ creationTimestamp: 1 })], []);
  all.sink(ORCH1).services([service({ provider: "Orch", creationTimestamp: 9 })], []);
  assert.equal(all.service("ns/a.com")!.provider, "Orch");
  all.sink(ORCH1).services([], ["ns/a.com"]);
  assert.equal(all.service("ns/a.com")!.provider, "External");
});

Deno.test("a service of several clusters has the first cluster's ports and each cluster's addresses", () => {
  const { all } = setUp();
  const [first, second] = [all.sink(ORCH1), all.sink(ORCH2)];
  second.services([service({ provider: "Orch", addresses: ["10.2.0.1"], ports: [] })], []);
  first.services([service({ provider: "Orch", addresses: ["10.1.0.1"] })], []);
  const merged = all.service("ns/a.com")!;
  assert.deepEqual(merged.addresses, ["10.1.0.1"]);
  assert.deepEqual(merged.clusterAddresses, { c1: ["10.1.0.1"], c2: ["10.2.0.1"] });
  assert.equal(merged.ports.length, 1);
  all.removeSource(ORCH2);
  assert.equal(all.service("ns/a.com")!.clusterAddresses, undefined);
});

Deno.test("among other providers the oldest service wins, then the first source", () => {
  const { all } = setUp();
  all.sink(ENTRIES).services([service({ creationTimestamp: 5 }), service({ hostname: "b.com" })], []);
  const mock = all.sink({ provider: "Mock", clusterId: "m" });
  mock.services([
    service({ provider: "Mock", creationTimestamp: 4 }),
    service({ provider: "Mock", hostname: "b.com" }),
  ], []);
  assert.equal(all.service("ns/a.com")!.provider, "Mock");
  assert.equal(all.service("ns/b.com")!.provider, "External");
});

Deno.test("a removed source takes its services, endpoints and workloads with it", () => {
  const { all, endpoints } = setUp();
  const sink = all.sink(ORCH2);
  sink.services([service({ provider: "Orch" })], []);
  sink.endpoints("ns/a.com", "Orch/c2", [endpoint("10.0.0.1", 80)]);
  sink.workloads([pod("p", "10.0.0.1", {})], []);
  all.drain();
  endpoints.drain();
  all.removeSource(ORCH2);
  assert.deepEqual(all.drain(), { services: new Set(["ns/a.com"]), addresses: new Set(["10.0.0.1"]) });
  assert.deepEqual(endpoints.drain().services, new Set(["ns/a.com"]));
  assert.deepEqual(all.workloadsAt("10.0.0.1"), []);
});

Deno.test("workloads are found by any spelling of their address as it moves, and listeners get every report", () => {
  const { all } = setUp();
  const heard: string[] = [];
  all.onWorkloads((source, upserted, removed) =>
    heard.push(`${source.provider} +${upserted.map((w) => w.id)} -${removed}`)
  );
  const sink = all.sink(ORCH1);
  sink.workloads([pod("p", "2001:DB8::1", { v: "1" })], []);
  assert.equal(all.workloadsAt("2001:db8::1")[0]!.labels.v, "1");
  sink.workloads([pod("p", "10.0.0.2", { v: "2" })], []);
  assert.deepEqual(all.drain().addresses, new Set(["2001:db8::1", "10.0.0.2"]));
  assert.deepEqual(all.workloadsAt("2001:db8::1"), []);
  sink.workloads([pod("p", "10.0.0.2", { v: "2" })], []);
  assert.equal(all.drain().addresses.size, 0);
  sink.workloads([], ["pod/default/p"]);
  assert.deepEqual(all.workloadsAt("10.0.0.2"), []);
  assert.deepEqual(heard.at(-1), "Orch + -pod/default/p");
});

Deno.test("a proxy's own services are those with endpoints at its addresses, in its namespace and cluster, oldest first, ports as the service lists them", () => {
  const { all, endpoints } = setUp();
  const sink = all.sink(ENTRIES);
  sink.services([
    service({ hostname: "young.com", creationTimestamp: 2 }),
    service({
      hostname: "old.com",
      provider: "Orch",
      creationTimestamp: 1,
      ports: [{ name: "b", port: 90, protocol: "TCP" }, { name: "a", port: 80, protocol: "TCP" }],
    }),
    service({ hostname: "foreign.com", namespace: "other" }),
  ], []);
  sink.endpoints("ns/young.com", "s", [endpoint("10.0.0.1", 8080), endpoint("10.0.0.2", 8080), endpoint("::1", 8080)]);
  sink.endpoints("ns/old.com", "s", [
    endpoint("10.0.0.1", 9090, "b"),
    endpoint("10.0.0.1", 8080, "a"),
    endpoint("10.0.0.1", 1, "a", "c2"),
    endpoint("10.0.0.1", 2, "no such port"),
  ]);
  sink.endpoints("other/foreign.com", "s", [endpoint("10.0.0.1", 8080)]);
  sink.endpoints("ns/unknown.com", "s", [endpoint("10.0.0.1", 8080)]);
  const proxy = { addresses: ["10.0.0.1", "0:0:0:0:0:0:0:1"], namespace: "ns", clusterId: "c1" };
  const targets = serviceTargets(proxy, endpoints, all);
  assert.deepEqual(targets.map((t) => `${t.service.hostname} ${t.port.port} ${t.endpointPort}`), [
    "old.com 90 9090",
    "old.com 80 8080",
    "young.com 80 8080",
  ]);
  assert.equal(serviceTargets({ ...proxy, namespace: "", clusterId: "" }, endpoints, all).length, 5);
  const elsewhere = serviceTargets({ ...proxy, clusterId: "c3" }, endpoints, all);
  assert.deepEqual(elsewhere.map((t) => t.service.hostname), ["young.com"], "entries are of no cluster");
});
