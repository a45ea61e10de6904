/** The settings of the Gateway API: classes and controllers, deployments by hand, status. */
import assert from "node:assert/strict";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import type { OfflineMesh } from "../../lib/offline/offline_mesh.ts";
import { resourcesJson } from "../../lib/offline/proxy_resources.ts";
import { findingsIn } from "../analyze/support/analyzed.ts";
import { meshOf, readsOf } from "../offline/mesh_of.ts";
import { resourcesOf, wayOf, type WaySettings } from "../offline/way.ts";
import { page } from "./running.ts";
import { MemoryApi } from "./orch/memory_api.ts";
import { withOrch } from "./orch/with_orch.ts";

const DOOR = "router~10.0.0.9~door.shop~shop.svc.cluster.local";

/** Gateway shop/edge of a class, a route to service a, and a workload that may serve the Gateway. */
function shop(gatewayClassName: string, { labels = "gateway.networking.k8s.io/gateway-name: edge", more = "" } = {}) {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge, namespace: shop }
spec:
  gatewayClassName: ${gatewayClassName}
  listeners: [{ name: http, port: 80, protocol: HTTP }]
  ${more}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: web, namespace: shop }
spec: { parentRefs: [{ name: edge }], rules: [{ backendRefs: [{ name: a, port: 80 }] }] }
---
apiVersion: networking.mesh.io/v1
kind: WorkloadEntry
metadata: { name: door, namespace: shop }
spec: { address: 10.0.0.9, labels: { ${labels} } }
---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: shop }
spec:
  hosts: [a.shop.svc.cluster.local]
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 10.0.0.1 }]
`;
}

/** Whether a request at the door reaches service a. */
async function isServed(text: string, settings: WaySettings = {}): Promise<boolean> {
  return (await wayOf(text, DOOR, "http://x/", settings)).endsWith("> 10.0.0.1:80");
}

Deno.test("PILOT_ENABLE_GATEWAY_API=false: objects of the Gateway API in a folder have no effect", async () => {
  assert.deepEqual(
    [await isServed(shop("mesh")), await isServed(shop("mesh"), { PILOT_ENABLE_GATEWAY_API: false })],
    [true, false],
  );
});

Deno.test("PILOT_GATEWAY_API_CONTROLLER_NAME: the classes of that controller are served, and no others", async () => {
  const text = shop("ours") + `---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: ours }
spec: { controllerName: shop.example.com/controller }
`;
  const settings = { PILOT_GATEWAY_API_CONTROLLER_NAME: "shop.example.com/controller" };
  assert.deepEqual([await isServed(text), await isServed(text, settings)], [false, true]);
});

Deno.test("PILOT_GATEWAY_API_DEFAULT_GATEWAYCLASS_NAME: that class needs no GatewayClass", async () => {
  const settings = { PILOT_GATEWAY_API_DEFAULT_GATEWAYCLASS_NAME: "front" };
  assert.deepEqual(
    [
      await isServed(shop("front")),
      await isServed(shop("front"), settings),
      await isServed(shop("mesh"), settings),
    ],
    [false, true, false],
  );
});

Deno.test("ENABLE_GATEWAY_API_MANUAL_DEPLOYMENT=false: an address names no service, and the Gateway's own pods serve", async () => {
  const more = "addresses: [{ type: Hostname, value: doors }]";
  const service = `---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: doors, namespace: shop }
spec:
  hosts: [doors.shop.svc.cluster.local]
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  workloadSelector: { labels: { app: door } }
`;
  const byHand = shop("mesh", { labels: "app: door", more }) + service;
  const managed = shop("mesh", { more }) + service;
  const off = { ENABLE_GATEWAY_API_MANUAL_DEPLOYMENT: false };
  assert.deepEqual(
    [
      [await isServed(byHand), await isServed(byHand, off)],
      [await isServed(managed), await isServed(managed, off)],
    ],
    [[true, false], [false, true]],
  );
});

/** An endpoint of service a in network n2, and a Gateway of a class with that network's label. */
const farWorld = (gatewayClassName: string, address = "{ value: 192.0.2.1 }") => `
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: shop }
spec:
  hosts: [a.shop.svc.cluster.local]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 10.0.0.1, network: n2, labels: { security.mesh.io/tlsMode: mesh } }]
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: n2, namespace: shop, labels: { topology.mesh.io/network: n2 } }
spec:
  gatewayClassName: ${gatewayClassName}
  addresses: [${address}]
  listeners:
  - { name: tls, port: 15443, protocol: TLS, tls: { mode: Passthrough } }
  - { name: http, port: 80, protocol: HTTP }
`;

const WAYPOINT = (gatewayClassName: string) => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: way, namespace: shop }
spec: { gatewayClassName: ${gatewayClassName}, listeners: [{ name: mesh, port: 15008, protocol: HBONE }] }
`;

Deno.test("PILOT_ENABLE_AMBIENT_WAYPOINTS: the class of waypoints exists with the setting, and is named without", () => {
  const said = (text: string, waypoints: boolean) =>
    findingsIn({ "mesh.yaml": text }, {}, { PILOT_ENABLE_AMBIENT_WAYPOINTS: waypoints }).map(({ name, message }) =>
      `${name}: ${/PILOT_\w+=true/.exec(message)?.[0]}`
    );
  const ofClass = `---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: own }
spec: { controllerName: mesh.io/mesh-controller }
`;
  for (const text of [WAYPOINT("mesh-waypoint"), WAYPOINT("istio-waypoint"), WAYPOINT("own") + ofClass]) {
    assert.deepEqual(said(text, true), []);
    assert.deepEqual(said(text, false), ["unserved-gateway: PILOT_ENABLE_AMBIENT_WAYPOINTS=true"]);
  }
  // No gateway of the mesh takes the listener of a waypoint, whatever protocol the listener says.
  const http = WAYPOINT("mesh-waypoint").replace("HBONE", "HTTP");
  assert.deepEqual(farMesh(http, { PILOT_ENABLE_AMBIENT_WAYPOINTS: true }).store.list("Gateway"), []);
  assert.equal(farMesh(http.replace("mesh-waypoint", "mesh")).store.list("Gateway").length, 1);
});

Deno.test("AMBIENT_ENABLE_MULTI_NETWORK: the class of gateways between networks exists with the setting, and is named without", () => {
  const said = (text: string, on: boolean) =>
    findingsIn({ "mesh.yaml": text }, {}, { PILOT_ENABLE_AMBIENT: true, AMBIENT_ENABLE_MULTI_NETWORK: on })
      .map(({ name, message }) => `${name}: ${/\w+_NETWORK=true/.exec(message)?.[0]}`);
  const labelled = (text: string) => text.replace("name: way,", "name: way, labels: { topology.mesh.io/network: n1 },");
  const ofClass = `---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: own }
spec: { controllerName: mesh.io/eastwest-controller }
`;
  const texts = [WAYPOINT("mesh-east-west"), WAYPOINT("istio-east-west"), WAYPOINT("own") + ofClass].map(labelled);
  for (const text of texts) {
    assert.deepEqual(said(text, true), []);
    assert.deepEqual(said(text, false), ["unserved-gateway: AMBIENT_ENABLE_MULTI_NETWORK=true"]);
  }
  const wrong = labelled(WAYPOINT("mesh-east-west"));
  const tls = "tls: { mode: Terminate, options: { gateway.istio.io/tls-terminate-mode: ISTIO_MUTUAL } }";
  assert.deepEqual(
    said(wrong.replace("protocol: HBONE", `protocol: HBONE, ${tls}`), true),
    [],
    "as Istio's users write it",
  );
  assert.deepEqual(said(wrong.replace("port: 15008", "port: 15443"), true), ["listener-not-as-written: undefined"]);
});

/** The addresses that a client in network n1 dials for service a. */
function dialled(mesh: OfflineMesh): string[] {
  const files = { TLS_CLIENT_CERT_CHAIN: "/c", TLS_CLIENT_KEY: "/k", TLS_CLIENT_ROOT_CERT: "/r" };
  const id = "sidecar~10.0.0.7~client.shop~shop.svc.cluster.local";
  const text = JSON.stringify(resourcesJson(mesh.join({ id, metadata: { NETWORK: "n1", ...files } }), ["eds"]));
  return [...text.matchAll(/"address":"([^"]+)","port_value":(\d+)/g)].map(([, address, port]) => `${address}:${port}`);
}

function farMesh(text: string, settings: WaySettings = {}): OfflineMesh {
  return meshOf({ "mesh.yaml": text }, { settings: defaultSettings("pilot-discovery", settings) });
}

Deno.test("PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API: labelled Gateways are entrances to their network", () => {
  const off = { PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API: false };
  for (const name of ["mesh-remote", "mesh"]) {
    assert.deepEqual(dialled(farMesh(farWorld(name))), ["192.0.2.1:15443"], name);
    assert.deepEqual(dialled(farMesh(farWorld(name), off)), ["10.0.0.1:80"], `${name}, switched off`);
  }
  assert.deepEqual(dialled(farMesh(farWorld("other"))), ["10.0.0.1:80"], "a class of nobody");
});

Deno.test("a labelled Gateway that is served here passes connections on to services of all namespaces", () => {
  const world = farWorld("mesh").replaceAll("namespace: shop, labels", "namespace: infra, labels") + `---
apiVersion: networking.mesh.io/v1
kind: WorkloadEntry
metadata: { name: door, namespace: infra }
spec: { address: 10.0.0.9, labels: { gateway.networking.k8s.io/gateway-name: n2 } }
`;
  const clusters = (text: string) =>
    resourcesOf(text, "router~10.0.0.9~door.infra~infra.svc.cluster.local", ["cds"])["clusters"]?.map(({ name }) =>
      name
    );
  const passed = "outbound_.80_._.a.shop.svc.cluster.local";
  assert.deepEqual(
    [clusters(world)?.includes(passed), clusters(world.replace("port: 15443", "port: 15444"))?.includes(passed)],
    [true, false],
  );
});

Deno.test("an entrance that is a Gateway moves and goes with the Gateway", () => {
  const mesh = farMesh(farWorld("mesh-remote"));
  assert.deepEqual(dialled(mesh), ["192.0.2.1:15443"]);
  const write = (text: string) => void mesh.apply(readsOf({ "mesh.yaml": text }));
  write(farWorld("mesh-remote", "{ value: 192.0.2.2 }"));
  assert.deepEqual(dialled(mesh), ["192.0.2.2:15443"]);
  write(farWorld("mesh-remote").replace("network: n2 } }", "network: n3 } }"));
  assert.deepEqual(dialled(mesh), ["10.0.0.1:80"]);
  assert.deepEqual(mesh.failures, []);
});

Deno.test("PILOT_ENABLE_GATEWAY_API_STATUS: nobody leads the writing of status with the setting off", async () => {
  const locks = async (settings: Partial<SettingsOf<"pilot-discovery">>) => {
    const found: string[] = [];
    await withOrch(new MemoryApi(), async (server) => {
      const { body } = await page(server.ports.http!, "/debug/leaderz");
      found.push(...(JSON.parse(body) as { readonly lock: string }[]).map(({ lock }) => lock));
    }, { settings });
    return found.includes("mesh-gateway-status-leader-default");
  };
  assert.deepEqual(
    [
      await locks({}),
      await locks({ PILOT_ENABLE_GATEWAY_API_STATUS: false }),
      await locks({ PILOT_ENABLE_GATEWAY_API: false }),
    ],
    [true, false, false],
  );
});
