/**
 * What a tunnel hears about an object whose waypoint is not there: the name of the waypoint, which closes the object, if
 * a policy is bound that only the waypoint can enforce; else nothing, and connections go to the workloads.
 */
import assert from "node:assert/strict";
import { objectsOf, TunnelWorld } from "./support/world.ts";

const SERVICE = "shop/cart.shop.svc.cluster.local";
const HOST = "shop/api.example.com";
const POD = "Kubernetes//Pod/shop/cart";
const ENTRY = "Kubernetes/networking.istio.io/WorkloadEntry/shop/vm";
const INLINE = "Kubernetes/networking.istio.io/ServiceEntry/shop/api/10.2.0.1";

const USE = "istio.io/use-waypoint: gate";
const SHOP = (asking: string) => `
{ apiVersion: v1, kind: Service, metadata: { name: cart, namespace: shop, labels: { ${asking} } },
  spec: { clusterIP: 10.96.0.1, ports: [{ port: 80 }] } }
---
{ apiVersion: v1, kind: Pod, metadata: { name: cart, namespace: shop, labels: { ${asking} } }, spec: { containers: [] },
  status: { phase: Running, podIP: 10.1.0.1 } }
---
{ apiVersion: networking.istio.io/v1, kind: ServiceEntry, metadata: { name: api, namespace: shop, labels: { ${asking} } },
  spec: { hosts: [api.example.com], addresses: [240.0.0.1], resolution: STATIC, endpoints: [{ address: 10.2.0.1 }],
    ports: [{ number: 80, name: http, protocol: HTTP }] } }
---
{ apiVersion: networking.istio.io/v1, kind: WorkloadEntry, metadata: { name: vm, namespace: shop, labels: { ${asking} } },
  spec: { address: 10.3.0.1 } }`;
const NAMESPACE = `
{ apiVersion: v1, kind: Namespace, metadata: { name: shop, labels: { ${USE} } } }`;
const gateway = (labels = "", of = "istio-waypoint") => `
{ apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: { name: gate, namespace: shop, labels: { ${labels} } },
  spec: { gatewayClassName: ${of}, listeners: [{ name: mesh, port: 15008, protocol: HBONE }] } }`;
const policy = (target: string, { of = "shop", spec = "action: DENY, rules: [{}]", meta = "" } = {}) => `
{ apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: { name: p, namespace: ${of}, ${meta} },
  spec: { targetRefs: [${target}], ${spec} } }`;

const THE_SERVICE = "{ kind: Service, group: '', name: cart }";
const THE_ENTRY = "{ kind: ServiceEntry, group: networking.istio.io, name: api }";
const THE_GATEWAY = "{ kind: Gateway, group: gateway.networking.k8s.io, name: gate }";
const THE_CLASS = "{ kind: GatewayClass, group: gateway.networking.k8s.io, name: istio-waypoint }";
const ROOT = { of: "mesh-system" };
const ALL = [SERVICE, HOST, POD, ENTRY, INLINE];

const ROWS: readonly [title: string, objects: readonly string[], closed: readonly string[]][] = [
  ["no policy closes nothing", [SHOP(USE)], []],
  ["a policy of the Service closes the Service", [SHOP(USE), policy(THE_SERVICE)], [SERVICE]],
  ["a policy of a ServiceEntry closes the hosts", [SHOP(USE), policy(THE_ENTRY)], [HOST]],
  ["a policy of a Gateway that does not exist closes all that asks for it", [SHOP(USE), policy(THE_GATEWAY)], ALL],
  ["a policy of a Gateway without address closes what the Gateway is for: by default services", [
    SHOP(USE),
    gateway(),
    policy(THE_GATEWAY),
  ], [SERVICE, HOST]],
  ["a Gateway for workloads", [SHOP(USE), gateway("istio.io/waypoint-for: workload"), policy(THE_GATEWAY)], [
    POD,
    ENTRY,
    INLINE,
  ]],
  ["a Gateway for all", [SHOP(USE), gateway("istio.io/waypoint-for: all"), policy(THE_GATEWAY)], ALL],
  ["a policy of the class, in the root namespace", [
    SHOP(USE),
    gateway("istio.io/waypoint-for: all"),
    policy(THE_CLASS, ROOT),
  ], ALL],
  ["a policy of the class elsewhere is no policy", [SHOP(USE), gateway(), policy(THE_CLASS)], []],
  ["a policy of the class of waypoints, and no Gateway", [SHOP(USE), policy(THE_CLASS, ROOT)], ALL],
  ["a policy of another class than the Gateway's", [SHOP(USE), gateway("", "other"), policy(THE_CLASS, ROOT)], []],
  ["a policy that accepts needs the waypoint as much", [SHOP(USE), policy(THE_SERVICE, { spec: "rules: [{}]" })], [
    SERVICE,
  ]],
  ["a policy of a provider needs the waypoint", [
    SHOP(USE),
    policy(THE_SERVICE, { spec: "action: CUSTOM, provider: { name: x }, rules: [{}]" }),
  ], [SERVICE]],
  [
    "a policy that audits enforces nothing",
    [SHOP(USE), policy(THE_SERVICE, { spec: "action: AUDIT, rules: [{}]" })],
    [],
  ],
  ["a policy on trial enforces nothing", [
    SHOP(USE),
    policy(THE_SERVICE, { meta: "annotations: { istio.io/dry-run: 'true' }" }),
  ], []],
  ["a RequestAuthentication needs the waypoint", [
    SHOP(USE),
    `{ apiVersion: security.istio.io/v1, kind: RequestAuthentication, metadata: { name: r, namespace: shop },
  spec: { targetRefs: [${THE_SERVICE}], jwtRules: [{ issuer: i, jwksUri: "https://i.test/keys" }] } }`,
  ], [SERVICE]],
  ["a policy of another namespace is for its own objects", [SHOP(USE), policy(THE_SERVICE, { of: "bank" })], []],
  ["an object that asks for no waypoint is not closed", [SHOP(""), policy(THE_SERVICE), policy(THE_GATEWAY)], []],
  ["the label of a namespace is meant for services, as long as there is no Gateway", [
    SHOP(""),
    NAMESPACE,
    policy(THE_GATEWAY),
  ], [SERVICE, HOST]],
  ["the label of a namespace, and a Gateway for workloads", [
    SHOP(""),
    NAMESPACE,
    gateway("istio.io/waypoint-for: workload"),
    policy(THE_GATEWAY),
  ], [POD, ENTRY, INLINE]],
];

/** Names of the resources with the name of the waypoint. */
function closedIn(objects: readonly string[], opensWithoutWaypoint = false): readonly string[] {
  const found = new TunnelWorld({ opensWithoutWaypoint }).put(...objects.flatMap(objectsOf)).readable();
  const address = { hostname: { namespace: "shop", hostname: "gate.shop.svc.cluster.local" }, hbone_mtls_port: 15008 };
  return Object.entries(found as Readonly<Record<string, Addressed>>).flatMap(([name, { service, workload }]) => {
    const { waypoint } = service ?? workload ?? {};
    if (waypoint === undefined) return [];
    assert.deepEqual(waypoint, address);
    return [name];
  });
}

interface Addressed {
  readonly service?: { readonly waypoint?: unknown };
  readonly workload?: { readonly waypoint?: unknown };
}

for (const [title, objects, closed] of ROWS) {
  Deno.test(title, () => {
    assert.deepEqual(closedIn(objects), [...closed].sort());
    assert.deepEqual(closedIn(objects, true), [], "with MESH_WAYPOINT_FAIL_OPEN=true nothing is closed");
  });
}
