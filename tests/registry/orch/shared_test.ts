/** Services shared by clusters: the users of endpoints, the name, the address. */
import assert from "node:assert/strict";
import type { AnyFact } from "../../../lib/config/facts/types.ts";
import { Aggregate } from "../../../lib/registry/aggregate.ts";
import { EndpointIndex } from "../../../lib/registry/endpoint_index.ts";
import type { SharedServices } from "../../../lib/registry/orch/options.ts";
import { OrchRegistry } from "../../../lib/registry/orch/registry.ts";
import type { ServiceKey } from "../../../lib/registry/types.ts";
import { at, object, ORCH_OPTIONS, service, slice } from "./cluster.ts";

const CLUSTER: ServiceKey = "shop/cart.shop.svc.cluster.local";
const SET: ServiceKey = "shop/cart.shop.svc.clusterset.local";
const BOTH: SharedServices = { host: true, clusterLocal: false };

/** Two clusters with a common aggregate. */
function twoClusters(shared: SharedServices | undefined) {
  const endpoints = new EndpointIndex();
  const aggregate = new Aggregate(endpoints);
  const registryOf = (clusterId: string) => {
    const registry = new OrchRegistry({ ...ORCH_OPTIONS, clusterId, shared });
    void registry.start(aggregate.sink(registry));
    return registry;
  };
  const [east, west] = [registryOf("east"), registryOf("west")];
  /** Addresses of a service; in parentheses for their own cluster alone. */
  const seen = (key: ServiceKey) =>
    endpoints.endpoints(key).map(({ address, ownClusterOnly }) => ownClusterOnly ? `(${address})` : address).sort();
  return { east, west, aggregate, seen };
}

const cart = (address: string): AnyFact[] => [service("cart"), slice("cart-1", "cart", [at(address)])];
const exported = object("ServiceExport", "cart");
const imported = (...ips: string[]) => object("ServiceImport", "cart", { spec: { ips } });

Deno.test("without ENABLE_MCS_SERVICE_DISCOVERY exports and imports mean nothing", () => {
  const { east, west, aggregate, seen } = twoClusters(undefined);
  east.apply([...cart("10.1.0.1"), imported("241.0.0.1")], []);
  west.apply(cart("10.2.0.1"), []);
  assert.deepEqual(seen(CLUSTER), ["10.1.0.1", "10.2.0.1"]);
  assert.deepEqual([aggregate.service(SET), seen(SET), east.sharedServices()], [undefined, [], []]);
});

Deno.test("endpoints are for their own cluster until their service is exported from there, and again when the export goes", () => {
  const { east, west, seen } = twoClusters(BOTH);
  east.apply(cart("10.1.0.1"), []);
  west.apply(cart("10.2.0.1"), []);
  assert.deepEqual(seen(CLUSTER), ["(10.1.0.1)", "(10.2.0.1)"]);
  west.apply([exported], []);
  assert.deepEqual(seen(CLUSTER), ["(10.1.0.1)", "10.2.0.1"]);
  west.apply([slice("cart-1", "cart", [at("10.2.0.2")])], []);
  assert.deepEqual(seen(CLUSTER), ["(10.1.0.1)", "10.2.0.2"]);
  west.apply([], [exported.key]);
  assert.deepEqual(seen(CLUSTER), ["(10.1.0.1)", "(10.2.0.2)"]);
});

Deno.test("ENABLE_MCS_CLUSTER_LOCAL: the cluster's own name never means another cluster, the shared name does", () => {
  const { east, west, seen } = twoClusters({ host: true, clusterLocal: true });
  east.apply(cart("10.1.0.1"), []);
  west.apply([...cart("10.2.0.1"), exported], []);
  assert.deepEqual(seen(CLUSTER), ["(10.1.0.1)", "(10.2.0.1)"]);
  assert.deepEqual(seen(SET), ["(10.1.0.1)", "10.2.0.1"]);
});

Deno.test("an import gives a service of any cluster its shared name, at the addresses of each importing cluster", () => {
  const { east, west, aggregate, seen } = twoClusters(BOTH);
  east.apply([imported("241.0.0.2", "241.0.0.1", "not an address")], []);
  assert.equal(aggregate.service(SET), undefined, "nobody has the service yet");
  west.apply([...cart("10.2.0.1"), exported], []);
  const first = aggregate.service(SET)!;
  assert.deepEqual([first.addresses, first.clusterAddresses], [
    ["241.0.0.1", "241.0.0.2"],
    { east: ["241.0.0.1", "241.0.0.2"] },
  ]);
  assert.deepEqual(first.ports, aggregate.service(CLUSTER)!.ports);
  assert.deepEqual([first.name, first.namespace, first.hostname], ["cart", "shop", "cart.shop.svc.clusterset.local"]);
  assert.deepEqual(seen(SET), ["10.2.0.1"]);

  west.apply([imported("242.0.0.1"), service("cart", { ports: [{ name: "tcp-db", port: 5432 }] })], []);
  const second = aggregate.service(SET)!;
  assert.deepEqual(second.clusterAddresses, { east: ["241.0.0.1", "241.0.0.2"], west: ["242.0.0.1"] });
  assert.deepEqual(second.ports.map(({ port }) => port), [5432], "it follows the service");

  east.apply([imported()], []);
  assert.deepEqual(aggregate.service(SET)!.clusterAddresses, { west: ["242.0.0.1"] }, "an import without addresses");
  west.apply([], ["Service/shop/cart"]);
  assert.deepEqual([aggregate.service(SET), seen(SET)], [undefined, []]);
});

Deno.test("an import of type Headless has no address; an import with an address is balanced, even if its service has no address", () => {
  const { east, aggregate } = twoClusters(BOTH);
  east.apply([service("cart", { clusterIP: "None", clusterIPs: ["None"] })], []);
  const spec = { type: "Headless", ips: ["241.0.0.1"] };
  east.apply([object("ServiceImport", "cart", { spec })], []);
  assert.equal(aggregate.service(SET), undefined);
  east.apply([object("ServiceImport", "cart", { spec: { ...spec, type: "ClusterSetIP" } })], []);
  const { headless, resolution, addresses } = aggregate.service(SET)!;
  assert.deepEqual({ headless, resolution, addresses }, {
    ...{ headless: false, resolution: "static", addresses: ["241.0.0.1"] },
  });
  assert.equal(aggregate.service(CLUSTER)!.headless, true);
});

Deno.test("addresses of an import that would take the traffic of other services do not count, and each address counts once in one spelling", () => {
  const { east, aggregate } = twoClusters(BOTH);
  const hostile = [
    "0.0.0.0",
    "::",
    "127.0.0.1",
    "::1",
    "169.254.169.254",
    "fe80::1",
    "224.0.0.1",
    "255.255.255.255",
    "2001:db8::2%eth0",
  ];
  east.apply([...cart("10.1.0.1"), imported(...hostile, "::ffff:127.0.0.1", "::ffff:0:0")], []);
  assert.equal(aggregate.service(SET), undefined);
  east.apply([imported(...hostile, "2001:DB8:0::1", "2001:db8::1", "241.0.0.1", "241.0.0.1")], []);
  assert.deepEqual(aggregate.service(SET)!.addresses, ["2001:db8::1", "241.0.0.1"]);
});

Deno.test("a cluster that leaves takes its imports along", () => {
  const { east, west, aggregate } = twoClusters(BOTH);
  east.apply([...cart("10.1.0.1"), imported("241.0.0.1")], []);
  west.apply([imported("242.0.0.1")], []);
  assert.deepEqual(Object.keys(aggregate.service(SET)!.clusterAddresses!), ["east", "west"]);
  aggregate.removeSource(west);
  assert.deepEqual(Object.keys(aggregate.service(SET)!.clusterAddresses!), ["east"]);
  aggregate.removeSource(east);
  assert.equal(aggregate.service(SET), undefined);
});

Deno.test("what a cluster shares is shown with who may use it", () => {
  const { east } = twoClusters({ host: true, clusterLocal: true });
  east.apply([...cart("10.1.0.1"), exported, object("ServiceImport", "far", { spec: { ips: ["241.0.0.9"] } })], []);
  assert.deepEqual(east.sharedServices(), [
    {
      ...{ cluster: "east", namespace: "shop", name: "cart", exported: true, imported: false, address: "" },
      discoverability: {
        "cart.shop.svc.cluster.local": "DiscoverableFromSameCluster",
        "cart.shop.svc.clusterset.local": "AlwaysDiscoverable",
      },
    },
    {
      ...{ cluster: "east", namespace: "shop", name: "far", exported: false, imported: true, address: "241.0.0.9" },
      discoverability: {},
    },
  ]);
});
