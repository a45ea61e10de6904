/**
 * Random objects of the kinds behind proxies' resources, with few names for many encounters.
 * @module
 */
import fc from "fast-check";
import { FOR_SERVICE_OF } from "../mesh/for_service.ts";
import { opening, tls, wild } from "./random_transport.ts";

const namespaces = ["a", "b", "mesh-system"] as const;
const hosts = ["x.com", "y.com", "z.y.com", "svc.a.svc.cluster.local", "svc.b.svc.cluster.local"] as const;
const patterns = [...hosts, "*.y.com", "*.com"] as const;
const protocols = ["HTTP", "TCP", "TLS", "GRPC", "UDP", "REDIS", "MONGO", "MYSQL", ""] as const;
const exports = [undefined, ["*"], ["."], ["a"], ["b"]] as const;

/** Of an object. */
export const namespace = fc.constantFrom(...namespaces);
const host = fc.constantFrom(...hosts);
const pattern = fc.constantFrom(...patterns);
const exportTo = fc.constantFrom(...exports);
/** Of an object. */
export const name = fc.constantFrom("one", "two");

const meta = (kind: string, version = "networking.mesh.io/v1") =>
  fc.record({ namespace, name }).map(({ namespace, name }) => ({
    apiVersion: version,
    kind,
    metadata: { namespace, name: `${name}`, creationTimestamp: name === "one" ? "2024-01-01T00:00:00Z" : undefined },
  }));

/** Labels by which a service asks for a waypoint. */
export const asksForWaypoint = fc.constantFrom<Record<string, string>>(
  {},
  { "istio.io/use-waypoint": "one" },
  { "istio.io/use-waypoint": "one", "istio.io/use-waypoint-namespace": "a", "istio.io/ingress-use-waypoint": "true" },
  { "istio.io/use-waypoint": "none", "istio.io/ingress-use-waypoint": "true" },
);

/** What policies name instead of labels. */
const targets = fc.constantFrom(
  undefined,
  [{ group: "networking.mesh.io", kind: "ServiceEntry", name: "one" }],
  [{ group: "networking.istio.io", kind: "ServiceEntry", name: "two" }],
  [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "one" }],
);

/** The workloads of a policy: by labels, by names, or all. */
const reach = fc.tuple(
  fc.option(fc.constantFrom({ app: "p" }, { app: "q" }, { app: "gw" }), { nil: undefined }),
  targets,
)
  .map(([selector, targetRefs]) =>
    selector ? { selector: { matchLabels: selector } } : targetRefs ? { targetRefs } : {}
  );

const subset = fc.constantFrom("v1", "v2");

const account = fc.constantFrom(undefined, "pay", "bill");

const serviceEntry = fc.record({
  object: meta("ServiceEntry"),
  host,
  exportTo,
  ports: fc.uniqueArray(fc.constantFrom(80, 443, 9090), { minLength: 1, maxLength: 2 }),
  protocol: fc.constantFrom(...protocols),
  address: fc.constantFrom(undefined, "10.9.0.1", "10.9.0.2"),
  resolution: fc.constantFrom("STATIC", "DNS", "NONE"),
  // Sidecars, and two gateways.
  endpoints: fc.uniqueArray(fc.constantFrom(1, 2, 3, 4, 8, 9), { maxLength: 3 }),
  account,
  selects: fc.boolean(),
  network: fc.constantFrom(undefined, "n1", "n2"),
  hbone: fc.boolean(),
  labels: asksForWaypoint,
}).map(({ object, host, exportTo, ports, protocol, address, resolution, endpoints, account, selects, ...more }) => ({
  ...object,
  metadata: { ...object.metadata, labels: more.labels },
  spec: {
    hosts: [host],
    ...(exportTo ? { exportTo } : {}),
    ports: ports.map((number) => ({ number, name: `p${number}`, ...(protocol ? { protocol } : {}) })),
    ...(address ? { addresses: [address] } : {}),
    location: "MESH_INTERNAL",
    resolution,
    ...(resolution === "STATIC" && selects ? { workloadSelector: { labels: { app: "selected" } } } : {}),
    ...(resolution === "STATIC" && !selects
      ? {
        endpoints: endpoints.map((i) => ({
          ...(more.network && i > 3 ? {} : { address: `172.16.0.${i}` }),
          labels: { version: `v${1 + i % 2}`, ...(more.hbone && i % 2 ? { "networking.mesh.io/tunnel": "http" } : {}) },
          ...(account ? { serviceAccount: account } : {}),
          ...(more.network && i > 2 ? { network: more.network } : {}),
        })),
      }
      : {}),
  },
}));

/** A service of all hosts under a domain. */
const wildEntry = fc.record({
  object: meta("ServiceEntry"),
  exportTo,
  port: fc.constantFrom(80, 443),
  host: fc.constantFrom("*.wild.com", "*.y.com", "*.com"),
  ...{ wild, address: fc.boolean() },
}).map(({ object, exportTo, port, host, wild: { protocol, resolution }, address }) => ({
  ...object,
  spec: {
    hosts: [host],
    ...(exportTo ? { exportTo } : {}),
    ports: [{ number: port, name: `p${port}`, protocol }],
    location: "MESH_EXTERNAL",
    resolution,
    ...(resolution === "STATIC" ? { endpoints: [{ address: "172.18.0.1" }] } : {}),
    ...(address && resolution !== "DYNAMIC_DNS" ? { addresses: ["10.9.0.3"] } : {}),
  },
}));

const workloadEntry = fc.record({
  object: meta("WorkloadEntry"),
  address: fc.integer({ min: 1, max: 5 }),
  account,
  hbone: fc.boolean(),
}).map(({ object, address, account, hbone }) => ({
  ...object,
  spec: {
    ...(address > 4 ? { network: "n2" } : { address: `172.16.0.${address}` }),
    labels: { app: "selected", ...(hbone ? { "networking.istio.io/tunnel": "http" } : {}) },
    ...(account ? { serviceAccount: account } : {}),
  },
}));

const virtualService = fc.record({
  object: meta("VirtualService"),
  hosts: fc.uniqueArray(pattern, { minLength: 1, maxLength: 2 }),
  exportTo,
  to: host,
  subset: fc.option(subset, { nil: undefined }),
  header: fc.constantFrom("x", "y"),
  source: fc.option(fc.constantFrom({ app: "p" }, { app: "q" }), { nil: undefined }),
  // Elsewhere another virtual service of the host decides.
  only: fc.constantFrom(undefined, undefined, { sourceLabels: { app: "p" } }, { sourceNamespace: "a" }, { port: 80 }),
  gateways: fc.constantFrom(undefined, ["mesh"], ["a/one"], ["b/one", "mesh"], ["one", "two"]),
  kind: fc.constantFrom("http", "http", "http", "tcp", "tls"),
  // As rules of routes, for the service of one namespace.
  forServiceOf: fc.option(namespace, { nil: undefined }),
}).map(({ object, hosts, exportTo, to, subset, header, source, only, gateways, kind, forServiceOf }) => ({
  ...object,
  metadata: {
    ...object.metadata,
    ...(forServiceOf === undefined ? {} : { annotations: { [FOR_SERVICE_OF]: forServiceOf } }),
  },
  spec: {
    hosts,
    ...(gateways ? { gateways } : {}),
    ...(exportTo ? { exportTo } : {}),
    ...(kind === "tcp" && {
      tcp: [{
        ...(only ? { match: [only] } : {}),
        route: [{ destination: { host: to, ...(subset ? { subset } : {}) } }],
      }],
    }),
    ...(kind === "tls" && {
      tls: [{ match: [{ sniHosts: hosts, ...only }], route: [{ destination: { host: to } }] }],
    }),
    ...(kind === "http" && {
      http: [
        {
          match: [{ headers: { h: { exact: header } }, ...(source ? { sourceLabels: source } : {}), ...only }],
          route: [{ destination: { host: to, ...(subset ? { subset } : {}) } }],
        },
        { ...(only ? { match: [only] } : {}), route: [{ destination: { host: to } }] },
      ],
    }),
  },
}));

/** Validation refuses an empty policy. */
const policy = (trafficPolicy: object) => Object.keys(trafficPolicy).length > 0 ? { trafficPolicy } : {};

const destinationRule = fc.record({
  object: meta("DestinationRule"),
  // The second host exists in every world, with ports that carry bytes.
  host: fc.oneof({ weight: 2, arbitrary: pattern }, { weight: 1, arbitrary: fc.constant("bytes.a.com") }),
  exportTo,
  subsets: fc.uniqueArray(subset, { maxLength: 2 }),
  hash: fc.boolean(),
  ...{ tls, opening, openingOfSubset: fc.boolean() },
  selector: fc.option(fc.constantFrom({ app: "p" }, { app: "q" }), { nil: undefined }),
}).map(({ object, host, exportTo, subsets, hash, tls, selector, opening, openingOfSubset }) => ({
  ...object,
  spec: {
    host,
    ...(exportTo && !selector ? { exportTo } : {}),
    subsets: subsets.map((version) => ({
      ...{ name: version, labels: { version } },
      ...(openingOfSubset ? policy(opening) : {}),
    })),
    ...policy({
      ...(openingOfSubset ? {} : opening),
      ...(hash ? { loadBalancer: { consistentHash: { httpHeaderName: "h" } } } : {}),
      ...(tls ? { tls } : {}),
    }),
    ...(selector ? { workloadSelector: { matchLabels: selector } } : {}),
  },
}));

const sidecar = fc.record({
  object: meta("Sidecar"),
  imports: fc.uniqueArray(fc.constantFrom("*/*", "./*", "a/*", "b/y.com", "*/*.com", "~/*"), {
    minLength: 1,
    maxLength: 2,
  }),
  selector: fc.option(fc.constantFrom({ app: "p" }), { nil: undefined }),
  only: fc.boolean(),
}).map(({ object, imports, selector, only }) => ({
  ...object,
  spec: {
    egress: [{ hosts: imports }],
    // The root namespace allows no selector.
    ...(selector && object.metadata.namespace !== "mesh-system" ? { workloadSelector: { labels: selector } } : {}),
    ...(only ? { outboundTrafficPolicy: { mode: "REGISTRY_ONLY" } } : {}),
  },
}));

const gateway = fc.record({
  object: meta("Gateway"),
  hosts: fc.uniqueArray(pattern, { minLength: 1, maxLength: 2 }),
  passed: fc.option(fc.uniqueArray(pattern, { minLength: 1, maxLength: 2 }), { nil: undefined }),
  ended: fc.option(fc.constantFrom("SIMPLE", "MUTUAL"), { nil: undefined }),
}).map(({ object, hosts, passed, ended }) => ({
  ...object,
  spec: {
    selector: { app: "gw" },
    servers: [
      { port: { number: 80, name: "http", protocol: "HTTP" }, hosts },
      ...(ended
        ? [{
          port: { number: 443, name: "https", protocol: "HTTPS" },
          hosts,
          tls: { mode: ended, credentialName: "web" },
        }]
        : []),
      ...(passed
        ? [{
          port: { number: 15443, name: "tls", protocol: "TLS" },
          hosts: passed,
          tls: { mode: "AUTO_PASSTHROUGH" },
        }]
        : []),
    ],
  },
}));

const mode = fc.constantFrom("UNSET", "DISABLE", "PERMISSIVE", "STRICT");

const peerAuthentication = fc.record({
  object: meta("PeerAuthentication", "security.mesh.io/v1"),
  selector: fc.option(fc.constantFrom({ app: "p" }, { app: "q" }), { nil: undefined }),
  mode,
  port: fc.option(mode, { nil: undefined }),
}).map(({ object, selector, mode, port }) => ({
  ...object,
  spec: {
    mtls: { mode },
    ...(selector ? { selector: { matchLabels: selector } } : {}),
    ...(selector && port ? { portLevelMtls: { "80": { mode: port } } } : {}),
  },
}));

/** Places of the keys of token issuers: at hosts that may be services, and by the issuer's own configuration. */
export const keyPlace = fc.constantFrom(
  "http://x.com/keys",
  "http://svc.a.svc.cluster.local:9090/keys",
  "openid issuer",
);

const requestAuthentication = fc.record({
  object: meta("RequestAuthentication", "security.mesh.io/v1"),
  reach,
  places: fc.array(keyPlace, { maxLength: 2 }),
}).map(({ object, reach, places }) => ({
  ...object,
  spec: {
    ...reach,
    jwtRules: places.map((place) => ({ issuer: "issuer", ...(place.startsWith("http") ? { jwksUri: place } : {}) })),
  },
}));

/**
 * Conditions in rules of policies: some that libraries compare, some that libraries ignore, and some that hold for
 * bytes, too.
 */
const rule = fc.record({
  from: fc.option(
    fc.constantFrom(
      { principals: ["cluster.local/ns/a/sa/pay"] },
      { notNamespaces: ["b"] },
      { requestPrincipals: ["*"] },
      { remoteIpBlocks: ["10.0.0.0/8"] },
    ).map((source) => [{ source }]),
    { nil: undefined },
  ),
  to: fc.option(
    fc.constantFrom<object>({ ports: ["80"] }, { paths: ["/a/*"], methods: ["POST"] }, { hosts: ["x.com"] })
      .map((operation) => [{ operation }]),
    { nil: undefined },
  ),
  when: fc.option(
    fc.constantFrom(
      { key: "request.headers[h]", values: ["x"] },
      { key: "request.auth.claims[c]", values: ["x"] },
      { key: "destination.port", notValues: ["443"] },
    ).map((condition) => [condition]),
    { nil: undefined },
  ),
}, { requiredKeys: [] });

/** Conditions in a rule of a CUSTOM policy: nothing about identities, which come after the answer. */
const customRule = fc.record({
  from: fc.constant([{ source: { remoteIpBlocks: ["10.0.0.0/8"] } }]),
  to: fc.constantFrom([{ operation: { ports: ["80"] } }], [{ operation: { paths: ["/a/*"] } }]),
}, { requiredKeys: [] });

const rules = fc.array(rule, { minLength: 1, maxLength: 2 });
const dryRun = fc.constantFrom({}, { annotations: { "mesh.io/dry-run": "true" } });
const decided = fc.oneof(
  fc.record({ action: fc.constant("ALLOW"), rules: fc.option(rules, { nil: [] }), dryRun }),
  fc.record({ action: fc.constant("DENY"), rules, dryRun }),
  fc.record({ action: fc.constant("AUDIT"), rules, dryRun: fc.constant({}) }),
  fc.record({
    action: fc.constant("CUSTOM"),
    provider: fc.constantFrom("asked", "asked", "gone").map((name) => ({ name })),
    rules: fc.array(customRule, { minLength: 1, maxLength: 2 }),
    dryRun: fc.constant({}),
  }),
);

const authorizationPolicy = fc.record({
  object: meta("AuthorizationPolicy", "security.mesh.io/v1"),
  reach,
  decided,
}).map(({ object, reach, decided: { dryRun, ...spec } }) => ({
  ...object,
  metadata: { ...object.metadata, ...dryRun },
  spec: { ...spec, ...reach },
}));

const telemetry = fc.record({
  object: meta("Telemetry", "telemetry.mesh.io/v1"),
  reach,
  logs: fc.array(
    fc.record({
      match: fc.record({ mode: fc.constantFrom("CLIENT_AND_SERVER", "CLIENT", "SERVER") }),
      providers: fc.array(fc.constantFrom({ name: "envoy" }, { name: "als" }, { name: "gone" }), { maxLength: 2 }),
      disabled: fc.boolean(),
      filter: fc.constantFrom({}, { expression: "response.code > 400" }),
    }),
    { maxLength: 2 },
  ),
  tracing: fc.array(
    fc.record({
      match: fc.record({ mode: fc.constantFrom("CLIENT_AND_SERVER", "CLIENT", "SERVER") }),
      providers: fc.array(fc.constantFrom({ name: "tracer" }, { name: "gone" }), { maxLength: 1 }),
      disableSpanReporting: fc.boolean(),
      enableIstioTags: fc.boolean(),
    }),
    { maxLength: 1 },
  ),
  metrics: fc.array(
    fc.record({
      providers: fc.array(fc.constantFrom({ name: "prometheus" }, { name: "gone" }), { maxLength: 1 }),
      overrides: fc.array(
        fc.record({ match: fc.record({ mode: fc.constantFrom("CLIENT", "SERVER") }), disabled: fc.boolean() }),
        { maxLength: 1 },
      ),
    }),
    { maxLength: 1 },
  ),
}).map(({ object, reach, logs, tracing, metrics }) => ({
  ...object,
  spec: { ...reach, accessLogging: logs, tracing, metrics },
}));

const wasmPlugin = fc.record({
  object: meta("WasmPlugin", "extensions.mesh.io/v1alpha1"),
  reach,
  type: fc.constantFrom("HTTP", "NETWORK"),
  phase: fc.constantFrom("UNSPECIFIED_PHASE", "AUTHN"),
  priority: fc.constantFrom({}, { priority: 1 }, { priority: 2 }),
  failStrategy: fc.constantFrom("FAIL_CLOSE", "FAIL_OPEN"),
  url: fc.constantFrom("example.com/a:1", "example.com/a:2", "file:///a.wasm"),
  imagePullSecret: fc.constantFrom({}, { imagePullSecret: "a" }),
  match: fc.array(
    fc.record({
      mode: fc.constantFrom("CLIENT_AND_SERVER", "CLIENT", "SERVER"),
      ports: fc.constantFrom([], [{ number: 80 }]),
    }),
    { maxLength: 2 },
  ),
}).map(({ object, reach, priority, imagePullSecret, ...spec }) => ({
  ...object,
  spec: { ...spec, ...priority, ...imagePullSecret, ...reach },
}));

const context = fc.constantFrom("ANY", "SIDECAR_INBOUND", "SIDECAR_OUTBOUND", "GATEWAY");
const routes = (name: string, domain: string) => ({
  name,
  domains: [domain],
  routes: [{ name, match: { prefix: "/" }, direct_response: { status: 418 } }],
});
const vhost = fc.constantFrom({}, { vhost: { name: "x.com:80" } }, { vhost: { name: "allow_any" } }, { name: "9090" });
const lua = {
  name: "lua",
  typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua", inline_code: "x" },
};
const configPatch = fc.oneof(
  fc.record({
    applyTo: fc.constant("CLUSTER"),
    match: fc.record({ context, cluster: fc.constantFrom({}, { service: "x.com" }, { portNumber: 80 }) }),
    patch: fc.constantFrom(
      { operation: "MERGE", value: { connect_timeout: "3s" } },
      { operation: "REMOVE" },
      { operation: "ADD", value: { name: "added", connect_timeout: "1s" } },
      { operation: "ADD", value: { name: "BlackHoleCluster", connect_timeout: "9s" } },
    ),
  }),
  fc.record({
    applyTo: fc.constant("VIRTUAL_HOST"),
    match: fc.record({ context, routeConfiguration: vhost }),
    patch: fc.constantFrom(
      { operation: "MERGE", value: { domains: ["merged.com", "y.com"] } },
      { operation: "REMOVE" },
      { operation: "REPLACE", value: routes("replaced", "replaced.com") },
      { operation: "ADD", value: routes("x.com:80", "x.com") },
      { operation: "ADD", value: routes("added", "added.com") },
    ),
  }),
  fc.record({
    applyTo: fc.constantFrom("HTTP_ROUTE", "ROUTE_CONFIGURATION"),
    match: fc.record({ context, routeConfiguration: vhost }),
    patch: fc.constantFrom({ operation: "MERGE", value: { response_headers_to_remove: ["server"] } }),
  }),
  fc.record({
    applyTo: fc.constant("HTTP_FILTER"),
    match: fc.record({ context, listener: fc.constantFrom({}, { portNumber: 80 }) }),
    patch: fc.constant({ operation: "INSERT_FIRST", value: lua }),
  }),
  fc.record({
    applyTo: fc.constantFrom("LISTENER", "FILTER_CHAIN"),
    match: fc.record({ context, listener: fc.constantFrom({}, { portNumber: 80 }, { name: "virtualInbound" }) }),
    patch: fc.constantFrom({ operation: "REMOVE" }, { operation: "MERGE", value: { stat_prefix: "merged" } }),
  }),
  fc.record({
    applyTo: fc.constant("EXTENSION_CONFIG"),
    patch: fc.constant({ operation: "ADD", value: lua }),
  }),
);

const proxyFilter = fc.record({
  object: meta("ProxyFilter", "networking.mesh.io/v1alpha3"),
  targets,
  selector: fc.option(fc.constantFrom({ app: "p" }, { app: "q" }, { app: "gw" }), { nil: undefined }),
  priority: fc.constantFrom({}, { priority: 1 }, { priority: -1 }),
  configPatches: fc.array(configPatch, { minLength: 1, maxLength: 3 }),
}).map(({ object, selector, targets, priority, configPatches }) => ({
  ...object,
  spec: {
    ...priority,
    configPatches,
    ...(selector ? { workloadSelector: { labels: selector } } : targets ? { targetRefs: targets } : {}),
  },
}));

/** A Gateway of the Gateway API that may be a waypoint. */
const waypoint = fc.record({
  object: meta("Gateway", "gateway.networking.k8s.io/v1"),
  labels: fc.constantFrom<Record<string, string>>(
    {},
    { "istio.io/waypoint-for": "all" },
    { "istio.io/waypoint-for": "none" },
  ),
  from: fc.constantFrom("Same", "All"),
}).map(({ object, labels, from }) => ({
  ...object,
  metadata: { ...object.metadata, labels },
  spec: {
    gatewayClassName: "istio-waypoint",
    listeners: [{ name: "mesh", port: 15008, protocol: "HBONE", allowedRoutes: { namespaces: { from } } }],
  },
}));

/** An object or endpoint with an optional service account. */
interface Account {
  readonly serviceAccount?: string;
}
/** An object in written form. */
export interface Tree {
  readonly kind: string;
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly spec: Account & { readonly endpoints?: readonly Account[] };
}
const trees = [
  ...[serviceEntry, serviceEntry, wildEntry, workloadEntry, virtualService, destinationRule, sidecar, gateway],
  ...[peerAuthentication, requestAuthentication, authorizationPolicy, telemetry, wasmPlugin, proxyFilter, proxyFilter],
  waypoint,
] as const;
/** Any random object. */
export const tree = fc.oneof(...trees) as fc.Arbitrary<Tree>;
