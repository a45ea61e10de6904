/** Endpoints of networks that are entered through gateways. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { TrafficPolicy } from "../../../lib/config/kinds/destination_rule/schema.ts";
import type { Endpoint } from "../../../lib/registry/types.ts";
import { outboundClusters } from "../../../lib/translate/cluster/outbound.ts";
import { loadAssignments } from "../../../lib/translate/endpoint/assignment.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { meshReader, type ReaderWorld } from "../mesh_reader.ts";
import { endpoint, rule, service } from "../make.ts";

type ClusterLoadAssignment = envoy.config.endpoint.v3.ClusterLoadAssignment;

const HOST = "a.default.svc.cluster.local";

function read(endpoints: readonly Endpoint[], world: ReaderWorld = {}) {
  return meshReader({ services: [service(HOST)], endpoints: { [HOST]: endpoints }, ...world });
}

function policy(trafficPolicy: TrafficPolicy): ReaderWorld {
  return { destinationRules: { [HOST]: rule(HOST, { trafficPolicy }) } };
}

function only(r: ReturnType<typeof meshReader>): ClusterLoadAssignment {
  return loadAssignments(r, HOST)[0]!.message;
}

/** Addresses with ports and weights, and `tls` where mutual TLS is asked for. */
function dialled(message: ClusterLoadAssignment): string[] {
  return (message.endpoints ?? []).flatMap((group) =>
    (group.lb_endpoints ?? []).map((e) => {
      const socket = e.endpoint!.address!.socket_address!;
      const marked = e.metadata?.filter_metadata?.["envoy.transport_socket_match"] === undefined ? "" : " tls";
      return `${socket.address}:${socket.port_value}*${e.load_balancing_weight?.value ?? 1}${marked}`;
    })
  );
}

const near = endpoint("10.0.0.1", { network: "n1", tlsMode: "mesh" });
const far = (last: number, given: Partial<Endpoint> = {}) =>
  endpoint(`10.0.0.${last}`, { network: "n2", tlsMode: "mesh", ...given });
const entrance = (address: string, port = 15443) => ({ network: "n2", address, port });
/** A proxy of network n1 that offers mutual TLS. */
const inN1 = { network: "n1", agent: true };

Deno.test("endpoints of another network are dialled unless it has gateways, which then share their weight", () => {
  const endpoints = [near, far(2), far(3, { weight: 2 }), endpoint("10.0.0.4", { tlsMode: "mesh" })];
  const plain = ["10.0.0.1:8080*1 tls", "10.0.0.2:8080*1 tls", "10.0.0.3:8080*2 tls", "10.0.0.4:8080*1 tls"];
  const one = { n2: [entrance("1.2.3.4")] };
  const two = { n2: [entrance("1.2.3.4"), entrance("1.2.3.5", 443)] };
  assert.deepEqual(dialled(only(read(endpoints, { properties: inN1 }))), plain);
  assert.deepEqual(dialled(only(read(endpoints, { properties: { agent: true }, entrances: one }))), plain);
  assert.deepEqual(dialled(only(read(endpoints, { properties: { ...inN1, network: "n2" }, entrances: one }))), plain);
  assert.deepEqual(dialled(only(read(endpoints, { properties: inN1, entrances: one }))), [
    ...["10.0.0.1:8080*1 tls", "10.0.0.4:8080*1 tls", "1.2.3.4:15443*3 tls"],
  ]);
  assert.deepEqual(dialled(only(read(endpoints, { properties: inN1, entrances: two }))), [
    ...["10.0.0.1:8080*2 tls", "10.0.0.4:8080*2 tls", "1.2.3.4:15443*3 tls", "1.2.3.5:443*3 tls"],
  ]);
});

Deno.test("through a gateway go connections of mutual TLS to healthy endpoints alone", () => {
  const entrances = { n2: [entrance("1.2.3.4")] };
  const reached = (other: Endpoint, world: ReaderWorld = {}) =>
    dialled(only(read([near, other], { properties: inN1, entrances, ...world }))).length;
  assert.equal(reached(far(2)), 2);
  assert.equal(reached(far(2, { tlsMode: "disabled" })), 1);
  assert.equal(reached(far(2, { health: "unhealthy" }), { settings: { sendUnhealthyEndpoints: true } }), 1);
  assert.equal(reached(far(2), { properties: { network: "n1" } }), 1, "a proxy without an identity");
  assert.equal(reached(far(2), { mesh: { enableAutoMtls: false } }), 1);
  assert.equal(reached(far(2), policy({ tls: { mode: "DISABLE" } })), 1);
  assert.equal(reached(far(2), policy({ tls: { mode: "MESH_MUTUAL" } })), 2);
});

Deno.test("an endpoint is entered through gateways of its own cluster, else through all gateways of its network", () => {
  const way = (address: string, ...clusterIds: string[]) => {
    return { ...entrance(address), ...(clusterIds.length > 0 && { clusterIds }) };
  };
  const to = (endpoints: readonly Endpoint[], ...n2: ReturnType<typeof way>[]) =>
    dialled(only(read(endpoints, { properties: inN1, entrances: { n2 } })));
  const [east, west] = [far(2, { clusterId: "east", weight: 2 }), far(3, { clusterId: "west" })];
  const both = [way("1.2.3.4", "east"), way("1.2.3.5", "west")];
  assert.deepEqual(to([east], ...both), ["1.2.3.4:15443*2 tls"]);
  assert.deepEqual(to([east, west], ...both), ["1.2.3.4:15443*2 tls", "1.2.3.5:15443*1 tls"]);
  assert.deepEqual(to([east, west], way("1.2.3.4", "east"), way("1.2.3.5")), [
    ...["1.2.3.4:15443*5 tls", "1.2.3.5:15443*1 tls"],
  ], "that of the west may enter by either; each gateway is there once");
  assert.deepEqual(to([east, west], way("1.2.3.4", "east", "west"), way("1.2.3.5")), ["1.2.3.4:15443*3 tls"]);
  assert.deepEqual(to([east, west], way("1.2.3.4", "north")), ["1.2.3.4:15443*3 tls"]);
});

Deno.test("an endpoint without an address is reached through its network's gateway, and not at all without one", () => {
  const bare = far(2, { address: "" });
  const entrances = { n2: [entrance("1.2.3.4")] };
  assert.deepEqual(dialled(only(read([near, bare], { properties: inN1, entrances }))), [
    ...["10.0.0.1:8080*1 tls", "1.2.3.4:15443*1 tls"],
  ]);
  assert.deepEqual(dialled(only(read([near, bare], { properties: inN1 }))), ["10.0.0.1:8080*1 tls"]);
  const inN2 = { ...inN1, network: "n2" };
  assert.deepEqual(dialled(only(read([bare], { properties: inN2, entrances }))), []);
});

Deno.test("gateways stand for names that the proxy resolves, too, under the same conditions", () => {
  const named = (world: ReaderWorld = {}) => {
    const endpoints = [far(1, { address: "a.internal" }), near];
    const services = [service(HOST, { resolution: "dns" })];
    const entrances = { n2: [entrance("1.2.3.4")] };
    const all = { services, properties: inN1, entrances, ...world };
    const [cluster] = outboundClusters(read(endpoints, all), HOST);
    return dialled(cluster!.message.load_assignment!);
  };
  assert.deepEqual(named(), ["10.0.0.1:8080*1 tls", "1.2.3.4:15443*1 tls"]);
  assert.deepEqual(
    named({ properties: { ...inN1, network: "n2" } }),
    ["10.0.0.1:8080*1 tls", "a.internal:8080*1 tls"]
      .toSorted().toReversed(),
  );
  assert.deepEqual(named(policy({ tls: { mode: "DISABLE" } })), ["10.0.0.1:8080*1 tls"]);
  assert.deepEqual(named({ properties: { network: "n1" } }), ["10.0.0.1:8080*1"], "a proxy without an identity");
});

Deno.test("endpoints of a single unnamed network ask nothing about networks", () => {
  const r = read([endpoint("10.0.0.1", { tlsMode: "mesh" }), endpoint("10.0.0.2")], { properties: inN1 });
  loadAssignments(r, HOST);
  assert.deepEqual(r.asked.filter((question) => /etwork|entrances|clusterId/i.test(question)), []);
});

Deno.test("weights are whole and no more than Envoy takes in sum, for any numbers of gateways and weights", () => {
  const networks = fc.array(fc.record({ gateways: fc.integer({ min: 1, max: 60 }), weight: fc.nat(40_000_000) }), {
    minLength: 1,
    maxLength: 20,
  });
  fc.assert(fc.property(networks, (list) => {
    const endpoints = list.map(({ weight }, index) => far(index, { network: `f${index}`, weight }));
    const entrances = Object.fromEntries(
      list.map(({ gateways }, index) => [
        `f${index}`,
        Array.from({ length: gateways }, (_, i) => ({ network: `f${index}`, address: `1.${index}.0.${i}`, port: 1 })),
      ]),
    );
    const message = only(read([near, ...endpoints], { properties: inN1, entrances }));
    const all = (message.endpoints ?? []).flatMap(({ lb_endpoints = [] }) => lb_endpoints);
    const weights = all.map(({ load_balancing_weight }) => load_balancing_weight?.value ?? 1);
    assert.ok(weights.every((weight) => Number.isInteger(weight) && weight > 0));
    assert.ok(weights.reduce((a, b) => a + b, 0) <= 0xffff_ffff);
  }));
});

/** `priority: address` of each group. */
function byPriority({ endpoints = [] }: ClusterLoadAssignment): string[] {
  return endpoints.map(({ priority = 0, lb_endpoints = [] }) =>
    `${priority}: ${lb_endpoints.map((e) => e.endpoint!.address!.socket_address!.address).join(" ")}`
  );
}

Deno.test("gateways stand in for the endpoints of a subset, in each locality apart; a failover to them is by locality", () => {
  const subset = (name: string) => ({ labels: { version: name } });
  const endpoints = [
    endpoint("10.0.0.1", { network: "n1", locality: "eu/1/a", tlsMode: "mesh", ...subset("v1") }),
    far(2, { locality: "eu/2/b", ...subset("v1") }),
    far(3, { locality: "us/1/c", ...subset("v2") }),
  ];
  const subsets = [{ name: "v1", labels: { version: "v1" } }, { name: "v2", labels: { version: "v2" } }];
  const world = {
    properties: { ...inN1, locality: "eu/1/a" },
    entrances: { n2: [entrance("1.2.3.4")] },
    destinationRules: { [HOST]: rule(HOST, { subsets, trafficPolicy: { outlierDetection: {} } }) },
  };
  const built = loadAssignments(read(endpoints, world), HOST).map(({ message }) => byPriority(message));
  assert.deepEqual(built, [
    ["0: 10.0.0.1", "1: 1.2.3.4", "2: 1.2.3.4"],
    ["0: 10.0.0.1", "1: 1.2.3.4"],
    ["0: 1.2.3.4"],
  ]);
});
