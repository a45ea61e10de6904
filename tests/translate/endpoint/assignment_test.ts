import assert from "node:assert/strict";
import fc from "fast-check";
import type { LocalityLbSetting } from "../../../lib/config/kinds/common/schema.ts";
import type { TrafficPolicy } from "../../../lib/config/kinds/destination_rule/schema.ts";
import type { Endpoint, Service } from "../../../lib/registry/types.ts";
import { outboundClusters } from "../../../lib/translate/cluster/outbound.ts";
import { isClusterLocal } from "../../../lib/translate/endpoint/cluster_local.ts";
import { defaultMeshConfig } from "../../../lib/config/mesh/merge.ts";
import { loadAssignment, loadAssignments } from "../../../lib/translate/endpoint/assignment.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { meshReader, type ReaderWorld } from "../mesh_reader.ts";
import { endpoint, port, rule, service } from "../make.ts";

type ClusterLoadAssignment = envoy.config.endpoint.v3.ClusterLoadAssignment;

const HOST = "a.default.svc.cluster.local";
const NAME = `outbound|80||${HOST}`;

function read(endpoints: readonly Endpoint[], world: ReaderWorld = {}, given: Partial<Service> = {}) {
  return meshReader({ services: [service(HOST, given)], endpoints: { [HOST]: endpoints }, ...world });
}

function withPolicy(trafficPolicy: TrafficPolicy): ReaderWorld {
  return { destinationRules: { [HOST]: rule(HOST, { trafficPolicy }) } };
}

/** Addresses as `priority: [address*weight ...]` groups, in order. */
function seen(message: ClusterLoadAssignment): string[] {
  return (message.endpoints ?? []).map((group) => {
    const members = (group.lb_endpoints ?? []).map((e) => address(e));
    return `${group.priority ?? 0}/${group.load_balancing_weight?.value}: ${members.join(" ")}`;
  });
}

function address(e: envoy.config.endpoint.v3.LbEndpoint): string {
  const { socket_address, pipe } = e.endpoint!.address!;
  return socket_address?.address ?? pipe!.path!;
}

function only(r: ReturnType<typeof meshReader>): ClusterLoadAssignment {
  const built = loadAssignments(r, HOST);
  assert.equal(built.length, 1);
  return built[0]!.message;
}

Deno.test("a service without rules asks nothing about the proxy", () => {
  const r = read([endpoint("10.0.0.1", { locality: "eu/1" }), endpoint("10.0.0.2", { locality: "us/1" })]);
  assert.deepEqual(seen(only(r)), ["0/1: 10.0.0.1", "0/1: 10.0.0.2"]);
  assert.deepEqual([...r.asked].sort(), [`destinationRule/${HOST}`, `endpoints/${HOST}`, "mesh", `service/${HOST}`]);
});

Deno.test("a host that is not visible has no assignment, one without endpoints an empty one", () => {
  assert.deepEqual(loadAssignments(meshReader(), HOST), []);
  assert.deepEqual(only(read([])), { cluster_name: NAME });
});

Deno.test("an assignment by a name that stands for no EDS cluster is empty", () => {
  const r = read([endpoint("10.0.0.1")]);
  for (const name of ["nonsense", `outbound|81||${HOST}`, `outbound|80|v9|${HOST}`, "outbound|80||b", `inbound|80||`]) {
    assert.deepEqual(loadAssignment(r, name), { message: { cluster_name: name }, causes: [] });
  }
  const alias = read([endpoint("10.0.0.1")], {}, { externalName: "b.example.com" });
  assert.deepEqual(loadAssignment(alias, NAME).message, { cluster_name: NAME });
  const byName = read([endpoint("b.example.com")], {}, { resolution: "dns" });
  assert.deepEqual(loadAssignment(byName, NAME).message, { cluster_name: NAME });
});

Deno.test("endpoints of other ports and addresses that are names are left out", () => {
  const r = read([
    endpoint("10.0.0.1"),
    endpoint("10.0.0.2", { portName: "other" }),
    endpoint("name.example.com"),
    endpoint("2001:db8::1"),
    endpoint("unix:///run/app.sock", { port: 0 }),
  ]);
  assert.deepEqual(seen(only(r)), ["0/3: 10.0.0.1 2001:db8::1 /run/app.sock"]);
});

Deno.test("unhealthy endpoints are sent by setting or for traffic distribution only, as unhealthy", () => {
  const endpoints = [endpoint("10.0.0.1"), endpoint("10.0.0.2", { health: "unhealthy" })];
  const states = (r: ReturnType<typeof meshReader>) => only(r).endpoints![0]!.lb_endpoints!.map((e) => e.health_status);
  assert.deepEqual(states(read(endpoints)), [undefined]);
  assert.deepEqual(states(read(endpoints, { settings: { sendUnhealthyEndpoints: true } })), [undefined, 2]);
  assert.deepEqual(states(read(endpoints, {}, { trafficDistribution: "preferSameZone" })), [undefined, 2]);
});

Deno.test("draining endpoints, by health or by label, are sent to sticky services only", () => {
  const endpoints = [
    endpoint("10.0.0.1"),
    endpoint("10.0.0.2", { health: "draining" }),
    endpoint("10.0.0.3", { labels: { "mesh.io/draining": "true" } }),
  ];
  assert.deepEqual(seen(only(read(endpoints))), ["0/1: 10.0.0.1"]);
  for (const label of ["mesh.io/persistent-session", "mesh.io/persistent-session-header"]) {
    const members = only(read(endpoints, {}, { labels: { [label]: "x" } })).endpoints![0]!.lb_endpoints!;
    assert.deepEqual(members.map((e) => e.health_status), [undefined, 3, 3]);
  }
});

Deno.test("clients of cluster-local hosts stay in their cluster", () => {
  const endpoints = [endpoint("10.0.0.1"), endpoint("10.0.0.2", { clusterId: "other" })];
  const mesh = (hosts: string[], clusterLocal: boolean) => ({
    mesh: { serviceSettings: [{ settings: { clusterLocal }, hosts }] },
  });
  assert.deepEqual(seen(only(read(endpoints))), ["0/2: 10.0.0.1 10.0.0.2"]);
  assert.deepEqual(seen(only(read(endpoints, mesh(["*.default.svc.cluster.local"], true)))), ["0/1: 10.0.0.1"]);
  const exactWins = {
    mesh: {
      serviceSettings: [
        { settings: { clusterLocal: false }, hosts: [HOST] },
        { settings: { clusterLocal: true }, hosts: ["*"] },
      ],
    },
  };
  assert.deepEqual(seen(only(read(endpoints, exactWins))), ["0/2: 10.0.0.1 10.0.0.2"]);
});

Deno.test("the orchestrator's own services are cluster-local unless the mesh says otherwise", () => {
  const host = "dns.kube-system.svc.cluster.local";
  const endpoints = { [host]: [endpoint("10.0.0.1"), endpoint("10.0.0.2", { clusterId: "other" })] };
  const world = { services: [service(host)], endpoints };
  assert.deepEqual(seen(loadAssignments(meshReader(world), host)[0]!.message), ["0/1: 10.0.0.1"]);
  const mesh = { serviceSettings: [{ settings: { clusterLocal: false }, hosts: ["*.kube-system.svc.cluster.local"] }] };
  assert.deepEqual(seen(loadAssignments(meshReader({ ...world, mesh }), host)[0]!.message), ["0/2: 10.0.0.1 10.0.0.2"]);
});

Deno.test("the most specific host among the mesh's settings and the default local hosts decides", () => {
  const local = (host: string, hosts: readonly string[] = [], clusterLocal = false) => {
    const serviceSettings = hosts.length > 0 ? [{ settings: { clusterLocal }, hosts }] : [];
    const mesh = defaultMeshConfig({ systemNamespace: "mesh-system" });
    return isClusterLocal({ ...mesh, serviceSettings }, host, "cluster.local");
  };
  const [dns, api] = ["dns.kube-system.svc.cluster.local", "kubernetes.default.svc.cluster.local"];
  const server = "meshd.mesh-system.svc.cluster.local";
  for (const host of [dns, api, server]) {
    assert.ok(local(host), host);
    for (const wider of ["*", "*.local", "*.svc.cluster.local"]) assert.ok(local(host, [wider]), `${wider} of ${host}`);
    assert.ok(!local(host, [host]));
  }
  assert.ok(!local(dns, ["*.kube-system.svc.cluster.local"]));
  assert.ok(local("other.kube-system.svc.cluster.local", [dns]), "another one stays");
  for (const host of ["a.default.svc.cluster.local", "kube-system.svc.cluster.local", "meshd.x.svc.cluster.local"]) {
    assert.ok(!local(host), host);
    assert.ok(local(host, ["*"], true), host);
  }
});

Deno.test("clients of node-local services stay on their node", () => {
  const endpoints = [endpoint("10.0.0.1", { nodeName: "n1" }), endpoint("10.0.0.2", { nodeName: "n2" })];
  const r = read(endpoints, { properties: { nodeName: "n2" } }, { nodeLocal: true });
  assert.deepEqual(seen(only(r)), ["0/1: 10.0.0.2"]);
});

Deno.test("endpoints of another network are dialled where no gateway stands before it", () => {
  const endpoints = [endpoint("10.0.0.1", { network: "n1" }), endpoint("10.0.0.2", { network: "n2" })];
  assert.deepEqual(seen(only(read(endpoints, { properties: { network: "n1" } }))), ["0/2: 10.0.0.1 10.0.0.2"]);
});

Deno.test("a proxy that asked for some networks sees these networks and the unnamed network", () => {
  const endpoints = [
    endpoint("10.0.0.1", { network: "n1" }),
    endpoint("10.0.0.2", { network: "n2" }),
    endpoint("10.0.0.3"),
  ];
  const r = read(endpoints, { properties: { requestedNetworks: "n2,n3" } });
  assert.deepEqual(seen(only(r)), ["0/2: 10.0.0.2 10.0.0.3"]);
});

Deno.test("other addresses of an endpoint are sent where dual-stack is on", () => {
  const endpoints = [endpoint("10.0.0.1", { additionalAddresses: ["2001:db8::1"] })];
  const additional = (dualStack: boolean) =>
    only(read(endpoints, { settings: { dualStack } })).endpoints![0]!.lb_endpoints![0]!.endpoint!.additional_addresses;
  assert.equal(additional(false), undefined);
  assert.deepEqual(additional(true), [{ address: { socket_address: { address: "2001:db8::1", port_value: 8080 } } }]);
});

const spread = [
  endpoint("10.0.0.1", { locality: "eu/1/a" }),
  endpoint("10.0.0.2", { locality: "eu/1/b" }),
  endpoint("10.0.0.3", { locality: "eu/2/c" }),
  endpoint("10.0.0.4", { locality: "us/1/d" }),
  endpoint("10.0.0.5", { locality: "asia/1/e" }),
];

function near(locality: string, localityLbSetting: LocalityLbSetting | undefined, outlier = true): string[] {
  const policy: TrafficPolicy = {
    ...(localityLbSetting && { loadBalancer: { localityLbSetting } }),
    ...(outlier && { outlierDetection: { consecutive5xxErrors: 1 } }),
  };
  return seen(only(read(spread, { properties: { locality }, ...withPolicy(policy) })));
}

Deno.test("with outlier detection near endpoints come first: subzone, zone, region, elsewhere", () => {
  assert.deepEqual(near("eu/1/a", undefined), [
    "0/1: 10.0.0.1",
    "1/1: 10.0.0.2",
    "2/1: 10.0.0.3",
    "3/1: 10.0.0.5",
    "3/1: 10.0.0.4",
  ]);
});

Deno.test("priorities have no gaps for a proxy that is near no endpoint", () => {
  assert.deepEqual(near("us/9/z", undefined).map((g) => g[0]), ["0", "1", "1", "1", "1"]);
  assert.deepEqual(near("africa/1/z", undefined).map((g) => g[0]), ["0", "0", "0", "0", "0"]);
});

Deno.test("without outlier detection, or switched off, places do not matter and are not asked for", () => {
  for (const [setting, outlier] of [[{}, false], [{ enabled: false }, true]] as const) {
    assert.deepEqual(near("eu/1/a", setting, outlier).map((g) => g[0]), ["0", "0", "0", "0", "0"]);
  }
  const r = read(spread, { mesh: { localityLbSetting: { enabled: false } }, ...withPolicy({ outlierDetection: {} }) });
  only(r);
  assert.ok(!r.asked.some((q) => q.includes("ocality")), r.asked.join());
});

Deno.test("failover names the region that comes after the own one", () => {
  assert.deepEqual(near("eu/1/a", { failover: [{ from: "eu", to: "us" }] }), [
    "0/1: 10.0.0.1",
    "1/1: 10.0.0.2",
    "2/1: 10.0.0.3",
    "3/1: 10.0.0.4",
    "4/1: 10.0.0.5",
  ]);
});

Deno.test("distribution needs no outlier detection, weighs the localities that it names and leaves out the rest", () => {
  const setting = { distribute: [{ from: "eu/1/*", to: { "eu/1/*": 80, "us/*": 20 } }] };
  assert.deepEqual(near("eu/1/a", setting, false), ["0/40: 10.0.0.1", "0/40: 10.0.0.2", "0/20: 10.0.0.4"]);
  assert.deepEqual(near("us/1/d", setting, false).length, 5);
});

Deno.test("proxies with the same answer about distribution share the result", () => {
  const distribute = [{ from: "eu/*", to: { "eu/*": 100 } }];
  const r = read(spread, {
    properties: { locality: "eu/7/x" },
    ...withPolicy({ loadBalancer: { localityLbSetting: { distribute } } }),
  });
  only(r);
  assert.deepEqual(r.asked.filter((q) => q.includes("ocality")), ["derived/inLocality/eu/*"]);
});

Deno.test("failover by labels compares them in order with the proxy's", () => {
  const labels = (rack: string, host: string) => ({ labels: { rack, host } });
  const endpoints = [
    endpoint("10.0.0.1", labels("r2", "h1")),
    endpoint("10.0.0.2", labels("r1", "h2")),
    endpoint("10.0.0.3", labels("r1", "h1")),
  ];
  const policy: TrafficPolicy = {
    outlierDetection: { consecutive5xxErrors: 1 },
    loadBalancer: { localityLbSetting: { failoverPriority: ["rack", "host"] } },
  };
  const r = read(endpoints, { properties: { labels: { rack: "r1", host: "h1" } }, ...withPolicy(policy) });
  assert.deepEqual(seen(only(r)), ["0/1: 10.0.0.3", "1/1: 10.0.0.2", "2/1: 10.0.0.1"]);
  const fixed: TrafficPolicy = {
    outlierDetection: { consecutive5xxErrors: 1 },
    loadBalancer: { localityLbSetting: { failoverPriority: ["rack=r2"] } },
  };
  const anyone = read(endpoints, withPolicy(fixed));
  assert.deepEqual(seen(only(anyone)), ["0/1: 10.0.0.1", "1/2: 10.0.0.2 10.0.0.3"]);
  assert.ok(!anyone.asked.some((q) => q.startsWith("derived/label")));
});

Deno.test("traffic distribution prefers the zone, or the node, without outlier detection", () => {
  const zone = read(spread, { properties: { locality: "eu/1/z" } }, { trafficDistribution: "preferSameZone" });
  assert.deepEqual(seen(only(zone)).map((g) => g[0]), ["0", "0", "1", "2", "2"]);
  const nodes = [endpoint("10.0.0.1", { nodeName: "n1" }), endpoint("10.0.0.2", { nodeName: "n2" })];
  const node = read(nodes, { properties: { nodeName: "n2" } }, { trafficDistribution: "preferSameNode" });
  assert.deepEqual(seen(only(node)), ["0/1: 10.0.0.2", "1/1: 10.0.0.1"]);
});

Deno.test("weights too large for a message are cut, not wrapped", () => {
  const r = read([endpoint("10.0.0.1", { weight: 4294967295 }), endpoint("10.0.0.2", { weight: 4294967295 })]);
  assert.equal(only(r).endpoints![0]!.load_balancing_weight!.value, 4294967295);
});

const anyLocality = fc.constantFrom("", "eu", "eu/1", "eu/1/a", "eu/2/b", "us/1/a", "us");
const anyEndpoint = fc.record({
  address: fc.integer({ min: 1, max: 250 }).map((n) => `10.0.0.${n}`),
  locality: anyLocality,
  labels: fc.record({ version: fc.constantFrom("v1", "v2"), rack: fc.constantFrom("r1", "r2") }),
  weight: fc.integer({ min: 0, max: 5 }),
});
const anyPolicy: fc.Arbitrary<TrafficPolicy> = fc.record({
  loadBalancer: fc.oneof(
    fc.constant({ simple: "PASSTHROUGH" as const }),
    fc.record({
      localityLbSetting: fc.constantFrom<LocalityLbSetting>(
        {},
        { failover: [{ from: "eu", to: "us" }] },
        { failoverPriority: ["rack", "topology.kubernetes.io/region"] },
        { failoverPriority: ["rack"], failover: [{ from: "us", to: "eu" }] },
      ),
    }),
  ),
  outlierDetection: fc.constant({ consecutive5xxErrors: 1 }),
}, { requiredKeys: [] });
const anySubsets = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom("v1", "v2", "all"),
    labels: fc.constantFrom({ version: "v1" }, { version: "v2" }),
    trafficPolicy: anyPolicy,
  }, { requiredKeys: ["name"] }),
  { selector: (s) => s.name },
);

Deno.test("every EDS cluster has its assignment and no other has one; priorities have no gaps; no endpoint is lost", () => {
  fc.assert(fc.property(
    fc.uniqueArray(anyEndpoint, { selector: (e) => e.address }),
    anyPolicy,
    anySubsets,
    anyLocality,
    (endpoints, trafficPolicy, subsets, locality) => {
      const r = read(endpoints.map((e) => endpoint(e.address, e)), {
        properties: { locality, labels: { rack: "r1" } },
        destinationRules: { [HOST]: rule(HOST, { trafficPolicy, subsets }) },
      }, { ports: [port(80), port(81, "UDP")] });
      const built = loadAssignments(r, HOST);
      const eds = outboundClusters(r, HOST).filter((c) => c.message.type === 3).map((c) => c.message.name);
      assert.deepEqual(built.map((b) => b.message.cluster_name), eds);
      for (const { message, causes } of built) {
        assert.deepEqual(loadAssignment(r, message.cluster_name!), { message, causes });
        const priorities = new Set((message.endpoints ?? []).map((g) => g.priority ?? 0));
        assert.deepEqual([...priorities].sort(), [...priorities].map((_, i) => i));
        const subset = subsets.find((s) => message.cluster_name!.includes(`|${s.name}|`));
        const wanted = endpoints.filter((e) => !subset?.labels || e.labels.version === subset.labels.version);
        const members = (message.endpoints ?? []).flatMap((g) => g.lb_endpoints!.map(address));
        assert.deepEqual(members.sort(), wanted.map((e) => e.address).sort());
      }
    },
  ));
});
