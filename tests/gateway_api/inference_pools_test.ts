/** InferencePools: references of routes, the derived service of a pool, and the verdicts for its status. */
import assert from "node:assert/strict";
import { tablesOfSets } from "../../lib/debug/resources.ts";
import { faultText } from "../../lib/gateway_api/attach/verdicts.ts";
import { poolStatus } from "../../lib/gateway_api/status/pools.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import type { OfflineMesh } from "../../lib/offline/offline_mesh.ts";
import { resourcesIn } from "../../lib/simulate/decoded.ts";
import { meshOf } from "../offline/mesh_of.ts";
import { AttachWorld } from "./attach_world.ts";
import { api, document, edgeGateway, httpRoute } from "./folder_world.ts";
import { pickerEntry, pool, poolWorkload, toPool, WITH_POOLS } from "./inference_world.ts";

const GROUP = "inference.networking.k8s.io";

/** A pool of a namespace. */
function poolIn(namespace: string, picker: string): string {
  return `apiVersion: ${GROUP}/v1
kind: InferencePool
metadata: {name: models, namespace: ${namespace}}
spec: {selector: {matchLabels: {app: models}}, targetPorts: [{number: 8000}, {number: 8001}], endpointPickerRef: ${picker}}
---
`;
}

const PICKER = "{name: picker, port: {number: 9002}}";
const SERVICES = `apiVersion: v1
kind: Service
metadata: {name: picker}
spec: {ports: [{port: 9002}, {name: dns, port: 53, protocol: UDP}]}
---
apiVersion: v1
kind: Service
metadata: {name: picker, namespace: far}
spec: {ports: [{port: 9002}]}
---
apiVersion: v1
kind: Service
metadata: {name: alias}
spec: {type: ExternalName, externalName: picker.example.com, ports: [{port: 9002}]}
---
`;
const REF = `{group: ${GROUP}, kind: InferencePool, name: models}`;

/** A backend or mirror of a route: host, port and picker, or why not. */
function resolved(rule: string, more: string, { kind = "HTTPRoute", parents = "gateway", inferencePools = true } = {}) {
  const route =
    `apiVersion: gateway.networking.k8s.io/v1\nkind: ${kind}\nmetadata: {name: r}\nspec: {rules: [${rule}]}\n`;
  const world = new AttachWorld(`${SERVICES}${more}${route}`, { inferencePools });
  const { rules } = world.resolve(world.route(kind as "HTTPRoute", "r"), parents as "gateway");
  const [backend] = [...rules[0]!.backends, ...rules[0]!.mirrors];
  if (backend?.host === undefined) return `${backend?.reason} ${backend?.fault && faultText(backend.fault)}`;
  const { host, port, picker } = backend;
  return `${host}:${port} asks ${picker?.host}:${picker?.port}${picker?.failOpen ? " or nobody" : ""}`;
}

const ONE = `{backendRefs: [${REF}]}`;

Deno.test("a pool as a backend: its host with its picker, whatever port the reference names, or the reason why not", () => {
  const own = (picker: string) => resolved(ONE, poolIn("infra", picker));
  const good = "models.infra.inferencepool.internal:8000 asks picker.infra.svc.cluster.local:9002";
  assert.equal(own(PICKER), good);
  assert.equal(resolved(ONE.replace("name: models", "name: models, port: 99"), poolIn("infra", PICKER)), good);
  assert.equal(own("{name: picker, port: {number: 9002}, failureMode: FailOpen}"), `${good} or nobody`);
  const refused = {
    "{name: gone, port: {number: 9002}}": 'endpointPickerRef.name: "gone"',
    "{name: picker, port: {number: 9003}}": "endpointPickerRef.port.number: 9003",
    "{name: picker, port: {number: 53}}": "endpointPickerRef.port.number: 53",
    "{name: alias, port: {number: 9002}}": "a Service of another type than ExternalName",
    "{group: example.com, kind: Picker, name: picker}": 'endpointPickerRef.kind: "Picker.example.com"',
  };
  for (const [picker, words] of Object.entries(refused)) {
    const got = own(picker);
    assert.ok(got.startsWith("BackendNotFound rules[0].backendRefs[0].name") && got.includes(words), got);
  }
  const without = poolIn("infra", PICKER).replace(`, endpointPickerRef: ${PICKER}`, "");
  assert.match(resolved(ONE, without), /^BackendNotFound .*endpointPickerRef, expected an endpoint picker/);
  assert.match(resolved(ONE, ""), /^BackendNotFound .*an InferencePool that exists \(infra\/models does not\)/);
});

Deno.test("pools are backends of HTTPRoutes at Gateways alone, and no mirrors; pools of other namespaces need a grant", () => {
  const has = poolIn("infra", PICKER);
  const mirror = `{filters: [{type: RequestMirror, requestMirror: {backendRef: ${REF}}}]}`;
  assert.match(resolved(mirror, has), /^InvalidKind .*nobody picks an endpoint for the copy/);
  assert.match(resolved(ONE, has, { kind: "GRPCRoute" }), /^InvalidKind .*only an HTTPRoute/);
  assert.match(resolved(ONE, has, { parents: "mesh" }), /^InvalidKind .*only routes at Gateways/);
  assert.match(
    resolved(ONE, has, { inferencePools: false }),
    /^InvalidKind .*ENABLE_GATEWAY_API_INFERENCE_EXTENSION=true/,
  );
  const far = ONE.replace("name: models", "name: models, namespace: far");
  const grant = (kind: string) =>
    `apiVersion: gateway.networking.k8s.io/v1
kind: ReferenceGrant
metadata: {name: g, namespace: far}
spec:
  from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: infra}]
  to: [{group: ${kind === "Service" ? '""' : GROUP}, kind: ${kind}}]
---
`;
  const there = poolIn("far", PICKER);
  assert.match(resolved(far, there), /^RefNotPermitted/);
  assert.match(resolved(far, there + grant("Service")), /^RefNotPermitted/);
  assert.match(resolved(far, there + grant("InferencePool")), /^models\.far\.inferencepool\.internal:8000/);
});

/** A mesh of files that serves pools. */
function meshWith(text: string, more: object = {}): OfflineMesh {
  const settings = { ...defaultSettings("pilot-discovery"), ...WITH_POOLS, ...more };
  return meshOf({ "mesh.yaml": text }, { manifestServices: true, settings });
}

/** A pod of namespace `shop`. */
function pod(name: string, address: string, ready: boolean): string {
  return document({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "shop", labels: { app: "models" } },
    spec: { containers: [{ name: "server", ports: [{ name: "http", containerPort: 1 }] }] },
    status: {
      phase: "Running",
      podIP: address,
      podIPs: [{ ip: address }],
      conditions: [{ type: "Ready", status: `${ready ? "True" : "False"}` }],
    },
  });
}

const HOST = "models.shop.inferencepool.internal";
const EDGE = edgeGateway([{ name: "http", port: 80, protocol: "HTTP" }]);
const ROUTE = httpRoute("web", [{ backendRefs: [toPool("models")] }]);

/** Addresses of the endpoints of a proxy's cluster for the pool; undefined: no such cluster. */
function endpointsAt(mesh: OfflineMesh, id: string, namespace: string, labels: object): string[] | undefined {
  const proxy = mesh.join({ id, metadata: { NAMESPACE: namespace, LABELS: labels, PROXY_CONFIG: {} } });
  const { assignments } = resourcesIn(tablesOfSets(proxy));
  const found = [...assignments].find(([name]) => name.endsWith(`|${HOST}`))?.[1];
  return found?.endpoints?.flatMap(({ lb_endpoints = [] }) =>
    lb_endpoints.map(({ endpoint }) => {
      const { address, port_value } = endpoint?.address?.socket_address ?? {};
      return `${address}:${port_value}`;
    })
  ).sort();
}

Deno.test("a pool is a service of the namespaces of its Gateways: ready pods on all target ports, in one cluster", () => {
  const text = EDGE + ROUTE + pool("models", "models", [8000, 8001], "picker") + pickerEntry("picker") +
    pod("a", "10.0.0.1", true) + pod("b", "10.0.0.2", true) + pod("c", "10.0.0.3", false);
  const mesh = meshWith(text);
  const edge = { "gateway.networking.k8s.io/gateway-name": "edge" };
  const all = ["10.0.0.1:8000", "10.0.0.1:8001", "10.0.0.2:8000", "10.0.0.2:8001"];
  assert.deepEqual(endpointsAt(mesh, "router~10.0.0.9~edge.shop~shop.svc.cluster.local", "shop", edge), all);
  assert.equal(endpointsAt(mesh, "sidecar~10.0.1.1~x.other~other.svc.cluster.local", "other", {}), undefined);
});

Deno.test("a gateway with the clusters of its routes alone has the clusters of the pool and of its picker", () => {
  const text = EDGE + ROUTE + pool("models", "models", [8000], "picker") + pickerEntry("picker") + pickerEntry("other");
  const clusters = (more: object) => {
    const proxy = meshWith(text, more).join({
      id: "router~10.0.0.9~edge.shop~shop.svc.cluster.local",
      metadata: { NAMESPACE: "shop", LABELS: { "gateway.networking.k8s.io/gateway-name": "edge" }, PROXY_CONFIG: {} },
    });
    const names = [...resourcesIn(tablesOfSets(proxy)).clusters.keys()];
    return names.filter((name) => name.startsWith("outbound|")).map((name) => name.split("|").at(-1)!.split(".")[0])
      .sort();
  };
  assert.deepEqual(clusters({}), ["models", "other", "picker"]);
  assert.deepEqual(clusters({ PILOT_FILTER_GATEWAY_CLUSTER_CONFIG: true }), ["models", "picker"]);
});

Deno.test("a pool that no accepted route names, or without a picker, is no service", () => {
  const has = (text: string) => meshWith(text).store.list("ServiceEntry").some(({ spec }) => spec.hosts.includes(HOST));
  const models = pool("models", "models", [8000], "picker");
  assert.equal(has(EDGE + ROUTE + models + pickerEntry("picker")), true);
  assert.equal(has(EDGE + models + pickerEntry("picker")), false);
  assert.equal(has(EDGE + ROUTE + models), false);
  assert.equal(has(ROUTE + models + pickerEntry("picker")), false);
});

Deno.test("no ServiceEntry of a user has the host of a pool", () => {
  const entry = (host: string) =>
    meshWith(document({
      apiVersion: "networking.mesh.io/v1",
      kind: "ServiceEntry",
      metadata: { name: "thief", namespace: "other" },
      spec: { hosts: [host], resolution: "STATIC", ports: [{ number: 8000, name: "http" }], endpoints: [] },
    })).findings().map(({ severity, place }) => `${severity} ${place.field}`);
  assert.deepEqual([entry(HOST), entry("models.shop.internal")], [["error spec.hosts[0]"], []]);
});

/** Conditions of each parent: `shop/edge Accepted True, ResolvedRefs True`. */
function parentsOf(text: string, present: object = {}): string[] | undefined {
  const judged = meshWith(text).gatewayApi.pool("InferencePool/shop/models")!;
  const isOurs = (controller: string) => controller === "mesh.io/gateway-controller";
  const status = poolStatus({ ...judged, isOurs }, present as Record<string, unknown>, "2026-01-01T00:00:00Z");
  const parents = status?.["parents"] as
    | {
      parentRef: { namespace: string; name: string };
      conditions: { type: string; status: string; reason: string }[];
    }[]
    | undefined;
  return parents?.map(({ parentRef: { namespace, name }, conditions }) =>
    `${namespace}/${name} ${conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`).join(", ")}`
  );
}

Deno.test("the status of a pool has an entry for each Gateway with a route to the pool, and no entry after the last", () => {
  const models = pool("models", "models", [8000], "picker");
  const other = api("Gateway", "other", {
    gatewayClassName: "mesh",
    listeners: [{ name: "http", port: 80, protocol: "HTTP", hostname: "other.example.com" }],
  });
  const both = api("HTTPRoute", "both", {
    parentRefs: [{ name: "edge" }, { name: "other" }, { name: "gone" }],
    hostnames: ["x.example.com"],
    rules: [{ backendRefs: [toPool("models")] }],
  });
  assert.deepEqual(parentsOf(EDGE + other + both + models + pickerEntry("picker")), [
    "shop/edge Accepted True Accepted, ResolvedRefs True ResolvedRefs",
    "shop/other Accepted False HTTPRouteNotAccepted, ResolvedRefs True ResolvedRefs",
  ]);
  assert.deepEqual(parentsOf(EDGE + ROUTE + models), [
    "shop/edge Accepted True Accepted, ResolvedRefs False InvalidExtensionRef",
  ]);
  const named = 'endpointPickerRef":{"name":"picker","port":{"number":9002}}';
  assert.ok(models.includes(named));
  assert.deepEqual(parentsOf(EDGE + ROUTE + models.replace(`,"${named}`, "") + pickerEntry("picker")), [
    "shop/edge Accepted False EndpointPickerRefMissing, ResolvedRefs True ResolvedRefs",
  ]);
  const placeholder = { parents: [{ parentRef: { kind: "Status", name: "default" }, conditions: [] }] };
  assert.deepEqual(parentsOf(EDGE + models, placeholder), []);
  assert.deepEqual(parentsOf(EDGE + models), undefined);
});

Deno.test("a session beside a pool would overrule the picker: the rule answers 500", () => {
  const rules = [{ backendRefs: [toPool("models")], sessionPersistence: { sessionName: "s" } }];
  const text = EDGE + httpRoute("web", rules) + pool("models", "models", [8000], "picker") + pickerEntry("picker") +
    poolWorkload("models");
  const [{ rules: converted } = { rules: undefined }] = meshWith(text).gatewayApi.route("HTTPRoute/shop/web");
  assert.deepEqual(converted?.rules.map(({ rule }) => rule.directResponse), [{ status: 500 }]);
  assert.match(converted?.refusals[0]?.message ?? "", /sessionPersistence, expected no session/);
});
