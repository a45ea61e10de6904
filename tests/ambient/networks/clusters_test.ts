/** Several clusters and networks, as a tunnel of the own cluster gets them. */
import assert from "node:assert/strict";
import { gateway, network, NetworkWorld, pod, service } from "./world.ts";

const SHOP = (name: string) => `shop/${name}.shop.svc.cluster.local`;
const AT_WEST = "{ type: IPAddress, value: 192.0.2.9 }";
const WEST_GATEWAY = gateway("west", { to: "west", spec: `[${AT_WEST}]` });
const SPLIT = `west/SplitHorizonWorkload/mesh-system/west/192.0.2.9/${SHOP("web")}`;

/** The own cluster in network `east` with a client, and a remote cluster in network `west`. */
function world(own: string, west: string): NetworkWorld {
  return new NetworkWorld()
    .write(`${network("east")}---${pod("client", "client", "10.1.0.1")}---${own}`)
    .write(`${network("west")}---${west}`, "west");
}

const CLIENT = "Kubernetes//Pod/shop/client";
const WEB_HERE = service("web", "10.96.0.1");
const WEST = [service("web", "10.97.0.1"), pod("w1", "web", "10.1.0.1"), pod("w2", "web", "10.1.0.2")].join("---");

Deno.test("a global service's workloads in another network are one workload with their number, behind the gateway", () => {
  const found = world(`${WEB_HERE}---${WEST_GATEWAY}`, WEST).readable();
  assert.deepEqual(Object.keys(found), [
    CLIENT,
    "NetworkGateway/west/192.0.2.9/15008",
    SHOP("web"),
    SPLIT,
  ]);
  assert.deepEqual(found[SPLIT], {
    workload: {
      uid: SPLIT,
      name: SPLIT,
      namespace: "shop",
      network: "west",
      workload_type: "POD",
      tunnel_protocol: "HBONE",
      network_gateway: { address: { network: "west", address: "192.0.2.9" }, hbone_mtls_port: 15008 },
      cluster_id: "Kubernetes",
      services: { [SHOP("web")]: { ports: [{ service_port: 80, target_port: 8080 }] } },
      capacity: { value: 2 },
    },
  });
  assert.deepEqual(found["NetworkGateway/west/192.0.2.9/15008"], {
    aliases: ["west/192.0.2.9"],
    workload: {
      uid: "NetworkGateway/west/192.0.2.9/15008",
      name: "NetworkGateway/west/192.0.2.9/15008",
      namespace: "mesh-system",
      network: "west",
      service_account: "west-istio-remote",
      addresses: ["192.0.2.9"],
    },
  });
});

Deno.test("the service has the addresses of each network, and the identities that answer in the other network", () => {
  const found = world(`${WEB_HERE}---${WEST_GATEWAY}`, WEST).readable()[SHOP("web")];
  assert.deepEqual(found, {
    aliases: ["east/10.96.0.1", "west/10.97.0.1"],
    service: {
      name: "web",
      namespace: "shop",
      hostname: "web.shop.svc.cluster.local",
      addresses: [{ network: "east", address: "10.96.0.1" }, { network: "west", address: "10.97.0.1" }],
      ports: [{ service_port: 80, target_port: 8080 }],
      subject_alt_names: ["spiffe://cluster.local/ns/shop/sa/web"],
      ip_families: "IPV4_ONLY",
    },
  });
});

Deno.test("a tunnel goes to its own network's workloads directly, and to the other network by the gateway", () => {
  const own = pod("web", "web", "10.1.0.3");
  const route = world(`${WEB_HERE}---${own}---${WEST_GATEWAY}`, WEST).route(CLIENT, "10.96.0.1", 80);
  assert.ok(route.to === "hops");
  assert.deepEqual(
    route.hops.map(({ transport, dialled, authority, share }) => [transport, dialled.ip, authority, share]),
    [
      ["hbone", "10.1.0.3", "10.1.0.3:8080", 1 / 3],
      ["gateway", "192.0.2.9", "web.shop.svc.cluster.local:80", 2 / 3],
    ],
  );
});

Deno.test("without a gateway the other network does not exist: a service that has workloads there alone refuses", () => {
  const without = world(WEB_HERE, WEST);
  assert.deepEqual(without.names(), [CLIENT, SHOP("web")]);
  assert.deepEqual(without.route(CLIENT, "10.96.0.1", 80), {
    to: "refused",
    service: SHOP("web"),
    why: "no endpoint",
  });
});

Deno.test("the workloads of a service that is local in either cluster stay in their network", () => {
  const local = "{}";
  for (const [here, there] of [[local, undefined], [undefined, local], [local, local]]) {
    const found = world(
      `${service("web", "10.96.0.1", here)}---${WEST_GATEWAY}`,
      `${service("web", "10.97.0.1", there)}---${pod("w1", "web", "10.1.0.1")}`,
    ).readable();
    assert.deepEqual(Object.keys(found), [CLIENT, "NetworkGateway/west/192.0.2.9/15008", SHOP("web")]);
    const { service: message } = found[SHOP("web")] as { service: object };
    assert.deepEqual("subject_alt_names" in message, false, "no identity of the other network may answer");
    assert.deepEqual((message as { addresses: unknown }).addresses, [{ network: "east", address: "10.96.0.1" }]);
  }
});

Deno.test("a global service that the own cluster lacks comes from the first remote cluster by name; a local one does not come", () => {
  const north = `${network("north")}---${service("web", "10.98.0.1")}`;
  const found = world(WEST_GATEWAY, WEST).write(north, "north").readable();
  const { service: message } = found[SHOP("web")] as { service: { addresses: unknown } };
  assert.deepEqual(message.addresses, [
    { network: "north", address: "10.98.0.1" },
    { network: "west", address: "10.97.0.1" },
  ]);
  assert.ok(SPLIT in found);
  assert.deepEqual(
    world(WEST_GATEWAY, service("web", "10.97.0.1", "{}")).names(),
    [CLIENT, "NetworkGateway/west/192.0.2.9/15008"],
  );
});

Deno.test("the service of the own cluster is the base: its ports count; an entry of the same host is local", () => {
  const other = service("web", "10.97.0.1").replace("port: 80", "port: 81");
  const ports = (w: NetworkWorld) => {
    const { service: message } = w.readable()[SHOP("web")] as { service: { ports: unknown; addresses: unknown[] } };
    return [message.ports, message.addresses.length];
  };
  assert.deepEqual(ports(world(WEB_HERE, other)), [[{ service_port: 80, target_port: 8080 }], 2]);
  const entry = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: web, namespace: shop }
spec:
  hosts: [web.shop.svc.cluster.local]
  addresses: [240.0.0.1]
  ports: [{ number: 90, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.9.0.1 }]
`;
  assert.deepEqual(ports(world(entry, WEST)), [[{ service_port: 90, target_port: 90 }], 1]);
});

Deno.test("only workloads that take connections count, with their weight; without one there is no workload", () => {
  const entry = `
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: { name: vm, namespace: shop }
spec: { address: 10.1.0.7, labels: { app: web }, weight: 5 }
`;
  const west = [service("web", "10.97.0.1"), pod("w1", "web", "10.1.0.1", false)].join("---");
  const found = world(`${WEB_HERE}---${WEST_GATEWAY}`, west);
  assert.deepEqual(found.names().includes(SPLIT), false);
  found.write(entry, "west");
  const capacity = () => (found.readable()[SPLIT] as { workload: { capacity: unknown } }).workload.capacity;
  assert.deepEqual(capacity(), { value: 5 });
  found.write(pod("w1", "web", "10.1.0.1"), "west");
  assert.deepEqual(capacity(), { value: 6 });
});

Deno.test("workloads of a remote cluster in the own network are sent one by one, behind shared services alone", () => {
  const near = [network("east"), WEST, service("quiet", "10.97.0.2", "{}"), pod("q", "quiet", "10.1.0.9")].join("---");
  const found = new NetworkWorld()
    .write(`${network("east")}---${WEB_HERE}---${service("quiet", "10.96.0.2", "{}")}`)
    .write(near, "west").readable();
  assert.deepEqual(Object.keys(found), [
    SHOP("quiet"),
    SHOP("web"),
    "west//Pod/shop/q",
    "west//Pod/shop/w1",
    "west//Pod/shop/w2",
  ]);
  const services = (name: string) => {
    const { workload } = found[`west//Pod/shop/${name}`] as { workload: { services?: object; cluster_id: string } };
    return [workload.cluster_id, Object.keys(workload.services ?? {})];
  };
  assert.deepEqual(services("w1"), ["west", [SHOP("web")]]);
  assert.deepEqual(services("q"), ["west", []]);
  const { service: message } = found[SHOP("web")] as { service: object };
  assert.deepEqual("subject_alt_names" in message, false, "each workload has its own identity");
});

Deno.test("a workload entry of the own cluster in another network has the gateway; without one, tunnels refuse it", () => {
  const entries = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: db, namespace: shop }
spec:
  hosts: [db.example]
  addresses: [240.0.0.1]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.1.0.1, network: west, serviceAccount: db }, { address: 10.1.0.2, network: west }]
`;
  const found = world(`${entries}---${WEST_GATEWAY}`, service("other", "10.97.0.9"));
  const name = "Kubernetes/networking.istio.io/ServiceEntry/shop/db/10.1.0.1";
  const { workload } = found.readable()[name] as { workload: object };
  assert.deepEqual((workload as { network_gateway: unknown }).network_gateway, {
    address: { network: "west", address: "192.0.2.9" },
    hbone_mtls_port: 15008,
  });
  const { service: message } = found.readable()["shop/db.example"] as { service: object };
  assert.deepEqual((message as { subject_alt_names: unknown }).subject_alt_names, [
    "spiffe://cluster.local/ns/shop/sa/db",
    "spiffe://cluster.local/ns/shop/sa/default",
  ]);
  const route = found.route(CLIENT, "240.0.0.1", 80);
  assert.deepEqual(route.to === "hops" && [...new Set(route.hops.map(({ dialled }) => dialled.ip))], ["192.0.2.9"]);
  found.clusters.remove("ApiGateway/mesh-system/west");
  const after = found.route(CLIENT, "240.0.0.1", 80);
  assert.deepEqual([after.to, "why" in after && after.why], ["refused", "no gateway"]);
});

Deno.test("a change of the own network turns remote into near, and near into remote", () => {
  const found = world(`${WEB_HERE}---${WEST_GATEWAY}`, WEST);
  found.names();
  found.write(network("west"));
  assert.deepEqual(found.names(), [CLIENT, SHOP("web"), "west//Pod/shop/w1", "west//Pod/shop/w2"]);
  found.write(network("east"));
  assert.ok(found.names().includes(SPLIT) && !found.names().includes("west//Pod/shop/w1"));
});

Deno.test("a cluster that leaves takes its workloads, services and gateways along", () => {
  const far = gateway("door", { to: "west", of: "istio-east-west", status: `[${AT_WEST}]` });
  const found = world(WEB_HERE, `${WEST}---${far}`);
  assert.ok(found.names().some((name) => name.startsWith("west/SplitHorizonWorkload/mesh-system/door/")));
  found.clusters.drop("west");
  assert.deepEqual(found.names(), [CLIENT, SHOP("web")]);
});

Deno.test("a change in a remote cluster touches the names that it concerns", () => {
  const more = [service("list", "10.97.0.3"), pod("l1", "list", "10.1.0.5")].join("---");
  const found = world(`${WEB_HERE}---${service("list", "10.96.0.3")}---${WEST_GATEWAY}`, `${WEST}---${more}`);
  found.names();
  found.write(pod("w3", "web", "10.1.0.4"), "west");
  const { made, gone } = settled(found);
  assert.deepEqual([made.sort(), gone], [[SHOP("web"), SPLIT], []]);
});

Deno.test("another gateway makes all that is behind it dirty at once, so that many services are made in steps", () => {
  const services = Array.from({ length: 30 }, (_, i) => service(`s${i}`, `10.97.1.${i}`));
  const pods = services.map((_, i) => pod(`p${i}`, `s${i}`, `10.1.1.${i}`));
  const found = world(WEST_GATEWAY, [...services, ...pods].join("---"));
  found.names();
  assert.equal(found.clusters.dirty, 0);
  found.write(gateway("west", { to: "west", spec: "[{ type: IPAddress, value: 192.0.2.10 }]" }));
  assert.ok(found.clusters.dirty > 30, `${found.clusters.dirty}`);
  found.write(gateway("unrelated", { to: "north", spec: `[${AT_WEST}]` }));
  found.names();
  found.write(gateway("unrelated", { to: "north", spec: "[{ type: IPAddress, value: 192.0.2.11 }]" }));
  assert.ok(found.clusters.dirty < 5, "nobody is behind the other gateway");
});

function settled({ clusters }: NetworkWorld): { made: string[]; gone: readonly string[] } {
  const steps = clusters.settle();
  for (;;) {
    const step = steps.next();
    if (step.done) return { made: step.value.made.map(({ name }) => name), gone: step.value.gone };
  }
}

Deno.test("a Gateway of another namespace, or a later Gateway, takes no network over", () => {
  const at = (ip: string) => `[{ type: IPAddress, value: ${ip} }]`;
  const evil = (more: object = {}) =>
    gateway("a", { to: "west", spec: at("192.0.2.66"), namespace: "evil", created: "2025-01-01T00:00:00Z", ...more });
  const found = world(`${WEB_HERE}---${WEST_GATEWAY}---${evil()}`, WEST);
  const ways = () => found.route(CLIENT, "10.96.0.1", 80);
  assert.match(JSON.stringify(ways()), /192\.0\.2\.9/);
  assert.doesNotMatch(JSON.stringify(ways()), /192\.0\.2\.66/);
  // The same address with another account would make tunnels refuse the true gateway.
  found.write(evil({ spec: at("192.0.2.9") }));
  const { workload } = found.readable()["NetworkGateway/west/192.0.2.9/15008"] as { workload: { namespace: string } };
  assert.equal(workload.namespace, "mesh-system");
});

Deno.test("of Gateways outside of the system's namespace the oldest has the network, then the first by name", () => {
  const at = (ip: string) => `[{ type: IPAddress, value: ${ip} }]`;
  const first = gateway("z", { to: "west", namespace: "net", spec: at("192.0.2.9"), created: "2026-01-01T00:00:00Z" });
  const later = gateway("a", {
    to: "west",
    namespace: "evil",
    spec: at("192.0.2.66"),
    created: "2026-02-01T00:00:00Z",
  });
  const same = gateway("a", { to: "west", namespace: "aaa", spec: at("192.0.2.77"), created: "2026-01-01T00:00:00Z" });
  const gatewayOf = (...all: string[]) => {
    const route = JSON.stringify(world([WEB_HERE, ...all].join("---"), WEST).route(CLIENT, "10.96.0.1", 80));
    return /192\.0\.2\.\d+/.exec(route)?.[0];
  };
  assert.equal(gatewayOf(first, later), "192.0.2.9");
  assert.equal(gatewayOf(later, first), "192.0.2.9");
  assert.equal(gatewayOf(first, same), "192.0.2.77");
});
