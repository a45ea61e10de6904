/** The services behind waypoints: by labels of services and namespaces, and by the terms of Gateways. */
import assert from "node:assert/strict";
import { parseObject } from "../../lib/config/object.ts";
import type { ConfigObject } from "../../lib/config/types.ts";
import { WaypointIndex } from "../../lib/mesh/waypoints/index.ts";
import { plainService } from "../../lib/registry/mock.ts";
import { type Service, serviceKey } from "../../lib/registry/types.ts";
import { inFile } from "../config/origins.ts";

function gateway(name: string, labels: Readonly<Record<string, string>>, namespaces: object = {}) {
  const tree = {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: { namespace: "shop", name, labels },
    spec: {
      gatewayClassName: "waypoints",
      listeners: [{ name: "mesh", port: 15008, protocol: "HBONE", allowedRoutes: { namespaces } }],
    },
  };
  return parseObject(tree, inFile("test"), { defaultNamespace: "default" }).object as ConfigObject<"ApiGateway">;
}

function gatewayClass(labels: Readonly<Record<string, string>>) {
  const tree = {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "GatewayClass",
    metadata: { name: "waypoints", labels },
    spec: { controllerName: "istio.io/mesh-controller" },
  };
  return parseObject(tree, inFile("test"), { defaultNamespace: "default" }).object as ConfigObject<"GatewayClass">;
}

function service(namespace: string, name: string, labels: Readonly<Record<string, string>> = {}): Service {
  return plainService({ namespace, name, hostname: `${name}.${namespace}`, ports: [], labels });
}

const USE = { "mesh.io/use-waypoint": "door" };
const USE_THERE = { ...USE, "mesh.io/use-waypoint-namespace": "shop" };

/** An index with services. */
function indexOf(...services: readonly Service[]): WaypointIndex {
  const index = new WaypointIndex("mesh-system");
  for (const one of services) index.set(serviceKey(one), one);
  return index;
}

const hosts = (index: WaypointIndex) => index.of("shop/door").services.map(({ hostname }) => hostname);

Deno.test("a service has the waypoint of its label, else of its namespace's label, unless it opts out", () => {
  const index = indexOf(
    service("shop", "asks", USE),
    service("shop", "silent"),
    service("shop", "out", { "mesh.io/use-waypoint": "none" }),
    service("shop", "elsewhere", { "mesh.io/use-waypoint": "gate" }),
    service("shop", "own-pods", { ...USE, "gateway.mesh.io/managed": "istio.io-mesh-controller" }),
  );
  assert.deepEqual(hosts(index), [], "there is no Gateway");
  index.updateGateways([], [gateway("door", {})]);
  assert.deepEqual(hosts(index), ["asks.shop"]);
  index.setNamespaces(new Map([["shop", USE]]));
  assert.deepEqual(hosts(index), ["asks.shop", "silent.shop"]);
  assert.equal(index.waypointOf("shop/silent.shop"), "shop/door");
  assert.equal(index.waypointOf("shop/out.shop"), undefined);
});

Deno.test("a Gateway takes services of the namespaces that its listener allows, and only if it is for services", () => {
  const index = indexOf(service("shop", "own", USE), service("pay", "other", USE_THERE));
  const labels = new Map([["pay", { tier: "1" }]]);
  const taken = (...gateways: ConfigObject<"ApiGateway">[]) => {
    index.updateGateways([], gateways);
    return hosts(index);
  };
  assert.deepEqual(taken(gateway("door", {})), ["own.shop"]);
  assert.deepEqual(taken(gateway("door", {}, { from: "All" })), ["other.pay", "own.shop"]);
  const selected = { from: "Selector", selector: { matchLabels: { tier: "1" } } };
  assert.deepEqual(taken(gateway("door", {}, selected)), []);
  index.setNamespaces(labels);
  assert.deepEqual(hosts(index), ["other.pay"]);
  assert.deepEqual(taken(gateway("door", { "mesh.io/waypoint-for": "workload" })), []);
  assert.deepEqual(taken(gateway("door", { "mesh.io/waypoint-for": "all" })), ["own.shop"]);
  assert.deepEqual(taken(gateway("door", {})), ["own.shop"]);
  index.updateClasses([], [gatewayClass({ "mesh.io/waypoint-for": "none" })]);
  assert.deepEqual(hosts(index), [], "the class says which traffic its waypoints are for");
});

Deno.test("a change concerns the waypoints of the changed service alone, and other waypoints stay the same object", () => {
  const web = service("shop", "web", USE);
  const index = indexOf(web, service("shop", "db", { "mesh.io/use-waypoint": "gate" }));
  index.updateGateways([], [gateway("door", {}), gateway("gate", {})]);
  const gate = index.of("shop/gate");
  index.of("shop/door");
  index.takeChanged();
  index.set(serviceKey(web), { ...web, exportTo: ["*"] });
  assert.deepEqual(index.takeChanged(), [{ name: "shop/door", hasOtherTargets: false, moved: [] }]);
  index.set(serviceKey(web), { ...web, labels: { "mesh.io/use-waypoint": "none" } });
  assert.deepEqual(index.takeChanged(), [{ name: "shop/door", hasOtherTargets: true, moved: ["shop/web.shop"] }]);
  index.set("shop/far", undefined);
  assert.deepEqual(index.takeChanged(), []);
  assert.equal(index.of("shop/gate"), gate);
});

Deno.test("the host of a waypoint is its host name, else the name of a deployed one; another address changes the waypoint", () => {
  const index = indexOf(service("shop", "asks", USE));
  index.updateGateways([], [gateway("door", {})]);
  index.takeChanged();
  const host = () => index.hostOf("shop/door", "cluster.local");
  assert.equal(host(), undefined, "without an address");
  const byName = new Map([["shop/door", { hostname: "door.test" }]]);
  index.setAddresses(byName);
  assert.equal(host(), "door.test");
  assert.deepEqual(index.takeChanged().map(({ name }) => name), ["shop/door"]);
  index.setAddresses(new Map(byName));
  assert.deepEqual(index.takeChanged(), [], "the same address");
  index.setAddresses(new Map([["shop/door", { ip: "10.0.0.1" }]]));
  assert.equal(host(), "door.shop.svc.cluster.local");
  assert.deepEqual(index.takeChanged().map(({ name }) => name), ["shop/door"]);
});

Deno.test("a host of a ServiceEntry does not come before a Service that gets its address later", () => {
  const at = (name: string, provider: Service["provider"], creationTimestamp: number) =>
    plainService({
      ...{ namespace: "shop", name, hostname: name, ports: [], labels: USE },
      ...{ provider, creationTimestamp, addresses: ["10.96.0.1"] },
    });
  const index = indexOf(
    at("entry", "External", 1),
    at("later", "Orch", 3),
    at("late", "Orch", 2),
    at("last", "External", 4),
  );
  index.updateGateways([], [gateway("door", {})]);
  assert.deepEqual(hosts(index), ["late", "later", "entry", "last"]);
});
