import assert from "node:assert/strict";
import { GATEWAY_FEATURES, MESH_FEATURES } from "../../lib/gateway_api/features.ts";
import type { GatewayRuntime, GatewayService } from "../../lib/gateway_api/status/assignment.ts";
import { classStatus } from "../../lib/gateway_api/status/classes.ts";
import type { StatusJson } from "../../lib/gateway_api/status/conditions.ts";
import { gatewayStatus, programmedVerdict } from "../../lib/gateway_api/status/gateways.ts";
import { listenerSetStatus } from "../../lib/gateway_api/status/listener_sets.ts";
import { meshStatus } from "../../lib/gateway_api/status/meshes.ts";
import { type PolicyGateway, policyStatus } from "../../lib/gateway_api/status/policies.ts";
import { AttachWorld, OPTIONS } from "./attach_world.ts";
import { LIVE_PROXIES, proxiesOf } from "./status_world.ts";

const API = "apiVersion: gateway.networking.k8s.io/v1\n";
const NOW = "2026-02-02T00:00:00Z";
const HOST = "gw-mesh.infra.svc.cluster.local";

function gateway(spec: string, metadata = ""): string {
  return `${API}kind: Gateway\nmetadata: {name: gw, generation: 2${metadata}}\nspec: {gatewayClassName: mesh, ${spec}}\n---\n`;
}

const LISTENERS = "listeners: [{name: a, port: 80, protocol: HTTP}]";

const SERVICE: GatewayService = {
  ...{ host: HOST, namespace: "infra", ports: [{ port: 80, targetPort: 8080, hasEndpoints: true }] },
  ...{ external: ["10.0.0.1"], internal: ["192.168.0.1"], isPending: false },
};

const RUNTIME: GatewayRuntime = { services: [SERVICE], proxies: LIVE_PROXIES };

function status(world: AttachWorld, present: StatusJson, runtime = RUNTIME, routes = 0) {
  const report = { view: world.view("gw"), runtime, attachedRoutes: () => routes };
  return gatewayStatus(report, present, NOW) as StatusJson | undefined;
}

function condition(type: string, status: string, reason: string, message: string) {
  return { type, status, reason, message, lastTransitionTime: NOW, observedGeneration: 2 };
}

const NO_CONFLICT = "no other listener has the place of the listener";
const NO_ERRORS = "no fault was found";

Deno.test("the status of a Gateway as exact JSON", () => {
  const world = new AttachWorld(gateway(LISTENERS));
  const first = status(world, {}, RUNTIME, 7);
  assert.deepEqual(first, {
    addresses: [{ type: "IPAddress", value: "10.0.0.1" }],
    conditions: [
      condition("Accepted", "True", "Accepted", "this mesh serves the Gateway"),
      condition("Programmed", "True", "Programmed", `served at ${HOST}:80`),
      condition("ResolvedRefs", "True", "ResolvedRefs", "all references can be used"),
      condition("mesh.io/Live", "True", "Live", "2 of 2 proxies have this version in force"),
    ],
    listeners: [{
      name: "a",
      supportedKinds: ["HTTPRoute", "GRPCRoute"].map((kind) => ({ group: "gateway.networking.k8s.io", kind })),
      attachedRoutes: 7,
      conditions: [
        condition("Accepted", "True", "Accepted", NO_ERRORS),
        condition("Programmed", "True", "Programmed", NO_ERRORS),
        condition("Conflicted", "False", "NoConflicts", NO_CONFLICT),
        condition("ResolvedRefs", "True", "ResolvedRefs", NO_ERRORS),
      ],
    }],
  });
  assert.equal(status(world, first!, RUNTIME, 7), undefined);
});

Deno.test("the definition's default conditions are replaced, and removed listeners are left out", () => {
  const pending = { status: "Unknown", reason: "Pending", lastTransitionTime: "1970-01-01T00:00:00Z" };
  const next = status(new AttachWorld(gateway(LISTENERS)), {
    conditions: [{ type: "Accepted", ...pending }, { type: "Programmed", ...pending }, { type: "Odd", status: "True" }],
    listeners: [{ name: "gone", attachedRoutes: 1, conditions: [] }],
  })!;
  const types = (next["conditions"] as { type: string; status: string }[]).map(({ type, status }) =>
    `${type} ${status}`
  );
  assert.deepEqual(types, ["Accepted True", "Programmed True", "Odd True", "ResolvedRefs True", "mesh.io/Live True"]);
  assert.deepEqual((next["listeners"] as { name: string }[]).map(({ name }) => name), ["a"]);
});

/** The Programmed condition and the addresses for a runtime. */
function look(runtime: Partial<GatewayService> | undefined, spec = LISTENERS, metadata = "", proxies = LIVE_PROXIES) {
  const services = runtime === undefined ? [] : [{ ...SERVICE, ...runtime }];
  const next = status(new AttachWorld(gateway(spec, metadata)), {}, { services, proxies })!;
  const found = (next["conditions"] as { type: string; reason: string; message: string }[]).find(({ type }) =>
    type === "Programmed"
  )!;
  const addresses = (next["addresses"] ?? []) as { type: string; value: string }[];
  return [found.reason, found.message, ...addresses.map(({ type, value }) => `${type} ${value}`)];
}

Deno.test("Programmed says what is missing", () => {
  const external = "IPAddress 10.0.0.1";
  const done = `served at ${HOST}:80`;
  assert.deepEqual(look({}), ["Programmed", done, external]);
  assert.deepEqual(look(undefined), ["AddressNotUsable", `service ${HOST} does not exist`]);
  assert.deepEqual(look({ namespace: "other" }), [
    "AddressNotUsable",
    `service ${HOST} is in namespace other, expected namespace infra, the namespace of the Gateway`,
  ]);
  assert.deepEqual(look({ ports: [{ port: 80, hasEndpoints: false }] }), [
    "AddressNotAssigned",
    `service ${HOST} has no ready endpoint at port 80`,
  ]);
  assert.deepEqual(look({ external: [], isPending: true }), [
    "AddressNotAssigned",
    `service ${HOST} has no address of a load balancer yet`,
  ]);
  assert.deepEqual(look({ ports: [{ port: 8080, targetPort: 80, hasEndpoints: true }] }), [
    "AddressNotUsable",
    `a listener has port 80, expected a port of service ${HOST}: 8080 (port 8080 leads to port 80 of the workloads)`,
  ]);
  assert.deepEqual(look({}, LISTENERS, "", proxiesOf(1, 3)), ["Programmed", done, external]);
  assert.deepEqual(look({}, LISTENERS, "", proxiesOf(0, 0)), [
    "Pending",
    "no proxy of the Gateway is connected",
    external,
  ]);
  const none = "0 of 3 proxies have this version of the listeners";
  assert.deepEqual(look({}, LISTENERS, "", proxiesOf(0, 3)), ["Pending", none, external]);
  assert.deepEqual(look({}, LISTENERS, "", proxiesOf(0, 3, 2)), [
    "Pending",
    `${none}; 2 refuse it: no port`,
    external,
  ]);
  assert.equal(look({}, "listeners: [{name: a, port: 80, protocol: ODD}]")[0], "Invalid");
});

Deno.test("a Gateway has addresses from outside, else addresses of the cluster as class and annotation say", () => {
  const inside = { external: [] };
  const by = (type: string) => `, annotations: {networking.istio.io/address-type: ${type}}`;
  assert.deepEqual(look({ external: ["lb.example.com", "2001:db8::1"] }).slice(2), [
    ...["Hostname lb.example.com", "IPAddress 2001:db8::1"],
  ]);
  assert.deepEqual(look(inside).slice(2), [`Hostname ${HOST}`]);
  assert.deepEqual(look(inside, LISTENERS, by("IPAddress")).slice(2), ["IPAddress 192.168.0.1"]);
  const wanted = (value: string) => `${LISTENERS}, addresses: [{type: IPAddress, value: ${value}}]`;
  assert.equal(look({}, wanted("10.0.0.1"))[0], "Programmed");
  assert.deepEqual(look({}, wanted("10.0.0.2")).slice(0, 2), [
    "AddressNotUsable",
    'addresses: "10.0.0.2", expected an address that the service of the Gateway has',
  ]);
});

Deno.test("a known address stays while there is no other", () => {
  const addresses = [{ type: "IPAddress", value: "10.0.0.9" }];
  const next = status(new AttachWorld(gateway(LISTENERS)), { addresses }, { services: [], proxies: LIVE_PROXIES })!;
  assert.deepEqual(next["addresses"], addresses);
});

Deno.test("insecure validation of clients is said while it is there", () => {
  const authorities = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ca}\ndata: {ca.crt: $AUTHORITY_TEXT}\n---\n";
  const refs = "caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]";
  const tls = (mode: string) => `${LISTENERS}, tls: {frontend: {default: {validation: {mode: ${mode}, ${refs}}}}}`;
  const types = (next: StatusJson | undefined) => (next!["conditions"] as { type: string }[]).map(({ type }) => type);
  const insecure = status(new AttachWorld(authorities + gateway(tls("AllowInsecureFallback"))), {});
  assert.ok(types(insecure).includes("InsecureFrontendValidationMode"));
  const secure = status(new AttachWorld(authorities + gateway(tls("AllowValidOnly"))), insecure!);
  assert.ok(!types(secure).includes("InsecureFrontendValidationMode"));
});

Deno.test("a remote Gateway has the addresses of its spec", () => {
  const world = new AttachWorld(
    gateway(`${LISTENERS}, addresses: [{type: IPAddress, value: 10.1.1.1}]`).replace("mesh,", "mesh-remote,"),
  );
  const next = status(world, {}, { services: [], proxies: proxiesOf(0, 0) })!;
  assert.deepEqual(next["addresses"], [{ type: "IPAddress", value: "10.1.1.1" }]);
  assert.match(JSON.stringify(next["conditions"]), /the Gateway is served by another cluster/);
});

/** A service with the ports of Gateway and set. */
const BOTH: GatewayService = { ...SERVICE, ports: [80, 81].map((port) => ({ port, hasEndpoints: true })) };

const SET = `${API}kind: ListenerSet
metadata: {name: set, generation: 2}
spec: {parentRef: {name: gw}, listeners: [{name: b, port: 81, protocol: HTTP, allowedRoutes: {kinds: [{kind: HTTPRoute}]}}]}
---
`;

Deno.test("a ListenerSet and its Gateway say that the set is attached, or why not", () => {
  const world = new AttachWorld(gateway(`${LISTENERS}, allowedListeners: {namespaces: {from: Same}}`) + SET);
  assert.equal(status(world, {})!["attachedListenerSets"], 1);
  const view = world.view("gw");
  const report = {
    view: view.sets[0]!,
    attachedRoutes: () => 3,
    ...{ parent: view, proxies: LIVE_PROXIES },
    gateway: programmedVerdict(view, { ...RUNTIME, services: [BOTH] }),
  };
  const first = listenerSetStatus(report, {}, NOW);
  assert.deepEqual(first, {
    conditions: [
      condition("Accepted", "True", "Accepted", NO_ERRORS),
      condition("Programmed", "True", "Programmed", NO_ERRORS),
      condition("mesh.io/Live", "True", "Live", "2 of 2 proxies have this version in force"),
    ],
    listeners: [{
      name: "b",
      supportedKinds: [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute" }],
      attachedRoutes: 3,
      conditions: [
        condition("Accepted", "True", "Accepted", NO_ERRORS),
        condition("Programmed", "True", "Programmed", NO_ERRORS),
        condition("Conflicted", "False", "NoConflicts", NO_CONFLICT),
        condition("ResolvedRefs", "True", "ResolvedRefs", NO_ERRORS),
      ],
    }],
  });
  assert.equal(listenerSetStatus(report, first as StatusJson, NOW), undefined);
  const waiting = { ...report, gateway: programmedVerdict(view, { ...RUNTIME, services: [] }) };
  assert.match(JSON.stringify(listenerSetStatus(waiting, {}, NOW)), /"ParentNotProgrammed".*does not exist/);

  const refused = new AttachWorld(gateway(LISTENERS) + SET);
  const text = "parentRef: Gateway infra/gw, expected a Gateway that allows ListenerSets of namespace infra " +
    "(allowedListeners.namespaces)";
  const refusedView = refused.view("gw");
  const refusedReport = { ...report, view: refusedView.sets[0]!, parent: refusedView };
  assert.deepEqual(listenerSetStatus(refusedReport, {}, NOW), {
    conditions: [
      condition("Accepted", "False", "NotAllowed", text),
      condition("Programmed", "False", "NotAllowed", text),
    ],
  });
  assert.equal(status(refused, {})!["attachedListenerSets"], 0);
});

Deno.test("a class of ours is accepted, with its features where the definition has the field", () => {
  const world = new AttachWorld(
    ["istio.io/gateway-controller", "example.com/other"].map((controller, at) =>
      `${API}kind: GatewayClass\nmetadata: {name: c${at}, generation: 2}\nspec: {controllerName: ${controller}}\n---\n`
    ).join(""),
  );
  const of = (name: string, hasFeatures: boolean) =>
    classStatus({ object: world.object("GatewayClass", name, ""), hasFeatures }, OPTIONS, {}, NOW);
  const conditions = [condition("Accepted", "True", "Accepted", "this mesh serves Gateways of the class")];
  assert.deepEqual(of("c0", false), { conditions });
  assert.deepEqual(of("c0", true), { conditions, supportedFeatures: GATEWAY_FEATURES.map((name) => ({ name })) });
  assert.equal(of("c1", true), undefined);
});

Deno.test("an XMesh of our controller gets a condition and the features of routes at services; others are left alone", () => {
  const mesh = (name: string, controller: string) =>
    "apiVersion: gateway.networking.x-k8s.io/v1alpha1\nkind: XMesh\n" +
    `metadata: {name: ${name}, generation: 2}\nspec: {controllerName: ${controller}}\n---\n`;
  const world = new AttachWorld(mesh("ours", "mesh.io/gateway-controller") + mesh("others", "example.com/mesh"));
  const of = (name: string, present: StatusJson, options: Partial<typeof OPTIONS> = {}) =>
    meshStatus(world.object("XMesh", name, ""), { ...OPTIONS, ...options }, present, NOW);
  const status = {
    conditions: [condition("Accepted", "True", "Accepted", "this mesh serves routes at services")],
    supportedFeatures: MESH_FEATURES.map((name) => ({ name })),
  };
  assert.deepEqual(of("ours", {}), status);
  assert.equal(of("ours", status), undefined, "the present status is right");
  assert.equal(of("others", {}), undefined);
  assert.equal(of("ours", {}, { experimental: false }), undefined, "the kind is switched off");
});

Deno.test("features are sorted, each once", () => {
  for (const features of [GATEWAY_FEATURES, MESH_FEATURES]) {
    assert.deepEqual(features, [...new Set(features)].sort());
  }
});

const POLICY = `${API}kind: BackendTLSPolicy
metadata: {name: p, generation: 2}
spec: {targetRefs: [{group: "", kind: Service, name: web}], validation: {hostname: web.com, wellKnownCACertificates: System}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 443}]}
`;

Deno.test("a policy gets an entry for each Gateway that routes to its target", () => {
  const view = new AttachWorld(POLICY).policy("p");
  const web = new Set(["web.infra.svc.cluster.local"]);
  const at = (name: string, hosts: ReadonlySet<string>): PolicyGateway => ({
    ...{ namespace: "infra", name, hosts, controller: "mesh.io/gateway-controller" },
  });
  const isOurs = (controller: string) => controller.startsWith("mesh.io/");
  const report = { view, gateways: [at("b", web), at("c", new Set()), at("a", web)], isOurs };
  const next = policyStatus({ ...report, meshController: "mesh.io/mesh-controller" }, {}, NOW);
  const conditions = [
    condition("Accepted", "True", "Accepted", "the policy is in force"),
    condition("ResolvedRefs", "True", "ResolvedRefs", "all references can be used"),
  ];
  const ofGateway = (name: string) => ({
    ancestorRef: { group: "gateway.networking.k8s.io", kind: "Gateway", namespace: "infra", name },
    controllerName: "mesh.io/gateway-controller",
    conditions,
  });
  assert.deepEqual(next, {
    ancestors: [ofGateway("a"), ofGateway("b"), {
      ancestorRef: { group: "", kind: "Service", namespace: "infra", name: "web" },
      controllerName: "mesh.io/mesh-controller",
      conditions,
    }],
  });
  assert.deepEqual(policyStatus({ ...report, gateways: [] }, next!, NOW), { ancestors: [] });
  const many = Array.from({ length: 20 }, (_, index) => at(`g${index}`, web));
  assert.equal((policyStatus({ ...report, gateways: many }, {}, NOW)!["ancestors"] as unknown[]).length, 16);
});
