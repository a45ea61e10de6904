/** Gateways between networks: which way clients take, what the gateways forward, and what a change of a scope costs. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import type { OfflineMesh } from "../../lib/offline/offline_mesh.ts";
import { meshOf, readsOf } from "../offline/mesh_of.ts";
import { contents, texts } from "./fixture.ts";
import { runs } from "../properties.ts";

type Settings = Partial<SettingsOf<"pilot-discovery">>;

const WEB = "web.shop.svc.cluster.local";
const IDENTITY = {
  TLS_CLIENT_CERT_CHAIN: "/c",
  TLS_CLIENT_KEY: "/k",
  TLS_CLIENT_ROOT_CERT: "/r",
  ENABLE_HBONE: "true",
};
const SERVER = { TLS_SERVER_CERT_CHAIN: "/c", TLS_SERVER_KEY: "/k", TLS_SERVER_ROOT_CERT: "/r" };

const MESH = `
serviceScopeConfigs:
- servicesSelector: { matchLabels: { mesh.io/global: "true" } }
  scope: GLOBAL
- namespaceSelector: { matchLabels: { shared: "yes" } }
  scope: GLOBAL
`;

const service = (name: string, labels: object = {}) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace: "shop", labels },
  spec: {
    clusterIP: "10.96.0.1",
    selector: { app: name },
    ports: [{ name: "http", port: 80, targetPort: 8080 }, { name: "udp", port: 90, protocol: "UDP" }],
  },
});

/** A workload of a service, in network n2. */
const workload = (name: string, app: string, spec: object = {}, labels: object = {}) => ({
  apiVersion: "networking.mesh.io/v1",
  kind: "WorkloadEntry",
  metadata: { name, namespace: "shop" },
  spec: { address: "10.2.0.1", network: "n2", serviceAccount: app, labels: { app, ...labels }, ...spec },
});

const HBONE = { "networking.mesh.io/tunnel": "http", "security.mesh.io/tlsMode": "disabled" };
const BOTH = { "networking.mesh.io/tunnel": "http", "security.mesh.io/tlsMode": "mesh" };
const MUTUAL = { "security.mesh.io/tlsMode": "mesh" };
const PLAIN = { "security.mesh.io/tlsMode": "disabled" };
const GLOBAL = { "mesh.io/global": "true" };

/** The Service of a network's gateway. */
const gateway = (name: string, labels: object, address: string) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace: "infra", labels: { "topology.mesh.io/network": "n2", ...labels } },
  spec: { type: "LoadBalancer", clusterIP: "10.96.0.2", ports: [{ name: "x", port: 1 }], externalIPs: [address] },
});
const MANAGED = { "gateway.mesh.io/managed": "mesh.io-eastwest-controller" };
const TUNNELS = gateway("tunnels", MANAGED, "192.0.2.8");
const BY_NAME = gateway("names", {}, "192.0.2.9");

const yaml = (...all: readonly object[]) => all.map((one) => JSON.stringify(one)).join("\n---\n");

function world(objects: readonly object[], settings: Settings = {}): OfflineMesh {
  const ambient = { PILOT_ENABLE_AMBIENT: true, AMBIENT_ENABLE_MULTI_NETWORK: true, ...settings };
  const mesh = meshOf({ "mesh.yaml": yaml(...objects) }, {
    settings: defaultSettings("pilot-discovery", ambient),
    manifestServices: true,
    meshConfig: MESH,
    vhds: true,
  });
  assert.deepEqual(mesh.failures, []);
  return mesh;
}

const write = (mesh: OfflineMesh, ...objects: readonly object[]) =>
  void mesh.apply(readsOf({ "mesh.yaml": yaml(...objects) }));

const client = (mesh: OfflineMesh, metadata: object = {}) =>
  mesh.join({
    id: "sidecar~10.1.0.7~client.shop~shop.svc.cluster.local",
    metadata: { NETWORK: "n1", ...IDENTITY, ...metadata },
  });

const proxy = (mesh: OfflineMesh, labels: object, metadata: object = {}) =>
  mesh.join({
    id: "waypoint~10.2.0.9~way-1.infra~infra.svc.cluster.local",
    metadata: { NETWORK: "n2", NAMESPACE: "infra", LABELS: labels, ...IDENTITY, ...SERVER, ...metadata },
  });
const GATEWAY = { ...MANAGED, "gateway.networking.k8s.io/gateway-name": "border" };

/** The endpoints in an assignment: of gateways for HBONE with what follows the gateway, else the dialled address. */
function endpointsIn(text: string | undefined): string[] {
  const tunnels = [...(text ?? "").matchAll(/"endpoint_id":"([^"]+)"/g)].map(([, id]) => id!);
  const dialled = [...(text ?? "").matchAll(/"address":"([^"]+)","port_value":(\d+)/g)].map(([, ip, port]) =>
    `${ip}:${port}`
  );
  return [...tunnels, ...dialled];
}

const ways = (mesh: OfflineMesh, cluster = `outbound|80||${WEB}`, metadata: object = {}) =>
  endpointsIn(texts(client(mesh, metadata))[`assignment/${cluster}`]);

const FAR = [`192.0.2.8:15008/${WEB}:80`];
const SNI = ["192.0.2.9:15443"];
const DIRECT = ["10.2.0.1:8080"];

Deno.test("the way into another network: by HBONE through its gateway, by mutual TLS through its gateway, directly, or none", () => {
  const table: readonly (readonly [string, object, readonly object[], Settings, object, readonly string[]])[] = [
    ["HBONE alone", HBONE, [TUNNELS], {}, GLOBAL, FAR],
    ["HBONE alone, gateways of both kinds", HBONE, [TUNNELS, BY_NAME], {}, GLOBAL, FAR],
    ["HBONE alone, a gateway for mutual TLS", HBONE, [BY_NAME], {}, GLOBAL, []],
    ["HBONE alone, no gateway", HBONE, [], {}, GLOBAL, []],
    ["HBONE alone, a local service", HBONE, [TUNNELS, BY_NAME], {}, {}, []],
    ["both, a gateway for HBONE", BOTH, [TUNNELS], {}, GLOBAL, FAR],
    ["both, gateways of both kinds", BOTH, [TUNNELS, BY_NAME], {}, GLOBAL, SNI],
    ["both, a local service", BOTH, [TUNNELS, BY_NAME], {}, {}, SNI],
    ["both, HBONE preferred", BOTH, [TUNNELS, BY_NAME], { PILOT_PREFER_SENDING_HBONE: true }, GLOBAL, FAR],
    ["both, HBONE preferred, a local service", BOTH, [TUNNELS, BY_NAME], { PILOT_PREFER_SENDING_HBONE: true }, {}, SNI],
    ["both, no gateway", BOTH, [], {}, GLOBAL, DIRECT],
    ["both, HBONE preferred, no gateway", BOTH, [], { PILOT_PREFER_SENDING_HBONE: true }, GLOBAL, []],
    ["mutual TLS, a gateway for HBONE", MUTUAL, [TUNNELS], {}, GLOBAL, []],
    ["mutual TLS, gateways of both kinds", MUTUAL, [TUNNELS, BY_NAME], {}, GLOBAL, SNI],
    ["neither, a gateway for HBONE", PLAIN, [TUNNELS], {}, GLOBAL, []],
    ["neither, no gateway", PLAIN, [], {}, GLOBAL, DIRECT],
    ["HBONE alone, one network", HBONE, [TUNNELS], { AMBIENT_ENABLE_MULTI_NETWORK: false }, GLOBAL, ["10.2.0.1:8080"]],
    ["the client makes no HBONE", HBONE, [TUNNELS], { PILOT_ENABLE_SENDING_HBONE: false }, GLOBAL, []],
  ];
  for (const [name, labels, gateways, settings, scope, expected] of table) {
    const mesh = world([service("web", scope), workload("w", "web", {}, labels), ...gateways], settings);
    assert.deepEqual(ways(mesh), expected, name);
  }
});

Deno.test("a client in the workload's network, or in no network, dials the workload", () => {
  const mesh = world([service("web", GLOBAL), workload("w", "web", {}, HBONE), TUNNELS]);
  assert.deepEqual(ways(mesh, undefined, { NETWORK: "n2" }), DIRECT);
  assert.deepEqual(ways(mesh, undefined, { NETWORK: "" }), DIRECT);
  assert.deepEqual(ways(mesh, undefined, { DISABLE_HBONE_SEND: "true" }), [], "a client without HBONE");
});

Deno.test("gateways and waypoints reach another network as sidecars do", () => {
  const mesh = world([service("web", USES), workload("w", "web", {}, HBONE), READY, WAY_SERVICE, TUNNELS]);
  const join = (type: string, labels: object) =>
    texts(mesh.join({
      id: `${type}~10.1.0.9~one.shop~shop.svc.cluster.local`,
      metadata: { NETWORK: "n1", NAMESPACE: "shop", LABELS: labels, ...IDENTITY, ...SERVER },
    }));
  const all = {
    [`outbound|80||${WEB}`]: join("router", {}),
    [`inbound-vip|80|http|${WEB}`]: join("waypoint", { "gateway.networking.k8s.io/gateway-name": "way" }),
  };
  for (const [cluster, resources] of Object.entries(all)) {
    assert.deepEqual(endpointsIn(resources[`assignment/${cluster}`]), FAR, cluster);
    for (const name of ["inner_connect_originate", "outer_connect_originate"]) {
      assert.ok(resources[`listener/${name}`] && resources[`cluster/${name}`], `${cluster} ${name}`);
    }
    assert.match(resources[`cluster/${cluster}`]!, /"tunnel":\{"stringValue":"http"\}/);
  }
});

Deno.test("gateways carry the weight of the workloads behind them, beside workloads of the own network", () => {
  const near = workload("near", "web", { address: "10.1.0.1", network: "n1", weight: 3 }, HBONE);
  const far = [1, 2].map((n) => workload(`far${n}`, "web", { address: `10.2.0.${n}`, weight: 2 }, HBONE));
  const mesh = world([service("web", GLOBAL), near, ...far, TUNNELS, gateway("more", MANAGED, "192.0.2.7")]);
  const text = texts(client(mesh))[`assignment/outbound|80||${WEB}`]!;
  const weights = [...text.matchAll(/"endpoint_id":"([^"]+)".*?"load_balancing_weight":\{"value":(\d+)/g)]
    .map(([, id, weight]) => `${id} ${weight}`);
  assert.deepEqual(weights, [
    "10.1.0.1:8080 6",
    `192.0.2.7:15008/${WEB}:80 4`,
    `192.0.2.8:15008/${WEB}:80 4`,
  ]);
});

Deno.test("a subset leaves workloads of other networks out, because a gateway for HBONE chooses among all", () => {
  const rule = {
    apiVersion: "networking.mesh.io/v1",
    kind: "DestinationRule",
    metadata: { name: "web", namespace: "shop" },
    spec: { host: WEB, subsets: [{ name: "v1", labels: { version: "v1" } }] },
  };
  const mesh = world([service("web", GLOBAL), workload("w", "web", {}, { ...HBONE, version: "v1" }), TUNNELS, rule]);
  assert.deepEqual(ways(mesh), FAR);
  assert.deepEqual(ways(mesh, `outbound|80|v1|${WEB}`), []);
});

Deno.test("a gateway between networks has a route and a cluster for each TCP port of a global service, and no others", () => {
  const mesh = world([
    service("web", GLOBAL),
    service("own"),
    workload("w1", "web", {}, HBONE),
    workload("w2", "web", { address: "10.2.0.2" }, MUTUAL),
    workload("w3", "web", { address: "10.1.0.3", network: "n1" }, HBONE),
    workload("w4", "web", { address: "10.3.0.4", network: "n3" }, HBONE),
    workload("w5", "web", { address: "10.2.0.5", network: "" }, HBONE),
    workload("o", "own", {}, HBONE),
    TUNNELS,
  ]);
  const all = texts(proxy(mesh, GATEWAY));
  const names = Object.keys(all).filter((name) => /forward|listener|route/.test(name)).sort();
  assert.deepEqual(names, [
    `assignment/forward_inner_connect|80||${WEB}`,
    `cluster/forward_inner_connect|80||${WEB}`,
    "listener/connect_originate",
    "listener/connect_terminate",
    "listener/inner_connect_originate",
    "listener/outer_connect_originate",
    "route/connect_terminate",
  ]);
  assert.deepEqual([...all["route/connect_terminate"]!.matchAll(/"domains":\["([^"]+)"/g)].map(([, one]) => one), [
    `${WEB}:80`,
  ]);
  // The port of HBONE, of the workloads of the own network that take HBONE.
  assert.deepEqual(endpointsIn(all[`assignment/forward_inner_connect|80||${WEB}`]), [
    "10.2.0.1:15008",
    "10.2.0.5:15008",
  ]);
  assert.doesNotMatch(all[`cluster/forward_inner_connect|80||${WEB}`]!, /transport_socket/);
  const without = world([service("web", GLOBAL), TUNNELS], { AMBIENT_ENABLE_MULTI_NETWORK: false });
  const closed = texts(proxy(without, GATEWAY));
  assert.deepEqual(Object.keys(closed).filter((name) => /forward|^route/.test(name)), []);
});

const WAY = {
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "Gateway",
  metadata: { name: "way", namespace: "shop" },
  spec: { gatewayClassName: "mesh-waypoint", listeners: [{ name: "mesh", port: 15008, protocol: "HBONE" }] },
};
const READY = { ...WAY, status: { addresses: [{ type: "Hostname", value: "way.shop.svc.cluster.local" }] } };
const WAY_SERVICE = {
  ...service("way"),
  spec: { clusterIP: "10.96.0.3", selector: { app: "way" }, ports: [{ name: "hbone", port: 15008 }] },
};
const USES = { ...GLOBAL, "mesh.io/use-waypoint": "way" };

Deno.test("a gateway between networks leads to the service's waypoint, and to nothing while the waypoint has no address", () => {
  const objects = (way: object) => [
    service("web", USES),
    workload("w", "web", {}, HBONE),
    way,
    WAY_SERVICE,
    workload("way", "way", { address: "10.2.0.8" }, HBONE),
    workload("way2", "way", { address: "10.1.0.8", network: "n1" }, HBONE),
    TUNNELS,
  ];
  const mesh = world(objects(READY));
  const border = proxy(mesh, GATEWAY);
  const behind = () => endpointsIn(texts(border)[`assignment/forward_inner_connect|80||${WEB}`]);
  assert.deepEqual(behind(), ["10.2.0.8:15008"]);
  write(mesh, ...objects(WAY));
  assert.deepEqual(behind(), []);
  write(mesh, ...objects(READY));
  assert.deepEqual(behind(), ["10.2.0.8:15008"]);
});

/** A policy that only the waypoint of the Service enforces. */
const GUARD = {
  apiVersion: "security.mesh.io/v1",
  kind: "AuthorizationPolicy",
  metadata: { name: "guard", namespace: "shop" },
  spec: { targetRefs: [{ kind: "Service", group: "", name: "web" }], action: "DENY", rules: [{}] },
};

Deno.test("a gateway between networks leads past no waypoint whose policies nobody else enforces, whatever comes or goes first", () => {
  const common = [service("web", USES), workload("w", "web", {}, HBONE), WAY_SERVICE, TUNNELS];
  const way = workload("way", "way", { address: "10.2.0.8" }, HBONE);
  const [pods, waypoint] = [["10.2.0.1:15008"], ["10.2.0.8:15008"]];
  const [listener] = READY.spec.listeners;
  const nobody = { namespaces: { from: "Selector", selector: { matchLabels: { nobody: "yes" } } } };
  const refusing = { ...READY, spec: { ...READY.spec, listeners: [{ ...listener, allowedRoutes: nobody }] } };
  const states: readonly (readonly [string, readonly object[], readonly string[]])[] = [
    ["no policy needs the missing waypoint", [], pods],
    ["the policy comes before the waypoint", [GUARD], []],
    ["the waypoint comes", [GUARD, READY, way], waypoint],
    ["the waypoint has no address", [GUARD, WAY, way], []],
    ["the waypoint is removed while it is used", [GUARD, way], []],
    ["the waypoint is for workloads", [GUARD, way, labelled(READY, { "mesh.io/waypoint-for": "workload" })], []],
    ["the waypoint does not admit the namespace", [GUARD, way, refusing], []],
    ["the policy only reports", [labelled(GUARD, {}, { "mesh.io/dry-run": "true" })], pods],
    ["the policy is for another Service", [
      { ...GUARD, spec: { ...GUARD.spec, targetRefs: [{ kind: "Service", group: "", name: "other" }] } },
    ], pods],
    ["the policy names the missing Gateway", [
      {
        ...GUARD,
        spec: {
          ...GUARD.spec,
          targetRefs: [{ kind: "Gateway", group: "gateway.networking.k8s.io", name: "way" }],
        },
      },
    ], []],
    ["nothing asks for a waypoint", [GUARD, service("web", GLOBAL)], pods],
  ];
  const mesh = world(common);
  const border = proxy(mesh, GATEWAY);
  const behind = (of = border) => endpointsIn(texts(of)[`assignment/forward_inner_connect|80||${WEB}`]);
  for (const [what, objects, expected] of states) {
    const replaced = objects.some((one) => (one as { kind: string }).kind === "Service") ? common.slice(1) : common;
    write(mesh, ...replaced, ...objects);
    assert.deepEqual(behind(), expected, what);
    assert.deepEqual(behind(proxy(world([...replaced, ...objects]), GATEWAY)), expected, `${what}, from the start`);
  }
  const closed = world([...common, GUARD]);
  proxy(closed, GATEWAY);
  const said = closed.pipeline.translator.warnings().map(({ message }) => message);
  assert.deepEqual(said.filter((text) => /guard/.test(text)), [
    `a gateway between networks does not use the waypoint shop/way of ${WEB}: Gateway shop/way does not exist; other ` +
    "networks do not reach the service, because AuthorizationPolicy shop/guard needs the waypoint",
  ]);
  const open = world([...common, GUARD], { MESH_WAYPOINT_FAIL_OPEN: true });
  assert.deepEqual(behind(proxy(open, GATEWAY)), pods, "as the setting says");
});

function labelled<T extends { metadata: object }>(object: T, labels: object, annotations: object = {}): T {
  return { ...object, metadata: { ...object.metadata, labels, annotations } };
}

Deno.test("clients reach a plain workload behind a waypoint by HBONE, and accept the waypoint's identity beside the workload's", () => {
  const mesh = world([
    service("web", USES),
    workload("w", "web", {}, PLAIN),
    READY,
    WAY_SERVICE,
    workload("way", "way", { address: "10.2.0.8", serviceAccount: "keeper" }, HBONE),
    TUNNELS,
  ]);
  assert.deepEqual(ways(mesh), FAR);
  const cluster = texts(client(mesh))[`cluster/outbound|80||${WEB}`]!;
  assert.match(cluster, /spiffe:\/\/cluster\.local\/ns\/shop\/sa\/keeper,spiffe:\/\/cluster\.local\/ns\/shop\/sa\/web/);
});

Deno.test("a waypoint and a sidecar take the name of a global service in a CONNECT as the address of the service or workload", () => {
  const mesh = world([
    service("web", USES),
    service("more", GLOBAL),
    { ...service("near"), spec: { ...service("web").spec, ports: [{ name: "http", port: 81, targetPort: 8080 }] } },
    {
      ...service("far", GLOBAL),
      spec: { ...service("web").spec, ports: [{ name: "http", port: 82, targetPort: 8080 }] },
    },
    workload("w", "web", {}, HBONE),
    READY,
    WAY_SERVICE,
  ]);
  const way = texts(mesh.join({
    id: "waypoint~10.2.0.8~way-1.shop~shop.svc.cluster.local",
    metadata: {
      ...{ NAMESPACE: "shop", LABELS: { "gateway.networking.k8s.io/gateway-name": "way" } },
      ...IDENTITY,
      ...SERVER,
    },
  }));
  const named = (text: string) =>
    [...text.matchAll(/"exact":"([^"]+)".*?"inline_string":"([^"]+)"/g)].map(([, name, to]) => `${name} > ${to}`);
  assert.deepEqual(named(way["route/connect_terminate"]!), [`${WEB}:80 > 10.96.0.1:80`]);
  const sidecar = texts(mesh.join({
    id: "sidecar~10.2.0.1~web-1.shop~shop.svc.cluster.local",
    metadata: { LABELS: { app: "web" }, ...IDENTITY, ...SERVER },
  }));
  const names = [...sidecar["listener/connect_terminate"]!.matchAll(/"domains":\["([^"*]+)"/g)].map(([, name]) => name);
  assert.deepEqual(names.sort(), ["far.shop.svc.cluster.local:82", `${WEB}:80`]);
});

Deno.test("a service that becomes global or local changes its own resources at clients, and the routes of the gateway", () => {
  const objects = (labels: object) => [
    service("web", labels),
    service("other", GLOBAL),
    workload("w", "web", {}, HBONE),
    workload("o", "other", { address: "10.2.0.2" }, HBONE),
    TUNNELS,
  ];
  const mesh = world(objects({}));
  const [state, border] = [client(mesh), proxy(mesh, GATEWAY)];
  const changed = (before: Readonly<Record<string, string>>, now: Readonly<Record<string, string>>) =>
    [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((name) => before[name] !== now[name]).sort();
  const [before, at] = [contents(state), contents(border)];
  write(mesh, ...objects(GLOBAL));
  assert.deepEqual(changed(before, contents(state)), [`assignment/outbound|80||${WEB}`]);
  assert.deepEqual(changed(at, contents(border)), [
    `assignment/forward_inner_connect|80||${WEB}`,
    `cluster/forward_inner_connect|80||${WEB}`,
    "route/connect_terminate",
  ]);
  write(mesh, ...objects({}));
  assert.deepEqual([contents(state), contents(border)], [before, at]);
  // The labels of the namespace decide, too.
  const shared = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", labels: { shared: "yes" } } };
  write(mesh, ...objects({}), shared);
  assert.deepEqual(changed(before, contents(state)), [`assignment/outbound|80||${WEB}`]);
  assert.deepEqual(mesh.failures, []);
});

Deno.test("a Gateway of another cluster with a listener for HBONE is a gateway of its network", () => {
  const remote = (protocol: string) => ({
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: { name: "n2", namespace: "infra", labels: { "topology.mesh.io/network": "n2" } },
    spec: {
      gatewayClassName: "mesh-remote",
      addresses: [{ value: "192.0.2.5" }],
      listeners: [{ name: "x", port: 15010, protocol, ...protocol === "TLS" ? { tls: { mode: "Passthrough" } } : {} }],
    },
  });
  const objects = (protocol: string) => [service("web", GLOBAL), workload("w", "web", {}, HBONE), remote(protocol)];
  assert.deepEqual(ways(world(objects("HBONE"))), [`192.0.2.5:15010/${WEB}:80`]);
  assert.deepEqual(ways(world(objects("HTTP"))), []);
  const off = { PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API: false };
  assert.deepEqual(ways(world(objects("HBONE"), off)), []);
});

Deno.test("a gateway without a network is found by nobody, and forwards to workloads without a network alone", () => {
  const { "topology.mesh.io/network": _, ...labels } = TUNNELS.metadata.labels;
  const nameless = { ...TUNNELS, metadata: { ...TUNNELS.metadata, labels } };
  const none = workload("none", "web", { address: "10.2.0.5", network: "" }, HBONE);
  const mesh = world([service("web", GLOBAL), workload("w", "web", {}, HBONE), none, nameless]);
  assert.deepEqual(ways(mesh), ["10.2.0.5:8080"]);
  const all = texts(proxy(mesh, GATEWAY, { NETWORK: "" }));
  assert.deepEqual(endpointsIn(all[`assignment/forward_inner_connect|80||${WEB}`]), ["10.2.0.5:15008"]);
});

Deno.test("a policy of a gateway between networks that needs an authorizer closes the gateway, and is told", () => {
  const border = {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: { name: "border", namespace: "infra", labels: { "topology.mesh.io/network": "n2" } },
    spec: { gatewayClassName: "mesh-east-west", listeners: [{ name: "mesh", port: 15008, protocol: "HBONE" }] },
  };
  const policy = (action: string, more: object = {}) => ({
    apiVersion: "security.mesh.io/v1",
    kind: "AuthorizationPolicy",
    metadata: { name: "ask", namespace: "infra" },
    spec: {
      targetRefs: [{ kind: "Gateway", group: "gateway.networking.k8s.io", name: "border" }],
      ...{ action, rules: [{}] },
      ...more,
    },
  });
  const filters = (...policies: readonly object[]) => {
    const mesh = world([service("web", GLOBAL), border, TUNNELS, ...policies]);
    const listener = texts(proxy(mesh, GATEWAY))["listener/connect_terminate"]!;
    const said = mesh.pipeline.translator.warnings().map(({ message }) => message).filter((text) =>
      /gateway/.test(text)
    );
    const rules = [
      ...listener.matchAll(/"name":"envoy.filters.http.rbac","typed_config":\{[^{]*("rules":\{.*?)\}\}\}/g),
    ];
    return { rules: rules.map(([, text]) => text), said };
  };
  assert.equal(filters().rules.length, 1, "one name in the certificate");
  const asking = filters(policy("CUSTOM", { provider: { name: "door" } }));
  // Rules without a policy let nothing through.
  assert.equal(asking.rules.at(-1), '"rules":{');
  assert.match(asking.said.join(), /asks no authorizer \(action CUSTOM\): it refuses all connections/);
  assert.equal(filters(policy("AUDIT")).rules.length, 1);
  assert.ok(filters(policy("DENY")).rules.length > 1);
});

/** Variants of each object; undefined: the object is missing. */
const VARIANTS: Readonly<Record<string, readonly (object | undefined)[]>> = {
  web: [service("web", GLOBAL), service("web"), service("web", USES), undefined],
  other: [service("other", GLOBAL), service("other")],
  namespace: [
    undefined,
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", labels: { shared: "yes" } } },
  ],
  workload: [HBONE, BOTH, MUTUAL, PLAIN].map((labels) => workload("w", "web", {}, labels)),
  second: [undefined, workload("w2", "web", { address: "10.2.0.2" }, HBONE), workload("w2", "other", {}, HBONE)],
  tunnels: [TUNNELS, undefined, gateway("tunnels", MANAGED, "192.0.2.7")],
  names: [undefined, BY_NAME],
  way: [undefined, WAY, READY],
  wayService: [undefined, WAY_SERVICE],
  wayPod: [undefined, workload("way", "way", { address: "10.2.0.8", serviceAccount: "keeper" }, HBONE)],
};

const anyWorld = fc.record(
  Object.fromEntries(Object.entries(VARIANTS).map(([name, all]) => [name, fc.constantFrom(...all)])),
).map((chosen) => Object.values(chosen).filter((one) => one !== undefined));

Deno.test("after any changes clients, gateways and waypoints have what a fresh server gives them", () => {
  const states = (mesh: OfflineMesh) => [
    client(mesh),
    proxy(mesh, GATEWAY),
    mesh.join({
      id: "waypoint~10.2.0.8~way-1.shop~shop.svc.cluster.local",
      metadata: {
        ...{ NAMESPACE: "shop", LABELS: { "gateway.networking.k8s.io/gateway-name": "way" } },
        ...IDENTITY,
        ...SERVER,
      },
    }),
  ];
  fc.assert(
    fc.property(fc.array(anyWorld, { minLength: 2, maxLength: 5 }), (worlds) => {
      const [first = [], ...later] = worlds;
      const mesh = world(first);
      const before = states(mesh);
      for (const objects of later) write(mesh, ...objects);
      assert.deepEqual(before.map(contents), states(world(worlds.at(-1) ?? [])).map(contents));
      assert.deepEqual(mesh.failures, []);
    }),
    { numRuns: runs(60) },
  );
});
