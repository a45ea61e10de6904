/** XBackendTrafficPolicies of a folder: the retry budgets of clusters, and the sessions of routes. */
import assert from "node:assert/strict";
import { resourcesOf, type WaySettings } from "../offline/way.ts";
import { findingsIn } from "../analyze/support/analyzed.ts";
import { AttachWorld, OPTIONS } from "./attach_world.ts";
import { backendTrafficView } from "../../lib/gateway_api/attach/traffic_policies.ts";
import { policyStatus } from "../../lib/gateway_api/status/policies.ts";

const ALPHA = { PILOT_ENABLE_ALPHA_GATEWAY_API: true, PILOT_ENABLE_PERSISTENT_SESSION_FILTER: true };
const DOOR = "router~10.0.0.9~door.shop~shop.svc.cluster.local";
const CLIENT = "sidecar~10.0.0.7~client.shop~shop.svc.cluster.local";

const MESH = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge, namespace: shop }
spec:
  gatewayClassName: mesh
  listeners: [{ name: http, port: 80, protocol: HTTP }]
---
apiVersion: networking.mesh.io/v1
kind: WorkloadEntry
metadata: { name: door, namespace: shop }
spec: { address: 10.0.0.9, labels: { gateway.networking.k8s.io/gateway-name: edge } }
---
${service("cart", "10.0.0.1")}
---
${service("bill", "10.0.0.2")}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: web, namespace: shop }
spec:
  parentRefs: [{ name: edge }]
  rules:
  - matches: [{ path: { type: PathPrefix, value: /own } }]
    sessionPersistence: { sessionName: of-rule }
    backendRefs: [{ name: cart, port: 80 }]
  - matches: [{ path: { type: PathPrefix, value: /bill } }]
    backendRefs: [{ name: bill, port: 80 }]
  - backendRefs: [{ name: cart, port: 80 }]
`;

function service(name: string, address: string): string {
  return `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: shop }
spec:
  hosts: [${name}.shop.svc.cluster.local]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: ${address} }]`;
}

/** A policy of namespace shop for Service `cart`. @param age Smaller is older. */
function policy(name: string, spec: string, age = 0, target = "cart"): string {
  return `
---
apiVersion: gateway.networking.x-k8s.io/v1alpha1
kind: XBackendTrafficPolicy
metadata: { name: ${name}, namespace: shop, creationTimestamp: "2026-01-01T00:00:0${age}Z" }
spec: { targetRefs: [{ group: "", kind: Service, name: ${target} }], ${spec} }
`;
}

interface Threshold {
  readonly retry_budget?: object;
  readonly max_retries?: unknown;
}

/** The limit of retries to a service, at a proxy. */
function budgetOf(text: string, name = "cart", from = DOOR, settings: WaySettings = ALPHA): unknown {
  const { clusters = [] } = resourcesOf(text, from, ["cds"], settings) as {
    clusters?: { name: string; circuit_breakers?: { thresholds: readonly Threshold[] } }[];
  };
  const found = clusters.find((one) => one.name === `outbound|80||${name}.shop.svc.cluster.local`);
  assert.ok(found, clusters.map((one) => one.name).join());
  const [threshold = {}] = found.circuit_breakers?.thresholds ?? [];
  assert.equal(threshold.retry_budget === undefined, threshold.max_retries !== undefined, "one limit of two");
  return threshold.retry_budget;
}

const BUDGET =
  "retryConstraint: { budget: { percent: 30, interval: 20s }, minRetryRate: { count: 50, interval: 10s } }";
const IN_ENVOY = { budget_percent: { value: 30 }, budget_interval: "20s", min_retry_concurrency: 5 };

Deno.test("a retry constraint is the retry budget of the target's clusters, at Gateways and in the mesh, and of no other", () => {
  const text = MESH + policy("limit", BUDGET);
  for (const from of [DOOR, CLIENT]) {
    assert.deepEqual(budgetOf(text, "cart", from), IN_ENVOY);
    assert.equal(budgetOf(text, "bill", from), undefined);
  }
  assert.equal(budgetOf(MESH), undefined);
});

Deno.test("a retry constraint without fields: a fifth of the requests of 10 s, and 10 retries a second", () => {
  const usual = { budget_percent: { value: 20 }, budget_interval: "10s", min_retry_concurrency: 10 };
  assert.deepEqual(budgetOf(MESH + policy("limit", "retryConstraint: {}")), usual);
  const least = policy(
    "limit",
    "retryConstraint: { budget: { percent: 0 }, minRetryRate: { count: 1, interval: 1h } }",
  );
  assert.deepEqual(budgetOf(MESH + least), {
    ...usual,
    ...{ budget_percent: {}, min_retry_concurrency: 1 },
  });
});

Deno.test("a budget is added to the user's DestinationRule, and takes the place of its maxRetries alone", () => {
  const rule = `
---
apiVersion: networking.mesh.io/v1
kind: DestinationRule
metadata: { name: cart, namespace: shop }
spec:
  host: cart.shop.svc.cluster.local
  trafficPolicy: { connectionPool: { tcp: { maxConnections: 9 }, http: { maxRetries: 3 } } }
`;
  const text = MESH + rule + policy("limit", BUDGET);
  assert.deepEqual(budgetOf(text), IN_ENVOY);
  const { clusters = [] } = resourcesOf(text, DOOR, ["cds"], ALPHA);
  assert.match(JSON.stringify(clusters), /"max_connections":9/);
});

Deno.test("the oldest policy of a target counts, whole; the other is a finding", () => {
  const text = MESH + policy("new", BUDGET, 2) + policy("old", "sessionPersistence: { sessionName: s }", 1);
  assert.equal(budgetOf(text), undefined, "the older policy has no limit of retries");
  assert.deepEqual(
    findingsIn({ "a.yaml": text }, {}, ALPHA).map(({ name, place }) =>
      `${name} ${place.objects[0]?.name} ${place.field}`
    ),
    ["unused-backend-policy new spec.targetRefs[0].name"],
  );
});

Deno.test("without its setting a policy of a folder has no effect, and a finding says so", () => {
  const text = MESH + policy("limit", BUDGET);
  assert.equal(budgetOf(text, "cart", DOOR, {}), undefined);
  const found = findingsIn({ "a.yaml": text }, {}, { PILOT_ENABLE_PERSISTENT_SESSION_FILTER: true });
  assert.deepEqual(found.map(({ name }) => name), ["gateway-api-off"]);
});

Deno.test("a policy without a target, with an unusable session, or without content is a finding, and in force nowhere", () => {
  const of = (spec: string, target = "cart") =>
    findingsIn({ "a.yaml": MESH + policy("p", spec, 0, target) }, {}, ALPHA)
      .map(({ name, severity, place }) => `${severity} ${name} ${place.field}`);
  assert.deepEqual(of(BUDGET, "card"), ["error unused-backend-policy spec.targetRefs[0].name"]);
  const unusable = `${BUDGET}, sessionPersistence: { sessionName: "two words" }`;
  assert.deepEqual(of(unusable), ["error unused-backend-policy spec.sessionPersistence.sessionName"]);
  assert.equal(budgetOf(MESH + policy("p", unusable)), undefined);
  assert.deepEqual(of("retryConstraint: null"), ["warning unused-backend-policy spec.retryConstraint"]);
});

Deno.test("without the filter of sessions a session is a finding and part of the status, and the budget is in force", () => {
  const spec = `${BUDGET}, sessionPersistence: { sessionName: s }`;
  const settings = { PILOT_ENABLE_ALPHA_GATEWAY_API: true };
  const found = findingsIn({ "a.yaml": MESH + policy("p", spec) }, {}, settings);
  assert.deepEqual(
    found.filter(({ name }) => name === "unused-backend-policy").map(({ severity, place, expected }) =>
      `${severity} ${place.field} ${expected}`
    ),
    ["warning spec.sessionPersistence PILOT_ENABLE_PERSISTENT_SESSION_FILTER=true"],
  );
  assert.deepEqual(budgetOf(MESH + policy("p", spec), "cart", DOOR, settings), IN_ENVOY);
});

Deno.test("without the filter of sessions a session of a rule is a finding", () => {
  const found = (settings: object) =>
    findingsIn({ "a.yaml": MESH }, {}, settings).filter(({ name }) => name === "refused-rule").map((one) =>
      `${one.severity} ${one.place.field}: ${one.expected}`
    );
  assert.deepEqual(found({}), [
    "warning spec.rules[0].sessionPersistence: PILOT_ENABLE_PERSISTENT_SESSION_FILTER=true",
  ]);
  assert.deepEqual(found({ PILOT_ENABLE_PERSISTENT_SESSION_FILTER: true }), []);
});

/** The cookies of sessions, by the path of the route or the name of the virtual host. */
function sessions(text: string, from: string): Record<string, string> {
  const { routes = [] } = resourcesOf(text, from, ["rds"], ALPHA) as unknown as {
    routes: { virtual_hosts: { name: string; routes: { match: object }[] }[] }[];
  };
  const cookieIn = (one: object) => /"cookie":\{[^}]*"name":"([^"]*)"/.exec(JSON.stringify(one))?.[1];
  return Object.fromEntries(
    routes.flatMap(({ virtual_hosts }) =>
      virtual_hosts.flatMap(({ routes, ...host }) => [
        [host.name, cookieIn(host) ?? "none"],
        ...routes.map((one) => [`${host.name} ${Object.values(one.match).join()}`, cookieIn(one) ?? "none"]),
      ])
    ).filter(([, cookie]) => cookie !== "none"),
  );
}

Deno.test("a session of a policy is kept by routes to the target, and a session of a rule has precedence", () => {
  const text = MESH + policy("stick", "sessionPersistence: { sessionName: of-policy }");
  assert.deepEqual(Object.values(sessions(text, DOOR)).sort(), ["of-policy", "of-rule"]);
  assert.deepEqual(Object.entries(sessions(text, CLIENT)), [["cart.shop.svc.cluster.local:80", "of-policy"]]);
  assert.deepEqual(Object.values(sessions(MESH, DOOR)), ["of-rule"]);
});

Deno.test("the status of a policy has an entry for each Gateway that routes to the target, and one for the clients in the mesh", () => {
  const world = new AttachWorld(
    policy("limit", BUDGET, 0).replace("---", "") + policy("later", BUDGET, 1) +
      "---\napiVersion: v1\nkind: Service\nmetadata: { name: cart, namespace: shop }\nspec: { ports: [{ port: 80 }] }\n",
  );
  const of = (name: string) => {
    const view = backendTrafficView(world.object("XBackendTrafficPolicy", name, "shop"), world.read, OPTIONS);
    const hosts = new Set(["cart.shop.svc.cluster.local"]);
    const gateways = [{ namespace: "shop", name: "edge", controller: "mesh.io/gateway-controller", hosts }];
    const report = { view, gateways, meshController: "mesh.io/gateway-controller", isOurs: () => true };
    const { ancestors } = policyStatus(report, {}, "2026-02-02T00:00:00Z") as unknown as {
      ancestors: { ancestorRef: { kind: string; name: string }; conditions: { type: string; reason: string }[] }[];
    };
    return ancestors.map(({ ancestorRef: { kind, name }, conditions }) =>
      `${kind} ${name}: ${conditions.map(({ type, reason }) => `${type} ${reason}`)}`
    );
  };
  assert.deepEqual(of("limit"), ["Gateway edge: Accepted Accepted", "Service cart: Accepted Accepted"]);
  assert.deepEqual(of("later"), ["Gateway edge: Accepted Conflicted", "Service cart: Accepted Conflicted"]);
});
