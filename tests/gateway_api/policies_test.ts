/** Policies by targetRefs reach the proxies that serve the named Gateway, and no others. */
import assert from "node:assert/strict";
import { resourcesOf, wayOf, type WaySettings } from "../offline/way.ts";

/** Gateway NAMESPACE/NAME with a route to service a, and a workload that serves the Gateway. */
function gateway(name: string, namespace: string, address: string): string {
  return `
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  gatewayClassName: mesh
  listeners: [{ name: http, port: 80, protocol: HTTP }]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name}, namespace: ${namespace} }
spec: { parentRefs: [{ name: ${name} }], rules: [{ backendRefs: [{ name: a, port: 80 }] }] }
---
apiVersion: networking.mesh.io/v1
kind: WorkloadEntry
metadata: { name: ${name}, namespace: ${namespace} }
spec: { address: ${address}, labels: { app: door, gateway.networking.k8s.io/gateway-name: ${name} } }
---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: a-of-${name}, namespace: ${namespace} }
spec:
  hosts: [a.${namespace}.svc.cluster.local]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 10.0.0.1 }]`;
}

/** Two Gateways of one namespace, and a Gateway of another namespace with the first one's name. */
const WORLD = gateway("edge", "shop", "10.0.0.9") + gateway("back", "shop", "10.0.0.8") +
  gateway("edge", "pay", "10.0.0.7");

const PROXIES = {
  "shop/edge": "router~10.0.0.9~edge.shop~shop.svc.cluster.local",
  "shop/back": "router~10.0.0.8~back.shop~shop.svc.cluster.local",
  "pay/edge": "router~10.0.0.7~edge.pay~pay.svc.cluster.local",
  "a client": "sidecar~10.0.0.6~client.shop~shop.svc.cluster.local",
};

/** Text of a policy of namespace shop, and a text that proxies with the policy have. */
interface PolicyCase {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: string;
  readonly has: RegExp;
}

const CASES: readonly PolicyCase[] = [
  {
    ...{ apiVersion: "security.mesh.io/v1", kind: "AuthorizationPolicy" },
    spec: "action: DENY, rules: [{ to: [{ operation: { paths: [/closed-by-policy] } }] }]",
    has: /closed-by-policy/,
  },
  {
    ...{ apiVersion: "security.mesh.io/v1", kind: "RequestAuthentication" },
    spec:
      `jwtRules: [{ issuer: issuer-of-policy, jwks: '{"keys":[{"kty":"oct","k":"c2VjcmV0LXNlY3JldC1zZWNyZXQtMDE"}]}' }]`,
    has: /issuer-of-policy/,
  },
  {
    ...{ apiVersion: "telemetry.mesh.io/v1", kind: "Telemetry" },
    spec: 'accessLogging: [{ providers: [{ name: envoy }], filter: { expression: "response.code == 418" } }]',
    has: /\b418\b/,
  },
  {
    ...{ apiVersion: "extensions.mesh.io/v1alpha1", kind: "WasmPlugin" },
    spec: "url: https://example.com/plugin-of-policy.wasm, phase: AUTHN",
    has: /shop\.p\b|plugin-of-policy/,
  },
  {
    ...{ apiVersion: "networking.mesh.io/v1alpha3", kind: "ProxyFilter" },
    spec:
      "configPatches: [{ applyTo: LISTENER, match: { context: ANY }, patch: { operation: MERGE, value: { stat_prefix: patch-of-policy } } }]",
    has: /patch-of-policy/,
  },
];

function policy({ apiVersion, kind, spec }: PolicyCase, how: string): string {
  return `
---
apiVersion: ${apiVersion}
kind: ${kind}
metadata: { name: p, namespace: shop }
spec: { ${how === "" ? "" : `${how}, `}${spec} }`;
}

/** The proxies that have a policy. */
function having(one: PolicyCase, how: string, settings: WaySettings = {}): string[] {
  const text = WORLD + policy(one, how);
  return Object.entries(PROXIES).filter(([, node]) => {
    const found = resourcesOf(text, node, ["lds", "ecds"], settings);
    return one.has.test(JSON.stringify(found));
  }).map(([name]) => name);
}

const BY_TARGET = "targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: edge }]";

for (const one of CASES) {
  Deno.test(`${one.kind}: by targetRefs it reaches the named Gateway of its namespace alone`, () => {
    assert.deepEqual(having(one, BY_TARGET), ["shop/edge"]);
  });
}

Deno.test("an AuthorizationPolicy by targetRefs closes the Gateway, and no other Gateway", async () => {
  const text = WORLD + policy(CASES[0]!, BY_TARGET);
  const ends = Object.values(PROXIES).slice(0, 3).map(async (node) =>
    (await wayOf(text, node, "http://x/closed-by-policy")).split(" > ")[1]
  );
  assert.deepEqual(await Promise.all(ends), ["403", "10.0.0.1:80", "10.0.0.1:80"]);
});

const SELECTOR = "selector: { matchLabels: { app: door } }";
const OFF = { ENABLE_SELECTOR_BASED_ORCH_GATEWAY_POLICY: false };

for (const one of CASES.slice(0, 4)) {
  Deno.test(`${one.kind}: ENABLE_SELECTOR_BASED_ORCH_GATEWAY_POLICY=false leaves Gateways to targetRefs`, () => {
    assert.deepEqual(having(one, SELECTOR), ["shop/edge", "shop/back"], "by labels");
    assert.deepEqual(having(one, SELECTOR, OFF), [], "by labels, switched off");
    assert.deepEqual(having(one, "", OFF), having(one, "").filter((name) => name === "a client"), "of the namespace");
    assert.deepEqual(having(one, BY_TARGET, OFF), ["shop/edge"], "by targetRefs");
  });
}

Deno.test("with selectors for Gateways switched off, workloads of other gateways are still selected", () => {
  const plain = `
---
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: plain, namespace: shop }
spec:
  selector: { app: plain }
  servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ["*"] }]
---
apiVersion: networking.mesh.io/v1
kind: WorkloadEntry
metadata: { name: plain, namespace: shop }
spec: { address: 10.0.0.5, labels: { app: plain } }`;
  const text = WORLD + plain + policy(CASES[0]!, "selector: { matchLabels: { app: plain } }");
  const node = "router~10.0.0.5~plain.shop~shop.svc.cluster.local";
  assert.match(JSON.stringify(resourcesOf(text, node, ["lds"], OFF)), CASES[0]!.has);
});

/** Gateway shop/NAME for the workloads of the service that an address names. The workloads lack the Gateway's label. */
function byHand(name: string, port: number, service: string): string {
  return `
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: ${name}, namespace: shop }
spec:
  gatewayClassName: mesh
  addresses: [{ type: Hostname, value: ${service} }]
  listeners: [{ name: http, port: ${port}, protocol: HTTP }]`;
}

/** A service of namespace shop for workloads with labels. */
function doorService(name: string, labels: string): string {
  return `
---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: shop }
spec:
  hosts: [${name}.shop.svc.cluster.local]
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  workloadSelector: { labels: { ${labels} } }`;
}

/** A workload of namespace shop. */
function workload(name: string, address: string, labels: string): string {
  return `
---
apiVersion: networking.mesh.io/v1
kind: WorkloadEntry
metadata: { name: ${name}, namespace: shop }
spec: { address: ${address}, labels: { ${labels} } }`;
}

const DOORS = {
  edge: "router~10.0.1.1~door.shop~shop.svc.cluster.local",
  other: "router~10.0.1.2~other.shop~shop.svc.cluster.local",
};
const DOORS_WORLD = byHand("edge", 80, "doors") + byHand("elsewhere", 80, "others") +
  doorService("doors", "app: door") + doorService("others", "app: other") +
  workload("door", "10.0.1.1", "app: door") + workload("other", "10.0.1.2", "app: other");

/** The doors that have a policy. */
function doorsHaving(one: PolicyCase, text: string, how = BY_TARGET, settings: WaySettings = {}): string[] {
  return Object.entries(DOORS).filter(([, node]) =>
    one.has.test(JSON.stringify(resourcesOf(text + policy(one, how), node, ["lds", "ecds"], settings)))
  ).map(([name]) => name);
}

for (const one of CASES) {
  Deno.test(`${one.kind}: by targetRefs it reaches workloads that serve the Gateway without its label`, () => {
    assert.deepEqual(doorsHaving(one, DOORS_WORLD), ["edge"], "by the address of a service");
    const managed = DOORS_WORLD.replace("addresses: [{ type: Hostname, value: doors }]", "") +
      doorService("edge-mesh", "app: door");
    assert.deepEqual(doorsHaving(one, managed), ["edge"], "by the selector of Service GATEWAY-CLASS");
    const fixed = DOORS_WORLD.replace("type: Hostname, value: doors", "type: IPAddress, value: 192.0.2.9") +
      doorService("edge-mesh", "app: door");
    assert.deepEqual(doorsHaving(one, fixed), ["edge"], "with an address of the Service");
  });

  Deno.test(`${one.kind}: workloads of two Gateways have the policies of both`, () => {
    const both = DOORS_WORLD + byHand("back", 81, "doors");
    assert.deepEqual(doorsHaving(one, both), ["edge"]);
    const toBack = BY_TARGET.replace("name: edge", "name: back");
    assert.deepEqual(doorsHaving(one, both, toBack), ["edge"]);
    const labelled = both.replace(
      "10.0.1.1, labels: { app: door }",
      "10.0.1.1, labels: { app: door, gateway.networking.k8s.io/gateway-name: other }",
    ).replace("name: elsewhere", "name: other");
    assert.deepEqual(doorsHaving(one, labelled), ["edge"], "beside the Gateway of a label");
  });
}

Deno.test("with selectors for Gateways switched off, workloads that only an address names keep the policies of their labels", () => {
  for (const one of CASES) {
    assert.deepEqual(
      doorsHaving(
        one,
        DOORS_WORLD,
        "selector: { matchLabels: { app: door } }".replace(
          "selector: { matchLabels",
          one.kind === "ProxyFilter" ? "workloadSelector: { labels" : "selector: { matchLabels",
        ),
        OFF,
      ),
      ["edge"],
      one.kind,
    );
    assert.deepEqual(doorsHaving(one, DOORS_WORLD, BY_TARGET, OFF), ["edge"], one.kind);
  }
});

Deno.test("requests at a Gateway of a service by hand pass its policies", async () => {
  const route = `
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: web, namespace: shop }
spec: { parentRefs: [{ name: edge }], rules: [{ backendRefs: [{ name: a, port: 80 }] }] }
---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: shop }
spec:
  hosts: [a.shop.svc.cluster.local]
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 10.0.0.1 }]`;
  const text = DOORS_WORLD + route + policy(CASES[0]!, BY_TARGET);
  const end = async (path: string) => (await wayOf(text, DOORS.edge, `http://x${path}`)).split(" > ")[1];
  assert.deepEqual([await end("/closed-by-policy"), await end("/open")], ["403", "10.0.0.1:80"]);
});
