/** Findings about waypoints that are not used, by the resources that node tunnels get. */
import assert from "node:assert/strict";
import type { AnalysisSettings } from "../../lib/analyze/reader/source.ts";
import { objectsOf, TunnelWorld } from "../ambient/support/world.ts";
import { AnalyzedFolder } from "./support/analyzed.ts";

const service = (labels: string, { namespace = "shop", name = "cart", ip = "10.96.0.1" } = {}) => `
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: ${namespace}, labels: { ${labels} } }
spec: { clusterIP: ${ip}, selector: { app: ${name} }, ports: [{ name: http, port: 80 }] }
`;

const ENTRY = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: api, namespace: shop, labels: { istio.io/use-waypoint: gate } }
spec: { hosts: [api.example.com], resolution: DNS, ports: [{ number: 443, name: tls, protocol: TLS }] }
`;

const namespace = (name: string, labels: string) => `
apiVersion: v1
kind: Namespace
metadata: { name: ${name}, labels: { ${labels} } }
`;

const gate = (labels = "", more = "") => `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: mesh-waypoint }
spec: { controllerName: mesh.io/mesh-controller }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: gate, namespace: shop, labels: { ${labels} } }
spec: { gatewayClassName: mesh-waypoint, listeners: [{ name: mesh, port: 15008, protocol: HBONE }] }
${more}
`;

const READY = `status: { addresses: [{ type: IPAddress, value: 10.96.0.9 }] }`;
const UNREADY = `status: { addresses: [] }`;
const ASKING = "istio.io/use-waypoint: gate";

const FOR_CART = `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: admins, namespace: shop }
spec: { targetRefs: [{ kind: Service, group: "", name: cart }], rules: [{}] }
`;

const FOR_GATE = FOR_CART.replace(
  'kind: Service, group: "", name: cart',
  "kind: Gateway, group: gateway.networking.k8s.io, name: gate",
);

const DIRECT = "Connections go to the workloads directly. No policy needs the waypoint.";
const CLOSED = "Node tunnels refuse connections, because AuthorizationPolicy shop/admins needs the waypoint.";

/** The findings as `severity Kind namespace/name: expected; effect`. */
function found(texts: readonly string[], settings: Partial<AnalysisSettings> = {}): string[] {
  const folder = new AnalyzedFolder({}, false, undefined, { waypoints: true, ...settings });
  folder.write({ "case.yaml": texts.join("---\n") });
  return folder.findings().filter(({ name }) => name === "waypoint-not-used").map((one) => {
    const [{ kind, namespace, name } = { kind: "", namespace: "", name: "" }] = one.place.objects;
    return `${one.severity} ${kind} ${namespace}/${name}: ${one.expected}; ${one.effect}`;
  });
}

const whole = { whole: true } as const;

Deno.test("without the label nothing is found, nor for a waypoint that is used", () => {
  for (const labels of ["", "istio.io/use-waypoint: none"]) {
    assert.deepEqual(found([namespace("shop", ""), service(labels)], whole), []);
  }
  assert.deepEqual(found([service(ASKING), ENTRY, gate("", READY)], { ...whole, served: true }), []);
});

Deno.test("each reason is found at a Service and at a ServiceEntry", () => {
  const expected = "a waypoint that is used";
  const both = (severity: string, why: string) => [
    `${severity} Service shop/cart: ${expected} (${why}); ${DIRECT}`,
    `${severity} ServiceEntry shop/api: ${expected} (${why}); ${DIRECT}`,
  ];
  const of = (...texts: readonly string[]) =>
    found([service(ASKING), ENTRY, ...texts], { ...whole, served: true }).sort();
  assert.deepEqual(of(), both("error", "Gateway shop/gate does not exist"));
  assert.deepEqual(of(gate("", UNREADY)), both("warning", "Gateway shop/gate has no address in its status"));
  const traffic = 'Gateway shop/gate takes the traffic "workload" by its label mesh.io/waypoint-for, not "service"';
  assert.deepEqual(of(gate("istio.io/waypoint-for: workload", READY)), both("error", traffic));
  const far = service(`${ASKING}, istio.io/use-waypoint-namespace: shop`, { namespace: "far" });
  assert.deepEqual(found([far, gate("", READY)]), [
    `error Service far/cart: ${expected} (no listener for tunnels of Gateway shop/gate admits the namespace far); ${DIRECT}`,
  ]);
});

Deno.test("a Gateway of a file without a status may be ready, and a missing Gateway may be elsewhere", () => {
  assert.deepEqual(found([service(ASKING), gate()]), []);
  const elsewhere = service(`${ASKING}, istio.io/use-waypoint-namespace: infra`);
  assert.deepEqual(found([elsewhere]), [
    "warning Service shop/cart: a waypoint that is used (Gateway infra/gate does not exist); " +
    `Unless the Gateway is elsewhere: ${DIRECT}`,
  ]);
});

Deno.test("a headless service is told that clients pass the waypoint, and which policy nobody enforces", () => {
  const headless = service(ASKING, { ip: "None" });
  const why = "warning Service shop/cart: a service with an address of its own " +
    "(clients of a headless service dial its pods); The service is headless: clients dial its pods, so connections go " +
    "to the pods, past the waypoint shop/gate unless the pods ask for it.";
  assert.deepEqual(found([headless, gate()]), [why]);
  assert.deepEqual(found([headless, gate(), FOR_CART]), [
    `${why} On that way nothing enforces AuthorizationPolicy shop/admins.`,
  ]);
  // The label of a namespace may be meant for the other services and for the pods.
  const inherited = [namespace("shop", ASKING), service("", { ip: "None" }), gate()];
  assert.deepEqual(found(inherited), []);
  assert.equal(found([...inherited, FOR_CART]).length, 1);
});

Deno.test("the label of a namespace is found once, with the services that are closed", () => {
  const texts = [namespace("shop", ASKING), service(""), service("", { name: "web", ip: "10.96.0.2" })];
  const why = "error Namespace /shop: a waypoint that is used (Gateway shop/gate does not exist)";
  assert.deepEqual(found(texts, whole), [`${why}; ${DIRECT}`]);
  assert.deepEqual(found([...texts, FOR_GATE], whole), [`${why}; ${CLOSED}`]);
  assert.deepEqual(found([...texts, FOR_CART], whole), [
    `${why}; ${CLOSED} So it is for 1 of 2 services here, such as cart. Connections to the others go to the workloads ` +
    "directly.",
  ]);
  // The pods of the namespace use a waypoint for workloads.
  assert.deepEqual(found([...texts, gate("istio.io/waypoint-for: workload")], whole), []);
  assert.deepEqual(found([namespace("empty", ASKING)], whole), []);
});

Deno.test("a finding says what tunnels do: they get no waypoint, or a name that nothing has", () => {
  for (const policies of [[], [FOR_CART], [FOR_GATE]]) {
    for (const opensWithoutWaypoint of [false, true]) {
      const texts = [service(ASKING), ...policies];
      const [one = ""] = found(texts, {
        served: true,
        tunnels: { served: true, opensWithoutWaypoint, layersPolicies: false },
      });
      const world = new TunnelWorld({ opensWithoutWaypoint }).put(...objectsOf(texts.join("---\n")));
      const sent = JSON.stringify(world.readable()["shop/cart.shop.svc.cluster.local"]);
      const isClosed = sent.includes("gate.shop.svc.cluster.local");
      assert.equal(isClosed, policies.length > 0 && !opensWithoutWaypoint);
      assert.equal(one.includes("refuse connections"), isClosed, one);
      assert.equal(one.includes("go to the workloads directly"), !isClosed, one);
      const isUnenforced = policies.length > 0 && opensWithoutWaypoint;
      assert.equal(one.includes("nothing enforces AuthorizationPolicy shop/admins"), isUnenforced, one);
    }
  }
});

Deno.test("a server without ambient mode finds nothing", () => {
  const tunnels = { served: false, opensWithoutWaypoint: false, layersPolicies: false };
  assert.deepEqual(found([namespace("shop", ASKING), service(ASKING), ENTRY], { ...whole, served: true, tunnels }), []);
});

const pod = (name: string, labels: string, more = "") => `
apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: shop, labels: { app: cart, ${labels} }${more} }
spec: { containers: [{ name: app }] }
`;

const deployment = (labels: string) => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: cart, namespace: shop }
spec: { template: { metadata: { labels: { app: cart, ${labels} } }, spec: { containers: [{ name: app }] } } }
`;

const workloadEntry = (labels: string) => `
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: { name: vm, namespace: shop, labels: { ${labels} } }
spec: { address: 10.1.0.9 }
`;

Deno.test("a workload that asks for a waypoint of services alone is found, once for the pods of one maker", () => {
  const why = 'a waypoint that is used (Gateway shop/gate takes the traffic "service" by its label ' +
    'mesh.io/waypoint-for, not "workload"); Connections go to the workload directly. No policy needs the waypoint.';
  const made = ", ownerReferences: [{ apiVersion: apps/v1, kind: ReplicaSet, name: cart-1, controller: true }]";
  const pods = [pod("one", ASKING, made), pod("two", ASKING, made), pod("alone", ASKING)];
  const all = found([...pods, workloadEntry(ASKING), deployment(ASKING), gate("", READY)], whole);
  assert.deepEqual(all.sort(), [
    ...["Deployment shop/cart", "Pod shop/alone", "Pod shop/one", "WorkloadEntry shop/vm"].map((one) =>
      `error ${one}: ${why}`
    ),
  ]);
});

Deno.test("a workload with a waypoint for workloads, and one whose namespace alone asks, are not found", () => {
  const forAll = gate("istio.io/waypoint-for: all", READY);
  assert.deepEqual(found([pod("one", ASKING), workloadEntry(ASKING), forAll], whole), []);
  assert.deepEqual(found([namespace("shop", ASKING), pod("one", ""), workloadEntry(""), gate("", READY)], whole), []);
});
