/** Findings about objects of the Gateway API agree with the way of requests, in a mesh of files. */
import assert from "node:assert/strict";
import type { FindingName } from "../../lib/finding/codes.ts";
import { codes, resourcesOf, wayOf, type WaySettings } from "../offline/way.ts";
import { AttachWorld, OPTIONS } from "../gateway_api/attach_world.ts";
import { meshStatus } from "../../lib/gateway_api/status/meshes.ts";
import { findingsIn, type Variables } from "./support/analyzed.ts";

/** A workload that serves Gateway shop/edge, and a client in namespace shop. */
const WORKLOADS = `
---
apiVersion: networking.mesh.io/v1
kind: WorkloadEntry
metadata: { name: door, namespace: shop }
spec: { address: 10.0.0.9, labels: { gateway.networking.k8s.io/gateway-name: edge } }
`;

const DOOR = "router~10.0.0.9~door.shop~shop.svc.cluster.local";
const CLIENT = "sidecar~10.0.0.7~client.shop~shop.svc.cluster.local";

function example(name: FindingName, which: "triggers" | "clean"): string {
  const text = Deno.readTextFileSync(new URL(`../testdata/findings/${name}/${which}.yaml`, import.meta.url));
  return text + WORKLOADS;
}

/** The ends of a request in the example with the finding, and in the example without the finding. */
async function ends(name: FindingName, to: string, from = DOOR): Promise<readonly [string, string]> {
  assert.ok(findingsIn({ "a.yaml": example(name, "triggers") }).some((one) => one.name === name), `no ${name}`);
  return [await endOf(example(name, "triggers"), to, from), await endOf(example(name, "clean"), to, from)];
}

async function endOf(text: string, to: string, from = DOOR, settings: WaySettings = {}): Promise<string> {
  return (await wayOf(text, from, to, settings)).split(" > ")[1] ?? "";
}

/** Severity and field of each finding, with the reason in parentheses, or else the expectation. */
function found(text: string, name: FindingName): string[] {
  return findingsIn({ "a.yaml": text }).filter((one) => one.name === name).map(({ severity, place, message }) =>
    `${severity} ${place.field}: ${(/\((.*)\)/.exec(message) ?? /expected (.*)/.exec(message))?.[1]}`
  );
}

Deno.test("not-attached: the Gateway answers 404, and the route's backend once the route is attached", async () => {
  assert.deepEqual(await ends("not-attached", "http://x/"), ["404", "10.0.0.1:80"]);
});

Deno.test("unusable-backend: the rule answers 500, and its backend once the port exists", async () => {
  assert.deepEqual(await ends("unusable-backend", "http://x/"), ["500", "10.0.0.1:80"]);
});

Deno.test("refused-rule: the rule answers 500, and its backend with a known filter", async () => {
  assert.deepEqual(await ends("refused-rule", "http://x/"), ["500", "10.0.0.1:80"]);
});

Deno.test("match-of-another-rule: without the later rule, and with another backend there, every request ends as before", async () => {
  const text = example("match-of-another-rule", "triggers");
  const [before, after] = text.split("metadata: { name: b,") as [string, string];
  const elsewhere = `${before}metadata: { name: b,${after.replace("name: cart, port: 80", "name: none, port: 80")}`;
  assert.equal(await endOf(text, "http://x/cart"), "10.0.0.1:80");
  assert.equal(await endOf(elsewhere, "http://x/cart"), "10.0.0.1:80");
  const narrower = example("match-of-another-rule", "clean").replace(
    "/cart/items } }], backendRefs: [{ name: cart,",
    "/cart/items } }], backendRefs: [{ name: none,",
  );
  assert.equal(await endOf(narrower, "http://x/cart/items"), "500");
});

Deno.test("route-behind-virtual-service: the VirtualService decides; without it, the route does", async () => {
  const text = example("route-behind-virtual-service", "triggers").replace(
    "rules: [{ backendRefs: [{ name: cart, port: 80 }] }]",
    "rules: [{ backendRefs: [{ name: none, port: 80 }] }]",
  );
  assert.deepEqual(found(text, "route-behind-virtual-service"), [
    "error spec.parentRefs[0].name: VirtualService shop/cart has cart.shop.svc.cluster.local",
  ]);
  assert.equal(await endOf(text, "http://cart.shop/", CLIENT), "10.0.0.1:80");
  const route = text.slice(text.indexOf("---") + 3);
  assert.equal(await endOf(route, "http://cart.shop/", CLIENT), "500");
});

Deno.test("a VirtualService younger than a route at its service is found, with the route's name", () => {
  const text = example("route-behind-virtual-service", "triggers").replace(
    "kind: HTTPRoute\nmetadata: { name: cart, namespace: shop }",
    "kind: HTTPRoute\nmetadata: { name: cart, namespace: shop, creationTimestamp: 2020-01-01T00:00:00Z }",
  );
  assert.deepEqual(found(text, "route-behind-virtual-service"), []);
  assert.deepEqual(found(text, "hidden-rules"), ["error spec.hosts[0]: HTTPRoute shop/cart has it"]);
});

Deno.test("derived-gateway: the VirtualService serves, and no more once the listener has another name; a route serves on", async () => {
  const renamed = (which: "triggers" | "clean") =>
    example("derived-gateway", which).replace("listeners: [{ name: http,", "listeners: [{ name: web,")
      .replace(", sectionName: http", "");
  assert.deepEqual(found(example("derived-gateway", "triggers"), "derived-gateway"), [
    "info spec.gateways[0]: this one is made of a listener of Gateway shop/edge",
  ]);
  assert.deepEqual(await ends("derived-gateway", "http://cart.example.com/"), ["10.0.0.1:80", "10.0.0.1:80"]);
  assert.equal(await endOf(renamed("triggers"), "http://cart.example.com/"), "404");
  assert.equal(await endOf(renamed("clean"), "http://cart.example.com/"), "10.0.0.1:80");
});

Deno.test("listener-without-place: a route of the listener gets nothing through it, and does on another port", async () => {
  const route = `---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: web, namespace: shop }
spec:
  parentRefs: [{ kind: ListenerSet, name: more }]
  rules: [{ filters: [{ type: RequestRedirect, requestRedirect: { hostname: elsewhere.org } }] }]
`;
  const text = (which: "triggers" | "clean") => example("listener-without-place", which) + route;
  assert.deepEqual(found(text("triggers"), "listener-without-place"), [
    'error spec.listeners[0].port: hostname "*" on port 80 is taken by listener "http" of Gateway shop/edge',
  ]);
  assert.deepEqual(
    [await endOf(text("triggers"), "http://x/"), await endOf(text("clean"), "http://x:8080/")],
    ["404", "302"],
  );
});

Deno.test("listener-not-as-written: a listener without a usable certificate is not there", () => {
  const text = (which: "triggers" | "clean") =>
    example("listener-not-as-written", which).replace(
      "protocol: HTTP\n",
      "protocol: HTTPS\n      tls: { certificateRefs: [{ name: door }] }\n",
    );
  assert.deepEqual(found(text("clean"), "listener-not-as-written"), [
    "warning spec.listeners[0].tls.certificateRefs: tls.certificateRefs[0]: Secret shop/door does not exist",
  ]);
  assert.deepEqual(resourcesOf(text("clean"), DOOR, ["lds"])["listeners"], []);
});

Deno.test("unused-backend-policy: connections to the backend are plain, and TLS with the right target", () => {
  const tls = (which: "triggers" | "clean") =>
    JSON.stringify(resourcesOf(example("unused-backend-policy", which), CLIENT, ["cds"])).includes(
      "cart.example.com",
    );
  assert.deepEqual([tls("triggers"), tls("clean")], [false, true]);
});

Deno.test("unserved-gateway: nothing listens for the Gateway, until its class exists", () => {
  const listeners = (which: "triggers" | "clean") =>
    resourcesOf(example("unserved-gateway", which), DOOR, ["lds"])["listeners"]?.length;
  assert.deepEqual([listeners("triggers"), listeners("clean")], [0, 1]);
  const foreign = example("unserved-gateway", "triggers") + `---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: mesch }
spec: { controllerName: example.com/other }
`;
  assert.deepEqual(found(foreign, "unserved-gateway"), [], "another implementation's Gateway is no mistake");
});

Deno.test("gateway-api-off: the setting takes the objects out of force, and each is named", () => {
  const settings = { PILOT_ENABLE_GATEWAY_API: false };
  const text = example("gateway-api-off", "triggers").replaceAll("name: door, namespace", "name: edge, namespace");
  assert.deepEqual(resourcesOf(text, DOOR, ["lds"], settings)["listeners"], []);
  assert.equal(resourcesOf(text, DOOR, ["lds"])["listeners"]?.length, 1);
  const names = findingsIn({ "a.yaml": text }, {}, settings).map(({ name, severity }) => `${severity} ${name}`);
  assert.deepEqual(names, ["warning gateway-api-off"]);
});

const PARAMETERS = ', parametersRef: { group: "", kind: ConfigMap, name: settings }';
const OURS = "controllerName: mesh.io/gateway-controller";
const ALPHA = { PILOT_ENABLE_ALPHA_GATEWAY_API: true };

function mesh(spec: string): string {
  return `
apiVersion: gateway.networking.x-k8s.io/v1alpha1
kind: XMesh
metadata: { name: mesh }
spec: { ${spec} }
`;
}

Deno.test("gateway-api-off: an experimental kind needs a setting of its own", () => {
  const of = (settings: Variables) => findingsIn({ "a.yaml": mesh(OURS) }, {}, settings);
  assert.deepEqual(of({}).map(({ name, expected }) => `${name} ${expected}`), [
    "gateway-api-off PILOT_ENABLE_ALPHA_GATEWAY_API=true",
  ]);
  assert.deepEqual(of(ALPHA), []);
});

Deno.test("refused-mesh-parameters: a mesh of another controller is no mistake; ours gets the same verdict in its status", () => {
  const of = (spec: string) => findingsIn({ "a.yaml": mesh(spec) }, {}, ALPHA).map(({ name }) => name);
  assert.deepEqual(of(`controllerName: example.com/other${PARAMETERS}`), []);
  assert.deepEqual(of(`${OURS}${PARAMETERS}`), ["refused-mesh-parameters"]);
  const status = (spec: string) => {
    const world = new AttachWorld(mesh(spec));
    const { conditions } = meshStatus(world.object("XMesh", "mesh", ""), OPTIONS, {}, "2026-02-02T00:00:00Z") as {
      readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
    };
    return conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
  };
  assert.deepEqual(status(OURS), ["Accepted True Accepted"]);
  assert.deepEqual(status(`${OURS}${PARAMETERS}`), ["Accepted False InvalidParameters"]);
});

Deno.test("unused-external-backend: requests of a route get 500 with the finding, and reach the host without the finding", async () => {
  const route = `
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: pay, namespace: shop }
spec:
  parentRefs: [{ name: edge }]
  rules: [{ backendRefs: [{ group: gateway.networking.x-k8s.io, kind: XBackend, name: pay }] }]
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge, namespace: shop }
spec: { gatewayClassName: mesh, listeners: [{ name: http, port: 80, protocol: HTTP }] }
`;
  const of = (which: "triggers" | "clean") => {
    const text = example("unused-external-backend", which) + route;
    return endOf(text, "http://shop.test/", DOOR, ALPHA);
  };
  assert.deepEqual([await of("triggers"), await of("clean")], ["500", "pay.example.com.:443"]);
});

const GATEWAY = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge, namespace: shop }
spec:
  gatewayClassName: mesh
  listeners:
  - { name: http, port: 80, protocol: HTTP, hostname: "*.example.com" }
  - { name: bytes, port: 5432, protocol: TCP, allowedRoutes: { namespaces: { from: All } } }
`;

function route(
  kind: string,
  parentRef: string,
  { namespace = "shop", more = "", backend = "name: cart, port: 80" } = {},
) {
  return `${GATEWAY}---
apiVersion: gateway.networking.k8s.io/v1
kind: ${kind}
metadata: { name: web, namespace: ${namespace} }
spec: { parentRefs: [{ ${parentRef} }], ${more} rules: [{ backendRefs: [{ ${backend} }] }] }
---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: cart, namespace: shop }
spec:
  hosts: [cart.shop.svc.cluster.local]
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }, { number: 53, name: dns, protocol: UDP }]
  endpoints: [{ address: 10.0.0.1 }]
`;
}

Deno.test("each reason why a route is attached to nothing is found at the field that decides", () => {
  const cases: [string, string, string[]][] = [
    ["a missing Gateway", route("HTTPRoute", "name: edg"), [
      "error spec.parentRefs[0].name: shop/edg does not",
    ]],
    ["a missing Gateway elsewhere", route("HTTPRoute", "name: edge, namespace: infra"), [
      "warning spec.parentRefs[0].name: infra/edge does not",
    ]],
    ["a missing section", route("HTTPRoute", "name: edge, sectionName: https"), [
      "error spec.parentRefs[0].sectionName: http, bytes",
    ]],
    ["a missing port", route("HTTPRoute", "name: edge, port: 81"), [
      "error spec.parentRefs[0].port: 80, 5432",
    ]],
    ["a hostname of no listener", route("HTTPRoute", "name: edge", { more: "hostnames: [example.org]," }), [
      "error spec.hostnames: *.example.com",
    ]],
    ["a namespace that is not allowed", route("HTTPRoute", "name: edge, namespace: shop", { namespace: "pay" }), [
      "error spec.parentRefs[0].name: allowedRoutes.namespaces",
    ]],
    ["a kind that is not allowed", route("TLSRoute", "name: edge", { more: "hostnames: [a.example.com]," }), [
      "error spec.parentRefs[0].name: protocol, allowedRoutes.kinds",
    ]],
    ["a missing Service", route("HTTPRoute", 'group: "", kind: Service, name: card'), [
      "error spec.parentRefs[0].name: shop/card does not",
    ]],
    ["an unknown kind", route("HTTPRoute", "group: example.com, kind: Door, name: edge"), [
      "info spec.parentRefs[0].kind: a Gateway, ListenerSet, Service or ServiceEntry",
    ]],
    ["a class that does not exist", route("HTTPRoute", "name: edge").replace("Name: mesh", "Name: other"), [
      "info spec.parentRefs[0].name: shop/edge has the class other",
    ]],
    ["a Gateway that takes the route", route("HTTPRoute", "name: edge"), []],
    ["a refused Gateway", route("HTTPRoute", "name: edge").replace("port: 5432", "port: none"), []],
  ];
  for (const [about, text, expected] of cases) assert.deepEqual(found(text, "not-attached"), expected, about);
});

Deno.test("each reason why a backend is not used is found; without a grant nobody learns what exists", () => {
  const backends = (backend: string, more = "") =>
    found(route("HTTPRoute", "name: edge", { backend }) + more, "unusable-backend");
  assert.deepEqual(backends("kind: Door, group: example.com, name: x, port: 80"), [
    "error spec.rules[0].backendRefs[0].kind: a Service",
  ]);
  assert.deepEqual(backends("name: card, port: 80"), [
    "error spec.rules[0].backendRefs[0].name: shop/card does not",
  ]);
  assert.deepEqual(backends("name: cart, port: 81"), [
    "error spec.rules[0].backendRefs[0].port: 80",
  ]);
  assert.deepEqual(backends("name: cart, port: 53"), [
    "error spec.rules[0].backendRefs[0].port: 80",
  ]);
  const secret = `---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: vault, namespace: pay }
spec: { hosts: [vault.pay.svc.cluster.local], ports: [{ number: 80, name: http, protocol: HTTP }] }
`;
  const without = backends("name: vault, namespace: pay, port: 80");
  assert.deepEqual(backends("name: vault, namespace: pay, port: 80", secret), without);
  assert.match(
    without[0] ?? "",
    /^warning spec\.rules\[0\]\.backendRefs\[0\]\.namespace: a ReferenceGrant in namespace pay from HTTPRoute/,
  );
});

Deno.test("a route that shares a host with an older route of another kind is found, with the other route's name", () => {
  const grpc = `---
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: { name: calls, namespace: shop, creationTimestamp: 2020-01-01T00:00:00Z }
spec: { parentRefs: [{ name: edge }], rules: [{ backendRefs: [{ name: cart, port: 80 }] }] }
`;
  assert.deepEqual(found(route("HTTPRoute", "name: edge") + grpc, "not-attached"), [
    "error spec.hostnames: GRPCRoute shop/calls is first",
  ]);
});

Deno.test("of two policies for one service the younger is found; a policy without authorities closes the backend", () => {
  const policy = (name: string, validation: string) =>
    `---
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: { name: ${name}, namespace: shop }
spec: { targetRefs: [{ group: "", kind: Service, name: cart }], validation: { hostname: x.org, ${validation} } }
`;
  const text = route("HTTPRoute", "name: edge");
  const system = "wellKnownCACertificates: System";
  assert.deepEqual(found(text + policy("a", system) + policy("b", system), "unused-backend-policy"), [
    "error spec.targetRefs[0].name: BackendTLSPolicy shop/a is older",
  ]);
  const refs = 'caCertificateRefs: [{ group: "", kind: ConfigMap, name: roots }]';
  assert.deepEqual(found(text + policy("a", refs), "unused-backend-policy"), [
    "warning spec.validation.caCertificateRefs: validation.caCertificateRefs: ConfigMap shop/roots does not exist",
  ]);
});

Deno.test("a policy may target a served Gateway before its workloads are known; others are found", () => {
  const policy = (name: string) =>
    `---
apiVersion: security.mesh.io/v1
kind: AuthorizationPolicy
metadata: { name: p, namespace: shop }
spec: { targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: ${name} }], rules: [{}] }
`;
  assert.deepEqual(found(GATEWAY + policy("edge"), "selects-nothing"), []);
  const label = "and no known workload has gateway.networking.k8s.io/gateway-name";
  assert.deepEqual(found(GATEWAY + policy("edgy"), "selects-nothing"), [
    `warning spec.targetRefs[0]: there is no Gateway shop/edgy, ${label}=edgy`,
  ]);
  assert.deepEqual(found(GATEWAY.replace("Name: mesh", "Name: other") + policy("edge"), "selects-nothing"), [
    `warning spec.targetRefs[0]: Gateway shop/edge has the class other, which this mesh does not serve, ${label}=edge`,
  ]);
});

Deno.test("a policy reaches workloads that serve its Gateway without the label, and nothing is found", () => {
  const text = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge, namespace: shop }
spec:
  gatewayClassName: mesh
  addresses: [{ type: Hostname, value: doors }]
  listeners: [{ name: http, port: 80, protocol: HTTP }]
---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: doors, namespace: shop }
spec:
  hosts: [doors.shop.svc.cluster.local]
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  workloadSelector: { labels: { app: door } }
---
apiVersion: networking.mesh.io/v1
kind: WorkloadEntry
metadata: { name: door, namespace: shop }
spec: { address: 10.0.0.9, labels: { app: door } }
---
apiVersion: security.mesh.io/v1
kind: AuthorizationPolicy
metadata: { name: p, namespace: shop }
spec:
  action: DENY
  targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: edge }]
  rules: [{ to: [{ operation: { paths: [/closed] } }] }]
`;
  const closes = (text: string) => JSON.stringify(resourcesOf(text, DOOR, ["lds"])).includes("/closed");
  assert.deepEqual(found(text, "selects-nothing"), []);
  assert.equal(closes(text), true);
});

Deno.test("check shows the findings of a folder", () => {
  assert.deepEqual(codes(route("HTTPRoute", "name: edge, sectionName: https")), [
    "MSH1121 error spec.parentRefs[0].sectionName",
  ]);
});
