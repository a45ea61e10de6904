import assert from "node:assert/strict";
import { workloadEntry } from "../objects.ts";
import { testConformance } from "../conformance.ts";
import { fact, manifest } from "../../config/facts/manifests.ts";
import { Aggregate } from "../../../lib/registry/aggregate.ts";
import { EndpointIndex } from "../../../lib/registry/endpoint_index.ts";
import { serviceTargets } from "../../../lib/registry/inbound.ts";
import { OrchRegistry } from "../../../lib/registry/orch/registry.ts";
import { ServiceEntryRegistry } from "../../../lib/registry/service_entry/registry.ts";
import { OPTIONS } from "../objects.ts";
import { at, cluster, keyOf, object, ORCH_OPTIONS, pod, service, slice } from "./cluster.ts";

testConformance("orchestrator's objects", () => {
  const registry = new OrchRegistry(ORCH_OPTIONS);
  return {
    registry,
    put({ namespace, name, ports, addresses }) {
      const labels = { "kubernetes.io/service-name": name };
      registry.apply([
        fact(
          manifest("Service", namespace, name, { spec: { ports: ports.map((port) => ({ name: `p${port}`, port })) } }),
        ),
        fact(manifest("EndpointSlice", namespace, `${name}-1`, {
          metadata: { labels },
          ports: ports.map((port) => ({ name: `p${port}`, port })),
          endpoints: addresses.map((address) => at(address)),
        })),
      ], []);
    },
    remove({ namespace, name }) {
      registry.apply([], [`Service/${namespace}/${name}`, `EndpointSlice/${namespace}/${name}-1`]);
    },
  };
});

Deno.test("a service has its ports by name and application protocol, and the addresses of both families", () => {
  const { sink } = cluster([service("cart", {
    clusterIPs: ["10.96.0.1", "fd00::1"],
    ports: [
      { name: "http-web", port: 80, targetPort: "web" },
      { name: "api", port: 81, targetPort: 9000, appProtocol: "kubernetes.io/h2c" },
      { name: "dns", port: 53, protocol: "UDP" },
      { name: "any", port: 9999 },
    ],
  })]);
  const { ports, addresses, resolution, headless, cause } = sink.state.services.get(keyOf("cart"))!;
  assert.deepEqual(ports, [
    { name: "http-web", port: 80, protocol: "HTTP" },
    { name: "api", port: 81, targetPort: 9000, protocol: "HTTP2" },
    { name: "dns", port: 53, protocol: "UDP" },
    { name: "any", port: 9999, protocol: "Unsupported" },
  ]);
  assert.deepEqual([addresses, resolution, headless, cause], [
    ["10.96.0.1", "fd00::1"],
    "static",
    false,
    "Service/shop/cart",
  ]);
});

Deno.test("headless services, external names, local traffic and wishes for near endpoints are in the service", () => {
  const { sink } = cluster([
    object("Namespace", "shop", {
      metadata: { annotations: { "networking.istio.io/traffic-distribution": "PreferClose" } },
    }),
    service("set", { clusterIP: "None", clusterIPs: ["None"], publishNotReadyAddresses: true }),
    service("alias", {
      type: "ExternalName",
      externalName: "example.com",
      clusterIP: "",
      clusterIPs: [],
      selector: {},
    }),
    service("node", { internalTrafficPolicy: "Local", trafficDistribution: "PreferSameNode" }),
    service("own", {}, { annotations: { "networking.istio.io/traffic-distribution": "PreferSameNode" } }),
  ]);
  const of = (name: string) => sink.state.services.get(keyOf(name))!;
  const { headless, resolution, publishNotReadyAddresses, addresses } = of("set");
  assert.deepEqual([headless, resolution, publishNotReadyAddresses, addresses], [true, "passthrough", true, []]);
  assert.deepEqual([of("alias").externalName, of("alias").meshExternal], ["example.com", true]);
  assert.deepEqual([of("node").nodeLocal, of("node").trafficDistribution], [true, "preferSameNode"]);
  assert.equal(of("own").trafficDistribution, "preferSameNode");
  assert.equal(of("set").trafficDistribution, "preferSameZone");
});

Deno.test("annotations decide who sees a service and the accounts in its certificates, in either spelling", () => {
  const { sink } = cluster([service("cart", {}, {
    annotations: {
      "networking.istio.io/exportTo": "., web",
      "alpha.istio.io/kubernetes-serviceaccounts": "one,two",
      "alpha.mesh.io/canonical-serviceaccounts": "spiffe://other/ns/a/sa/b",
    },
  })]);
  const { exportTo, subjectAltNames } = sink.state.services.get(keyOf("cart"))!;
  assert.deepEqual(exportTo, [".", "web"]);
  assert.deepEqual(subjectAltNames, [
    "spiffe://other/ns/a/sa/b",
    "spiffe://cluster.local/ns/shop/sa/one",
    "spiffe://cluster.local/ns/shop/sa/two",
  ]);
});

Deno.test("an endpoint is its pod's: labels, account, node, locality, mutual TLS, name of the workload", () => {
  const labels = { app: "cart", "pod-template-hash": "5d8", "security.istio.io/tlsMode": "istio" };
  const { sink } = cluster([
    object("Node", "n1", {
      metadata: {
        labels: {
          "topology.kubernetes.io/region": "r",
          "topology.kubernetes.io/zone": "z",
          "topology.istio.io/subzone": "s",
        },
      },
    }),
    service("cart"),
    pod("cart-5d8-x", "10.0.0.1", labels, {
      metadata: {
        generateName: "cart-5d8-",
        ownerReferences: [{ kind: "ReplicaSet", name: "cart-5d8", controller: true }],
      },
      spec: { nodeName: "n1" },
    }),
    slice("cart-1", "cart", [at("10.0.0.1", "cart-5d8-x")]),
  ]);
  const [endpoint] = sink.endpointsOf(keyOf("cart"));
  assert.deepEqual(endpoint, {
    address: "10.0.0.1",
    port: 8080,
    portName: "http",
    clusterId: "c1",
    weight: 1,
    health: "healthy",
    labels: {
      "app": "cart",
      "pod-template-hash": "5d8",
      "security.mesh.io/tlsMode": "mesh",
      "topology.kubernetes.io/region": "r",
      "topology.kubernetes.io/zone": "z",
      "topology.mesh.io/subzone": "s",
      "topology.mesh.io/cluster": "c1",
      "kubernetes.io/hostname": "n1",
    },
    locality: "r/z/s",
    network: "",
    serviceAccount: "account",
    namespace: "shop",
    workloadName: "cart",
    tlsMode: "mesh",
    nodeName: "n1",
  });
});

Deno.test("an endpoint waits for its pod, keeps working without an event of its own, and is gone with the pod", () => {
  const { registry, sink } = cluster([
    service("cart"),
    slice("cart-1", "cart", [at("10.0.0.1", "a"), at("10.0.0.2", "b")]),
  ]);
  assert.deepEqual(sink.addresses(keyOf("cart")), []);
  assert.deepEqual(registry.counts.waiting, { endpoints: 2, addresses: 2 });
  sink.take();
  registry.apply([pod("a", "10.0.0.1", { app: "cart" })], []);
  assert.deepEqual(sink.addresses(keyOf("cart")), ["10.0.0.1:8080/http"]);
  assert.deepEqual(registry.counts.waiting, { endpoints: 1, addresses: 1 });
  assert.deepEqual(sink.take(), [`endpoints ${keyOf("cart")} 1`, "+workload pod/shop/a"]);
  registry.apply([], ["Pod/shop/a"]);
  assert.deepEqual(sink.addresses(keyOf("cart")), []);
  assert.deepEqual(registry.counts.waiting, { endpoints: 2, addresses: 2 });
});

Deno.test("a node that comes after its pods, or whose labels change, gives their endpoints another locality", () => {
  const on = { spec: { nodeName: "n1" } };
  const { registry, sink } = cluster([
    service("cart"),
    slice("cart-1", "cart", [at("10.0.0.1", "a"), at("10.0.0.9", undefined, { nodeName: "n1" })]),
    pod("a", "10.0.0.1", { app: "cart" }, on),
  ]);
  const localities = () => sink.endpointsOf(keyOf("cart")).map(({ locality }) => locality);
  assert.deepEqual(localities(), ["", ""]);
  const node = (zone: string) =>
    object("Node", "n1", {
      metadata: { labels: { "topology.kubernetes.io/region": "r", "topology.kubernetes.io/zone": zone } },
    });
  registry.apply([node("z1")], []);
  assert.deepEqual(localities(), ["r/z1", "r/z1"]);
  registry.apply([node("z2")], []);
  assert.deepEqual(localities(), ["r/z2", "r/z2"]);
  registry.apply([], ["Node//n1"]);
  assert.deepEqual(localities(), ["", ""]);
});

Deno.test("a pod's own labels for locality and network win over its node and the system namespace", () => {
  const { registry, sink } = cluster([
    service("cart"),
    slice("cart-1", "cart", [at("10.0.0.1", "a"), at("10.0.0.2", "b")]),
    pod("a", "10.0.0.1", { app: "cart", "istio-locality": "own.zone", "topology.istio.io/network": "mine" }),
    pod("b", "10.0.0.2", { app: "cart" }),
  ], { networkOf: (address) => address === "10.0.0.2" ? "ranges" : "" });
  const networks = () => sink.endpointsOf(keyOf("cart")).map(({ network }) => network);
  assert.equal(sink.endpointsOf(keyOf("cart"))[0]!.locality, "own/zone");
  assert.deepEqual(networks(), ["mine", "ranges"]);
  registry.apply([
    object("Namespace", "mesh-system", { metadata: { labels: { "topology.istio.io/network": "home" } } }),
  ], []);
  assert.deepEqual(networks(), ["mine", "home"]);
});

Deno.test("an endpoint that ends is gone, but drains where sessions stick to it; one that is not ready stays, unhealthy", () => {
  const ends = (serving: boolean) => ({ conditions: { ready: false, serving, terminating: true } });
  const list = [
    at("10.0.0.1", undefined, ends(true)),
    at("10.0.0.2", undefined, ends(false)),
    at("10.0.0.3", undefined, { conditions: { ready: false, serving: false, terminating: false } }),
    at("10.0.0.4", undefined, { conditions: { ready: null } }),
  ];
  const health = (labels: Record<string, string>) => {
    const { sink } = cluster([service("cart", {}, { labels }), slice("cart-1", "cart", list)]);
    return sink.endpointsOf(keyOf("cart")).map(({ address, health }) => `${address.at(-1)} ${health}`);
  };
  assert.deepEqual(health({}), ["3 unhealthy", "4 healthy"]);
  assert.deepEqual(health({ "istio.io/persistent-session": "cookie" }), ["1 draining", "3 unhealthy", "4 healthy"]);
});

Deno.test("slices of names, of other clusters and of no service are passed over; an endpoint in two slices is one", () => {
  const { sink } = cluster([
    service("cart"),
    slice("a", "cart", [at("10.0.0.1"), at("10.0.0.2")]),
    slice("b", "cart", [at("10.0.0.2"), at("10.0.0.3")]),
    slice("names", "cart", [at("example.com")], { addressType: "FQDN" }),
    slice("import", "cart", [at("10.0.0.8")], {
      metadata: { labels: { "kubernetes.io/service-name": "cart", "multicluster.kubernetes.io/service-name": "cart" } },
    }),
    slice("lost", "cart", [at("10.0.0.9")], { metadata: { labels: {} } }),
  ]);
  assert.deepEqual(sink.addresses(keyOf("cart")), ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map((a) => `${a}:8080/http`));
});

Deno.test("endpoints of kind Endpoints count until their service has a slice", () => {
  const subsets = [{
    addresses: [{ ip: "10.0.0.1" }],
    notReadyAddresses: [{ ip: "10.0.0.2" }],
    ports: [{ name: "http", port: 8080 }],
  }];
  const { registry, sink } = cluster([service("cart"), object("Endpoints", "cart", { subsets })]);
  const health = () => sink.endpointsOf(keyOf("cart")).map(({ address, health }) => `${address} ${health}`);
  assert.deepEqual(health(), ["10.0.0.1 healthy", "10.0.0.2 unhealthy"]);
  registry.apply([slice("cart-1", "cart", [at("10.0.0.7")])], []);
  assert.deepEqual(health(), ["10.0.0.7 healthy"]);
  registry.apply([], ["EndpointSlice/shop/cart-1"]);
  assert.deepEqual(health(), ["10.0.0.1 healthy", "10.0.0.2 unhealthy"]);
});

Deno.test("a pod of two families is one endpoint with both addresses where the mesh has both", () => {
  const status = { podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] };
  const objects = [
    service("cart", { clusterIPs: ["10.96.0.1", "fd00::9"] }),
    pod("a", "10.0.0.1", { app: "cart" }, { status }),
    slice("four", "cart", [at("10.0.0.1", "a")]),
    slice("six", "cart", [at("fd00:0::1", "a")], { addressType: "IPv6" }),
  ];
  const addresses = (dualStack: boolean) =>
    cluster(objects, { dualStack }).sink.endpointsOf(keyOf("cart"))
      .map(({ address, additionalAddresses = [] }) => [address, ...additionalAddresses]);
  assert.deepEqual(addresses(true), [["10.0.0.1", "fd00::1"]]);
  assert.deepEqual(addresses(false), [["10.0.0.1"], ["fd00::1"]]);
});

Deno.test("pods that have ended or have no address are not workloads; a pod that is not ready or is being deleted is unhealthy", () => {
  const { sink } = cluster([
    pod("done", "10.0.0.1", {}, { status: { phase: "Succeeded" } }),
    pod("failed", "10.0.0.2", {}, { status: { phase: "Failed" } }),
    pod("early", "", {}, { status: { podIPs: [] } }),
    pod("starts", "10.0.0.4", {}, { status: { conditions: [{ type: "Ready", status: "False" }] } }),
    pod("ends", "10.0.0.5", {}, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
    pod("drains", "10.0.0.6", { "istio.io/draining": "true" }),
    pod("well", "10.0.0.7", {}),
  ]);
  const health = [...sink.state.workloads.values()].map(({ id, health }) => `${id.split("/")[2]} ${health}`);
  assert.deepEqual(health, ["starts unhealthy", "ends unhealthy", "drains draining", "well healthy"]);
});

/** A registry behind an aggregate, with service entries beside it. */
function world(objects: Parameters<OrchRegistry["apply"]>[0]) {
  const index = new EndpointIndex();
  const aggregate = new Aggregate(index);
  const registry = new OrchRegistry(ORCH_OPTIONS);
  const entries = new ServiceEntryRegistry(OPTIONS);
  aggregate.onWorkloads((...report) => entries.onWorkloads(...report));
  aggregate.onWorkloads((...report) => registry.onWorkloads(...report));
  void entries.start(aggregate.sink(entries));
  void registry.start(aggregate.sink(registry));
  registry.apply(objects, []);
  const targets = (place: { readonly pod?: string; readonly address: string }) =>
    serviceTargets({ addresses: [place.address], namespace: "shop", clusterId: "c1", ...place }, index, aggregate)
      .map(({ service, port, endpointPort }) => `${service.name} ${port.port} ${endpointPort}`);
  return { index, aggregate, registry, entries, targets };
}

Deno.test("a proxy serves the services that select its pod before they have it as an endpoint, by the pod's own port names", () => {
  const containers = [{ name: "app", ports: [{ name: "web", containerPort: 9090 }] }];
  const { registry, targets, aggregate } = world([
    service("cart", {
      ports: [{ name: "http", port: 80, targetPort: "web" }, { name: "none", port: 81, targetPort: "no" }],
    }),
    service("other"),
    pod("a", "10.0.0.1", { app: "cart" }, { spec: { containers } }),
  ]);
  assert.deepEqual(targets({ address: "10.0.0.1" }), ["cart 80 9090"]);
  aggregate.drain();
  registry.apply([service("other", { selector: { app: "cart" } })], []);
  assert.deepEqual([...aggregate.drain().addresses], ["10.0.0.1"]);
  assert.deepEqual(targets({ address: "10.0.0.1" }), ["cart 80 9090", "other 80 8080"]);
  registry.apply([], ["Service/shop/cart"]);
  assert.deepEqual(targets({ address: "10.0.0.1" }), ["other 80 8080"]);
});

Deno.test("of pods at the address of their node each proxy serves its own", () => {
  const { targets } = world([
    service("cart"),
    service("web"),
    pod("a", "10.0.0.1", { app: "cart" }, { spec: { hostNetwork: true } }),
    pod("b", "10.0.0.1", { app: "web" }, { spec: { hostNetwork: true } }),
  ]);
  assert.deepEqual(targets({ address: "10.0.0.1", pod: "pod/shop/b" }), ["web 80 8080"]);
  assert.deepEqual(targets({ address: "10.0.0.1" }), ["cart 80 8080", "web 80 8080"]);
});

Deno.test("services select workload entries, which need the port that is asked for by name, unless that is switched off", () => {
  const vm = workloadEntry("vm", { address: "10.0.9.1", labels: { app: "cart" }, ports: { web: 7000 } }, {
    namespace: "shop",
  });
  const { index, entries, registry } = world([
    service("cart"),
    service("named", { selector: { app: "cart" }, ports: [{ name: "http", port: 80, targetPort: "web" }] }),
    service("absent", { selector: { app: "cart" }, ports: [{ name: "http", port: 80, targetPort: "no" }] }),
  ]);
  const at = (name: string) => index.endpoints(keyOf(name)).map(({ address, port }) => `${address}:${port}`);
  entries.apply([vm], []);
  assert.deepEqual([at("cart"), at("named"), at("absent")], [["10.0.9.1:8080"], ["10.0.9.1:7000"], []]);
  registry.apply([service("cart", { selector: { app: "web" } })], []);
  assert.deepEqual(at("cart"), []);
  entries.apply([], [vm.key]);
  assert.deepEqual(at("named"), []);
  const { registry: deaf, sink } = cluster([service("cart")], { selectWorkloadEntries: false });
  deaf.onWorkloads({ provider: "External", clusterId: "c1" }, [{
    ...{
      id: "x",
      name: "x",
      namespace: "shop",
      kind: "workloadEntry",
      addresses: ["10.0.9.1"],
      labels: { app: "cart" },
    },
    ...{ serviceAccount: "", locality: "", network: "", clusterId: "c1", weight: 1, health: "healthy", ports: {} },
    tlsMode: "disabled",
  }], []);
  assert.deepEqual(sink.addresses(keyOf("cart")), []);
});

Deno.test("entries of one machine with different ports are endpoints of their own, and an entry of an endpoint is not a second one", () => {
  const on = (name: string, spec: object) =>
    workloadEntry(name, { address: "10.0.9.1", labels: { app: "cart" }, ...spec }, { namespace: "shop" });
  const { index, entries } = world([
    service("cart"),
    slice("cart-1", "cart", [at("10.0.0.1")]),
    slice("cart-2", "cart", [at("10.0.0.1")]),
  ]);
  const [a, b] = [on("a", { ports: { http: 7000 } }), on("b", { ports: { http: 7001 } })];
  const same = on("same", { ports: { http: 7001 } });
  const pod = on("pod", { address: "10.0.0.1" });
  const other = on("other", { ports: { http: 7001 }, network: "n2" });
  const found = () =>
    index.endpoints(keyOf("cart")).map(({ address, port, network }) => `${address}:${port}${network}`);
  entries.apply([a, b, same, pod], []);
  assert.deepEqual(found(), ["10.0.0.1:8080", "10.0.9.1:7000", "10.0.9.1:7001"]);
  entries.apply([other], [same.key]);
  assert.deepEqual(found(), ["10.0.0.1:8080", "10.0.9.1:7000", "10.0.9.1:7001", "10.0.9.1:7001n2"]);
  entries.apply([], [a.key, other.key]);
  assert.deepEqual(found(), ["10.0.0.1:8080", "10.0.9.1:7001"]);
});

Deno.test("an event costs what it names: other services are not reported, and what says the same is not reported again", () => {
  const { registry, sink } = cluster([
    service("cart"),
    service("web"),
    slice("cart-1", "cart", [at("10.0.0.1")]),
    slice("web-1", "web", [at("10.0.0.2")]),
    pod("a", "10.0.0.3", { app: "cart" }),
  ]);
  sink.take();
  registry.apply([slice("cart-1", "cart", [at("10.0.0.1"), at("10.0.0.4")])], []);
  assert.deepEqual(sink.take(), [`endpoints ${keyOf("cart")} 2`]);
  registry.apply([slice("cart-1", "cart", [at("10.0.0.1"), at("10.0.0.4")]), service("web")], []);
  assert.deepEqual(sink.take(), []);
  registry.apply([slice("cart-1", "web", [at("10.0.0.4")])], []);
  assert.deepEqual(sink.take().sort(), [`endpoints ${keyOf("cart")} 0`, `endpoints ${keyOf("web")} 2`]);
  const events = [...registry.counts.events()].filter(({ type }) => type === "EndpointSlice");
  assert.deepEqual(events.map(({ event, count }) => `${event} ${count}`), ["add 2", "update 3"]);
});
