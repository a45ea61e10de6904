import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import type { MeshNetworks } from "../../lib/config/mesh/types.ts";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { MockRegistry } from "../../lib/registry/mock.ts";
import type { Registry, Service } from "../../lib/registry/types.ts";
import type { Timers } from "../../lib/discovery/pipeline/debounce.ts";
import { Fixture, type FixtureOptions, type TestNode, texts } from "./fixture.ts";
import { namesFound, sourceText } from "../surface/source_scan.ts";

type Settings = Partial<SettingsOf<"pilot-discovery">>;

/** A setting and its effect: a text that a proxy's resources have only with the setting, or only without. */
interface Row {
  readonly set: Settings;
  /** Settings of both sides. */
  readonly beside?: Settings;
  readonly proxy?: TestNode;
  /** Affected resources, by `type/name`. */
  readonly at: RegExp;
  /** A text that some of the resources have only with the setting. */
  readonly gains?: RegExp;
  /** A text that some of the resources have only without the setting. */
  readonly loses?: RegExp;
  /** The resources exist only with the setting, or only without. */
  readonly appears?: true;
  readonly vanishes?: true;
  readonly fixture?: FixtureOptions;
}

const WORLD = `
kind: ServiceEntry
metadata: { name: a, namespace: x, labels: { mesh.io/persistent-session: sid } }
spec:
  hosts: [a.example.com]
  location: MESH_INTERNAL
  addresses: [10.9.0.1, "fd00::1"]
  ports: [{ number: 80, name: http, protocol: HTTP }, { number: 3306, name: tcp, protocol: TCP }]
  resolution: STATIC
  workloadSelector: { labels: { app: a } }
---
kind: WorkloadEntry
metadata: { name: w1, namespace: x }
spec: { address: 10.0.0.1, labels: { app: a, leaving: soon, networking.istio.io/tunnel: http }, locality: r/z/s }
---
kind: WorkloadEntry
metadata: { name: w2, namespace: x, annotations: { proxy.mesh.io/health-checks-enabled: "true" } }
spec: { address: 10.0.0.2, labels: { app: a } }
---
kind: WorkloadEntry
metadata: { name: w3, namespace: x }
spec: { address: 10.0.0.3, labels: { app: a, networking.mesh.io/tunnel: http, security.mesh.io/tlsMode: mesh } }
---
kind: ServiceEntry
metadata: { name: tagged, namespace: x, labels: { my-cookie: sid, service.mesh.io/canonical-name: payments } }
spec:
  hosts: [tagged.example.com]
  location: MESH_EXTERNAL
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.1.1 }]
---
kind: ServiceEntry
metadata: { name: headed, namespace: x, labels: { my-header: x-session } }
spec:
  hosts: [headed.example.com]
  location: MESH_EXTERNAL
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.1.2 }]
---
kind: ServiceEntry
metadata: { name: named, namespace: x }
spec:
  hosts: [named.example.com]
  location: MESH_EXTERNAL
  ports: [{ number: 5432, name: tcp, protocol: TCP }]
  resolution: DNS
---
kind: DestinationRule
metadata: { name: named, namespace: x }
spec:
  host: named.example.com
  trafficPolicy: { tls: { mode: MUTUAL, clientCertificate: /rule.pem, privateKey: /rule.key, caCertificates: /ca.pem } }
---
kind: DestinationRule
metadata: { name: a-private, namespace: x }
spec: { host: a.example.com, exportTo: ["."], trafficPolicy: { loadBalancer: { simple: RANDOM } } }
---
kind: DestinationRule
metadata: { name: a-public, namespace: x }
spec: { host: a.example.com, exportTo: ["*"], subsets: [{ name: v1, labels: { version: v1 } }] }
---
kind: Gateway
metadata: { name: gw, namespace: x }
spec:
  selector: { app: gateway }
  servers: [{ port: { number: 8080, name: http, protocol: HTTP }, hosts: ["*"] }]
---
kind: VirtualService
metadata: { name: shop, namespace: x }
spec:
  hosts: [one.shop.com, two.shop.com]
  gateways: [gw]
  http: [{ route: [{ destination: { host: a.example.com, port: { number: 80 } } }] }]
---
kind: Sidecar
metadata: { name: ingress, namespace: y }
spec:
  ingress:
  - port: { number: 9443, name: https, protocol: HTTPS }
    defaultEndpoint: 127.0.0.1:8080
    tls: { mode: SIMPLE, serverCertificate: /s.pem, privateKey: /s.key }
---
kind: Sidecar
metadata: { name: merged, namespace: z }
spec:
  workloadSelector: { labels: { app: merged } }
  ingress: [{ port: { number: 7000, name: http, protocol: HTTP }, defaultEndpoint: 127.0.0.1:8080 }]
---
kind: ServiceEntry
metadata: { name: merged, namespace: z }
spec:
  hosts: [merged.example.com]
  location: MESH_INTERNAL
  ports: [{ number: 7001, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.2.1, labels: { app: merged } }]
`;

const networks: MeshNetworks = {
  networks: { near: { endpoints: [{ fromCidr: "192.168.0.0/16" }], gateways: [] } },
} as unknown as MeshNetworks;

const sidecar: TestNode = { namespace: "x", address: "10.0.0.1" };
const metadata = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([key, stringValue]) => [key, { stringValue }]));
const dual: TestNode = { ...sidecar, metadata: metadata({ INSTANCE_IPS: "10.0.0.1,fd00::9" }) };
const ipv6: TestNode = { namespace: "x", address: "fd00::9" };
const certified: TestNode = { ...sidecar, metadata: metadata({ TLS_CLIENT_CERT_CHAIN: "/proxy.pem" }) };
const router: TestNode = { namespace: "x", address: "10.0.3.1", type: "router", labels: { app: "gateway" } };
const withAgent: TestNode = { ...sidecar, metadata: metadata({ PROXY_CONFIG: "{}" }) };
const listening: TestNode = { ...sidecar, metadata: metadata({ PROXY_CONFIG: "{}", ENABLE_HBONE: "true" }) };
const sessions: Settings = { PILOT_ENABLE_PERSISTENT_SESSION_FILTER: true };

const ROWS: readonly Row[] = [
  {
    set: { COMPLIANCE_POLICY: "fips-140-2" },
    proxy: withAgent,
    at: /^listener\/virtualInbound/,
    gains:
      /"tls_minimum_protocol_version":"TLSv1_2","tls_maximum_protocol_version":"TLSv1_2".*"ecdh_curves":\["P-256"\]/,
  },
  {
    set: { COMPLIANCE_POLICY: "fips-140-2" },
    proxy: withAgent,
    at: /^cluster\/outbound\|80\|\|a\.example/,
    gains: /"tls_maximum_protocol_version":"TLSv1_2"/,
  },
  {
    set: { PILOT_SKIP_VALIDATE_TRUST_DOMAIN: true },
    proxy: withAgent,
    at: /^listener\/virtualInbound/,
    loses: /spiffe:\/\/cluster\.local\//,
  },
  {
    set: { PILOT_ENABLE_SIDECAR_LISTENING_HBONE: true },
    proxy: listening,
    at: /^listener\/(connect_terminate|main_internal)/,
    appears: true,
  },
  {
    set: { PILOT_ENABLE_SIDECAR_LISTENING_HBONE: true },
    proxy: listening,
    at: /^cluster\/main_internal/,
    appears: true,
  },
  {
    set: { PILOT_ENABLE_SENDING_HBONE: true },
    proxy: withAgent,
    at: /^(listener|cluster)\/connect_originate/,
    appears: true,
  },
  {
    set: { PILOT_ENABLE_SENDING_HBONE: true },
    proxy: withAgent,
    at: /^assignment\/.*\|80\|\|a\.example/,
    gains: /"endpoint_id":"10\.0\.0\.1:80"/,
  },
  {
    set: { PILOT_PREFER_SENDING_HBONE: true },
    beside: { PILOT_ENABLE_SENDING_HBONE: true },
    proxy: withAgent,
    at: /^assignment\/.*\|80\|\|a\.example/,
    gains: /"endpoint_id":"10\.0\.0\.3:80"/,
    loses: /"tlsMode"/,
  },
  { set: { PILOT_HTTP10: true }, at: /^listener/, gains: /"accept_http_10":true/ },
  { set: { ...sessions }, at: /^listener/, gains: /stateful_session/ },
  { set: { ...sessions }, at: /virtualHost.*a\.example/, gains: /"name":"sid"/ },
  {
    set: { PILOT_PERSISTENT_SESSION_LABEL: "my-cookie" },
    beside: sessions,
    at: /virtualHost.*tagged/,
    gains: /"name":"sid"/,
  },
  {
    set: { PILOT_PERSISTENT_SESSION_HEADER_LABEL: "my-header" },
    beside: sessions,
    at: /virtualHost.*headed/,
    gains: /"name":"x-session"/,
  },
  {
    set: { PILOT_ENABLE_ROUTE_COLLAPSE_OPTIMIZATION: false },
    proxy: router,
    at: /^(route|virtualHost)/,
    loses: /"one\.shop\.com[^\]]*"two\.shop\.com/,
  },
  { set: { PILOT_ENABLE_ABSOLUTE_FQDN_VHOST_DOMAIN: false }, at: /^virtualHost/, loses: /"a\.example\.com\."/ },
  { set: { ENABLE_100_CONTINUE_HEADERS: false }, at: /^listener/, loses: /"proxy_100_continue":true/ },
  {
    set: { PILOT_ENABLE_EDS_FOR_HEADLESS_SERVICES: true },
    at: /^cluster\/outbound\|90\|\|headless/,
    gains: /"type":"EDS"/,
    loses: /"type":"ORIGINAL_DST"/,
  },
  {
    set: { ENABLE_LOCALITY_WEIGHTED_LB_CONFIG: true },
    at: /^cluster\/outbound\|80\|\|a\.example/,
    gains: /locality_weighted_lb_config/,
  },
  { set: { PILOT_SEND_UNHEALTHY_ENDPOINTS: true }, at: /^assignment\/.*mock/, gains: /10\.0\.8\.2.*UNHEALTHY/ },
  { set: { PILOT_DRAINING_LABEL: "leaving" }, at: /^assignment\/.*\|80\|\|a\.example/, gains: /10\.0\.0\.1.*DRAINING/ },
  { set: { PILOT_SIDECAR_USE_REMOTE_ADDRESS: true }, at: /^listener/, gains: /"use_remote_address":\{"value":true\}/ },
  {
    set: { ENABLE_TLS_ON_SIDECAR_INGRESS: true },
    proxy: { namespace: "y", address: "10.0.4.1" },
    at: /^listener/,
    gains: /\/s\.pem/,
  },
  {
    set: { PILOT_ALLOW_SIDECAR_SERVICE_INBOUND_LISTENER_MERGE: true },
    proxy: { namespace: "z", address: "10.0.2.1", labels: { app: "merged" } },
    at: /^listener\/virtualInbound/,
    gains: /inbound\|7001/,
  },
  {
    set: { PREFER_DESTINATIONRULE_TLS_FOR_EXTERNAL_SERVICES: false },
    proxy: certified,
    at: /^cluster.*named/,
    gains: /\/proxy\.pem/,
    loses: /\/rule\.pem/,
  },
  { set: { MESH_DUAL_STACK: true }, proxy: dual, at: /^listener/, gains: /additional_addresses/ },
  {
    set: { MESH_ENABLE_IPV4_OUTBOUND_LISTENER_FOR_IPV6_CLUSTERS: true },
    proxy: ipv6,
    at: /^listener\/virtualOutbound/,
    gains: /0\.0\.0\.0/,
  },
  { set: { PILOT_DNS_CARES_UDP_MAX_QUERIES: "7" }, at: /^cluster.*named/, gains: /"udp_max_queries":\{"value":7\}/ },
  { set: { PILOT_DNS_JITTER_DURATION: 3000 }, at: /^cluster.*named/, gains: /"dns_jitter":\{"seconds":3/ },
  { set: { PILOT_ENABLE_TELEMETRY_LABEL: false }, at: /^cluster.*a\.example/, loses: /"services"/ },
  { set: { PILOT_ENDPOINT_TELEMETRY_LABEL: false }, at: /^assignment/, loses: /"workload"/ },
  {
    set: { MAX_CONNECTIONS_PER_SOCKET_EVENT_LOOP: 5 },
    at: /^listener\/virtual/,
    gains: /"max_connections_to_accept_per_socket_event":\{"value":5\}/,
  },
  {
    set: { PILOT_FILTER_GATEWAY_CLUSTER_CONFIG: true },
    proxy: router,
    at: /^cluster\/outbound\|5432\|\|named/,
    vanishes: true,
  },
  {
    set: { PILOT_SCOPE_GATEWAY_TO_NAMESPACE: true },
    proxy: { ...router, namespace: "elsewhere" },
    at: /^listener\/0\.0\.0\.0_8080/,
    vanishes: true,
  },
  {
    set: { ENABLE_HCM_INTERNAL_NETWORKS: true },
    at: /^listener/,
    gains: /internal_address_config.*192\.168\.0\.0/,
    fixture: { networks },
  },
  {
    set: { LABEL_CANONICAL_SERVICES_FOR_MESH_EXTERNAL_SERVICE_ENTRIES: true },
    at: /^assignment.*tagged/,
    gains: /payments/,
  },
  {
    set: { ENABLE_ENHANCED_DESTINATIONRULE_MERGE: false },
    at: /^cluster\/outbound\|80\|v1\|a\.example/,
    appears: true,
  },
  {
    set: { PILOT_ENABLE_SERVICEENTRY_SELECT_PODS: false },
    at: /^assignment\/.*\|80\|\|a\.example/,
    loses: /10\.0\.7\.1/,
  },
  {
    set: { PILOT_ENABLE_AMBIENT: true },
    proxy: dual,
    at: /virtualHost.*a\.example/,
    gains: /fd00::1/,
  },
  {
    set: { PILOT_ENABLE_IP_AUTOALLOCATE: false },
    proxy: { ...sidecar, metadata: metadata({ DNS_CAPTURE: "true" }) },
    at: /^listener\/240\..*5432/,
    vanishes: true,
  },
  {
    set: { PILOT_ENABLE_WORKLOAD_ENTRY_HEALTHCHECKS: false },
    at: /^assignment\/.*\|80\|\|a\.example/,
    gains: /10\.0\.0\.2/,
  },
  { set: { PILOT_ENABLE_VHDS: false }, at: /^route\/80/, gains: /a\.example\.com/, loses: /vhds/ },
];

/** An orchestrator's service without a virtual address, and a pod. */
function orchestrator(): Registry {
  const service: Service = {
    hostname: "headless.x.svc.cluster.local",
    namespace: "x",
    name: "headless",
    provider: "Orch",
    ports: [{ name: "tcp", port: 90, protocol: "TCP" }],
    addresses: [],
    resolution: "passthrough",
    meshExternal: false,
    exportTo: [],
    labels: {},
    subjectAltNames: [],
    headless: true,
    creationTimestamp: 1,
    cause: "Service/x/headless",
  };
  return {
    provider: "Orch",
    clusterId: "Orch",
    start(sink) {
      sink.services([service], []);
      sink.workloads([{
        id: "pod/x/p",
        name: "p",
        namespace: "x",
        kind: "pod",
        addresses: ["10.0.7.1"],
        labels: { app: "a" },
        serviceAccount: "",
        locality: "",
        network: "",
        clusterId: "Orch",
        weight: 1,
        health: "healthy",
        ports: {},
        tlsMode: "disabled",
      }], []);
      return Promise.resolve();
    },
    stop: () => Promise.resolve(),
  };
}

function mock(): MockRegistry {
  const registry = new MockRegistry("Orch");
  registry.addService({
    hostname: "mock.x.svc.cluster.local",
    namespace: "x",
    ports: [{ name: "http", port: 80, protocol: "HTTP" }],
  });
  registry.setEndpoints("x/mock.x.svc.cluster.local", [
    { address: "10.0.8.1", port: 80, portName: "http" },
    { address: "10.0.8.2", port: 80, portName: "http", health: "unhealthy" },
  ]);
  return registry;
}

function world(options: FixtureOptions): Fixture {
  const fixture = new Fixture(options);
  void fixture.pipeline.addRegistry(orchestrator());
  void fixture.pipeline.addRegistry(mock());
  for (const document of parseAllDocuments(WORLD)) {
    const tree = document.toJS();
    fixture.put({ apiVersion: "networking.mesh.io/v1", ...tree });
  }
  fixture.pipeline.flush();
  assert.deepEqual(fixture.failures, []);
  return fixture;
}

function got(row: Row, settings: Settings): string[] {
  const fixture = world({ ...row.fixture, settings });
  const all = texts(fixture.join(row.proxy ?? sidecar));
  assert.deepEqual(fixture.failures, []);
  return Object.entries(all).filter(([name]) => row.at.test(name)).map(([, text]) => text);
}

for (const row of ROWS) {
  const [[name, value]] = Object.entries(row.set) as [[string, unknown]];
  Deno.test(`${name}=${value} changes ${row.at}`, () => {
    const without = got(row, { ...row.beside });
    const having = got(row, { ...row.beside, ...row.set });
    const some = (texts: readonly string[], pattern: RegExp) => texts.some((text) => pattern.test(text));
    if (row.gains) {
      assert.ok(some(having, row.gains), `with it: expected ${row.gains} in ${having.join("\n").slice(0, 4000)}`);
      assert.ok(!some(without, row.gains), `without it: ${row.gains} is there`);
    }
    if (row.loses) {
      assert.ok(some(without, row.loses), `without it: expected ${row.loses} in ${without.join("\n").slice(0, 4000)}`);
      assert.ok(!some(having, row.loses), `with it: ${row.loses} is there`);
    }
    if (row.appears) assert.deepEqual([without.length > 0, having.length > 0], [false, true]);
    if (row.vanishes) assert.deepEqual([without.length > 0, having.length > 0], [true, false]);
  });
}

Deno.test("caches: another class of proxies takes its results from them, per kind where they are on", () => {
  const reuse = (settings: Settings) => {
    const fixture = world({ settings });
    const { caches } = fixture.pipeline.translator;
    fixture.join(sidecar);
    const built = { clusters: caches.of.clusters.counts.built, routes: caches.of.virtualHosts.counts.built };
    fixture.join({ ...sidecar, namespace: "z" });
    const again = (now: number, before: number) => now - before >= 3;
    return {
      clusters: again(caches.of.clusters.counts.built, built.clusters),
      routes: again(caches.of.virtualHosts.counts.built, built.routes),
    };
  };
  assert.deepEqual(reuse({}), { clusters: false, routes: false });
  assert.deepEqual(reuse({ PILOT_ENABLE_CDS_CACHE: false }), { clusters: true, routes: false });
  assert.deepEqual(reuse({ PILOT_ENABLE_RDS_CACHE: false }), { clusters: false, routes: true });
  assert.deepEqual(reuse({ PILOT_ENABLE_XDS_CACHE: false }), { clusters: true, routes: true });
});

/** Time in steps. */
function steppedTime(): { timers: Timers; advance(ms: number): void } {
  let now = 0;
  const waiting = new Set<{ at: number; callback: () => void }>();
  return {
    timers: {
      now: () => now,
      after(delay, callback) {
        const entry = { at: now + delay, callback };
        waiting.add(entry);
        return () => void waiting.delete(entry);
      },
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = [...waiting].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (!next) break;
        waiting.delete(next);
        now = Math.max(now, next.at);
        next.callback();
      }
      now = end;
    },
  };
}

function debounced(settings: Settings) {
  const { timers, advance } = steppedTime();
  const fixture = new Fixture({ settings, timers });
  const registry = mock();
  void fixture.pipeline.addRegistry(registry);
  advance(60_000);
  const at: number[] = [];
  const start = timers.now();
  fixture.pipeline.onPush(() => at.push(timers.now() - start));
  const endpoints = (address: string) =>
    registry.setEndpoints("x/mock.x.svc.cluster.local", [{ address, port: 80, portName: "http" }]);
  const entry = (name: string) =>
    fixture.put({
      apiVersion: "networking.mesh.io/v1",
      kind: "ServiceEntry",
      metadata: { name, namespace: "x" },
      spec: { hosts: [`${name}.example.com`], ports: [{ number: 80, name: "http", protocol: "HTTP" }] },
    });
  return { advance, at, endpoints, entry };
}

Deno.test("PILOT_DEBOUNCE_AFTER is the quiet time before a push, PILOT_DEBOUNCE_MAX the longest wait", () => {
  const quiet = debounced({ PILOT_DEBOUNCE_AFTER: 700, PILOT_DEBOUNCE_MAX: 10_000 });
  quiet.entry("one");
  quiet.advance(699);
  assert.deepEqual(quiet.at, []);
  quiet.advance(1);
  assert.deepEqual(quiet.at, [700]);
  const busy = debounced({ PILOT_DEBOUNCE_AFTER: 700, PILOT_DEBOUNCE_MAX: 2000 });
  for (let i = 0; i < 10; i++) {
    busy.entry(`e${i}`);
    busy.advance(500);
  }
  assert.ok(busy.at[0]! >= 2000 && busy.at[0]! < 2700, `first push after ${busy.at[0]} ms`);
});

Deno.test("PILOT_ENABLE_EDS_DEBOUNCE=false pushes endpoint changes at once, others as before", () => {
  const held = debounced({ PILOT_DEBOUNCE_AFTER: 700 });
  held.endpoints("10.0.8.9");
  held.advance(699);
  assert.deepEqual(held.at, []);
  const direct = debounced({ PILOT_DEBOUNCE_AFTER: 700, PILOT_ENABLE_EDS_DEBOUNCE: false });
  direct.endpoints("10.0.8.9");
  direct.advance(0);
  assert.deepEqual(direct.at, [0]);
  direct.entry("one");
  direct.advance(699);
  assert.deepEqual(direct.at, [0]);
});

/** Settings with an effect on the server's ports, streams or command line, and the tests of each. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  CLUSTER_ID: "tests/cmd/options_test.ts",
  POD_NAMESPACE: "tests/cmd/options_test.ts",
  GRPC_KEEPALIVE_INTERVAL: "tests/cmd/options_test.ts",
  GRPC_KEEPALIVE_TIMEOUT: "tests/cmd/options_test.ts",
  ENABLE_DEBUG_ON_HTTP: "tests/discovery/server_settings_test.ts",
  K_REVISION: "tests/discovery/server_settings_test.ts",
  UNSAFE_ENABLE_ADMIN_ENDPOINTS: "tests/discovery/server_settings_test.ts",
  MESH_GPRC_MAXRECVMSGSIZE: "tests/discovery/server_settings_test.ts",
  MESH_GPRC_MAXSTREAMS: "tests/discovery/server_settings_test.ts",
  MESH_PROMETHEUS_ADDRESS: "tests/web/traffic_test.ts",
  MESH_DEBUG_HOSTS: "tests/debug/rebinding_test.ts",
  METRICS_LOCALHOST_ACCESS_ONLY: "tests/discovery/server_settings_test.ts",
  PILOT_MAX_REQUESTS_PER_SECOND: "tests/discovery/server_settings_test.ts",
  PILOT_PUSH_THROTTLE: "tests/discovery/server_settings_test.ts",
  PILOT_PROXY_FILTER_STATS: "tests/discovery/patches_test.ts",
  PILOT_XDS_CACHE_STATS: "tests/discovery/server_settings_test.ts",
  AUDIENCE: "tests/discovery/authentication_test.ts",
  TOKEN_AUDIENCES: "tests/discovery/authentication_test.ts",
  TOKEN_ISSUER: "tests/discovery/authentication_test.ts",
  PILOT_JWT_ENABLE_REMOTE_JWKS: "tests/discovery/token_keys_test.ts",
  PILOT_JWT_PUB_KEY_REFRESH_INTERVAL: "tests/e2e/tokens_test.ts",
  JWKS_RESOLVER_INSECURE_SKIP_VERIFY: "tests/e2e/token_keys_https_test.ts",
  MESH_WORKLOAD_ENTRY_VALIDATE_IDENTITY: "tests/discovery/health_reports_test.ts",
  JWT_RULE: "tests/wire_conformance/secure_port_test.ts",
  TRUSTED_GATEWAY_CIDR: "tests/wire_conformance/secure_port_test.ts",
  XDS_AUTH: "tests/wire_conformance/secure_port_test.ts",
  XDS_AUTH_PLAINTEXT: "tests/wire_conformance/secure_port_test.ts",
  PILOT_ENABLE_XDS_IDENTITY_CHECK: "tests/wire_conformance/secure_port_test.ts",
  CITADEL_SELF_SIGNED_CA_CERT_TTL: "tests/discovery/authority_settings_test.ts",
  CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE: "tests/discovery/authority_settings_test.ts",
  CITADEL_SELF_SIGNED_ROOT_CERT_GRACE_PERIOD_PERCENTILE: "tests/discovery/authority_settings_test.ts",
  CITADEL_SELF_SIGNED_ROOT_CERT_CHECK_INTERVAL: "tests/discovery/authority_settings_test.ts",
  CITADEL_ENABLE_JITTER_FOR_ROOT_CERT_ROTATOR: "tests/discovery/authority_settings_test.ts",
  DEFAULT_WORKLOAD_CERT_TTL: "tests/wire_conformance/authority_test.ts",
  MAX_WORKLOAD_CERT_TTL: "tests/wire_conformance/authority_test.ts",
  ENABLE_CA_SERVER: "tests/wire_conformance/authority_test.ts",
  MESHD_CUSTOM_HOST: "tests/wire_conformance/authority_test.ts",
  REVISION: "tests/wire_conformance/authority_test.ts",
  MESH_MULTIROOT_MESH: "tests/wire_conformance/authority_test.ts",
  MESH_SELF_SIGNED_CA_DIR: "tests/wire_conformance/authority_test.ts",
  ROOT_CA_DIR: "tests/wire_conformance/authority_test.ts",
  AMBIENT_ENABLE_MULTI_NETWORK: "tests/discovery/ambient/networks_test.ts",
  AMBIENT_ENABLE_STATUS: "tests/discovery/ambient_status/policy_duty_test.ts",
  ENABLE_INGRESS_WAYPOINT_ROUTING: "tests/discovery/ingress_waypoints_test.ts",
  ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES: "tests/discovery/waypoints_test.ts",
  PILOT_ENABLE_AMBIENT_WAYPOINTS: "tests/discovery/waypoints_test.ts",
  PILOT_AUTO_ALLOW_WAYPOINT_POLICY: "tests/discovery/ambient/admission_test.ts",
  MESH_WAYPOINT_FAIL_OPEN: "tests/discovery/ambient/tunnels_test.ts",
  MESH_HTTP_BY_ADDRESS: "tests/gateway_api/by_address_test.ts",
  ENABLE_MCS_AUTO_EXPORT: "tests/orch/clusters/sharing_test.ts",
  ENABLE_MCS_CLUSTER_LOCAL: "tests/orch/clusters/sharing_test.ts",
  ENABLE_MCS_HOST: "tests/orch/clusters/sharing_test.ts",
  ENABLE_MCS_SERVICE_DISCOVERY: "tests/orch/clusters/sharing_test.ts",
  MCS_API_GROUP: "tests/orch/clusters/sharing_test.ts",
  MCS_API_VERSION: "tests/orch/clusters/sharing_test.ts",
  ENABLE_MULTICLUSTER_HEADLESS: "tests/discovery/name_table_test.ts",
  CA_TRUSTED_NODE_ACCOUNTS: "tests/orch/authority/node_accounts_test.ts",
  CERT_SIGNER_DOMAIN: "tests/orch/authority/signer_test.ts",
  EXTERNAL_CA: "tests/orch/authority/signer_test.ts",
  ORCH_SIGNER: "tests/orch/authority/signer_test.ts",
  PILOT_CERT_PROVIDER: "tests/orch/authority/signer_test.ts",
  PILOT_ENABLE_ORCH_SELECT_WORKLOAD_ENTRIES: "tests/discovery/orch_services/server_test.ts",
  SHARED_MESH_CONFIG: "tests/discovery/orch/with_orch.ts",
  RESOLVE_HOSTNAME_GATEWAYS: "tests/discovery/gateway_names_test.ts",
  KUBECONFIG: "tests/orch/access/program_test.ts",
  ORCH_SERVICE_HOST: "tests/orch/access/program_test.ts",
  ORCH_SERVICE_PORT: "tests/orch/access/program_test.ts",
  HOME: "tests/orch/access/program_test.ts",
  PILOT_INSECURE_MULTICLUSTER_ORCHCONFIG_OPTIONS: "tests/orch/access/program_test.ts",
  MESH_WATCH_NAMESPACE: "tests/orch/access/program_test.ts",
  MESH_MAX_CONNECTIONS: "tests/discovery/server_settings_test.ts",
  MESH_ON_DEMAND_TIMEOUT: "tests/e2e/on_demand_away_test.ts",
  MESH_CALLS_DIR: "tests/discovery/calls/stores_test.ts",
  MESH_CALLS_LIFETIME: "tests/discovery/calls/stores_test.ts",
  MESH_ROLLOUT_DEFAULTS: "tests/discovery/rollout/server_test.ts",
  MESH_ROLLOUT_DIR: "tests/discovery/rollout/server_test.ts",
  MESH_ROLLOUT_SOAK: "tests/discovery/rollout/server_test.ts",
  MESH_SELF_CHECK_INTERVAL: "tests/discovery/orch/orch_test.ts",
  ORCH_INGRESS_NS: "tests/orch/e2e/ingress_test.ts",
  USE_CACERTS_FOR_SELF_SIGNED_CA: "tests/orch/authority/secret_test.ts",
  PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION: "tests/discovery/registration/server_test.ts",
  PILOT_WORKLOAD_ENTRY_GRACE_PERIOD: "tests/discovery/registration/server_test.ts",
  ENABLE_CLUSTER_TRUST_BUNDLE_API: "tests/orch/leader/trust_bundle_test.ts",
  PILOT_CA_CERT_CONFIGMAP: "tests/orch/e2e/duty_settings_test.ts",
  POD_NAME: "tests/orch/e2e/duty_settings_test.ts",
  ENABLE_LEADER_ELECTION: "tests/orch/e2e/duty_settings_test.ts",
  MESH_ENABLE_CONTROLLER_QUEUE_METRICS: "tests/orch/e2e/duty_settings_test.ts",
  VALIDATION_WEBHOOK_CONFIG_NAME: "tests/orch/e2e/duty_settings_test.ts",
  INJECT_ENABLED: "tests/orch/e2e/injection_test.ts",
  ENABLE_NATIVE_SIDECARS: "tests/orch/e2e/injection_test.ts",
  PLATFORM: "tests/discovery/injection/settings_test.ts",
  PILOT_ENABLE_ON_DEMAND_SIDECARS: "tests/discovery/injection/settings_test.ts",
  INJECTION_WEBHOOK_CONFIG_NAME: "tests/orch/e2e/duty_settings_test.ts",
  PILOT_ENABLE_NODE_UNTAINT_CONTROLLERS: "tests/orch/leader/untaint_test.ts",
  PILOT_ENABLE_ANALYSIS: "tests/orch/status/status_test.ts",
  PILOT_ANALYSIS_INTERVAL: "tests/orch/status/status_test.ts",
  PILOT_STATUS_UPDATE_INTERVAL: "tests/orch/status/status_test.ts",
  PILOT_STATUS_QPS: "tests/status/writer_test.ts",
  PILOT_STATUS_BURST: "tests/status/writer_test.ts",
  EXTERNAL_MESHD: "tests/orch/clusters/leading_test.ts",
  LOCAL_CLUSTER_SECRET_WATCHER: "tests/orch/clusters/leading_test.ts",
  PILOT_ENABLE_CROSS_CLUSTER_WORKLOAD_ENTRY: "tests/orch/clusters/entries_test.ts",
  PILOT_REMOTE_CLUSTER_TIMEOUT: "tests/orch/clusters/services_test.ts",
  PILOT_STATUS_MAX_WORKERS: "tests/status/writer_test.ts",
  PILOT_ENABLE_MONGO_FILTER: "tests/translate/filters/databases_test.ts",
  PILOT_ENABLE_MYSQL_FILTER: "tests/translate/filters/databases_test.ts",
  PILOT_ENABLE_QUIC_LISTENERS: "tests/discovery/http3_test.ts",
  PILOT_ENABLE_REDIS_FILTER: "tests/translate/filters/databases_test.ts",
  PILOT_ENABLE_METADATA_EXCHANGE: "tests/discovery/telemetry_test.ts",
  PILOT_TRACE_SAMPLING: "tests/discovery/telemetry_test.ts",
  PILOT_SPAWN_UPSTREAM_SPAN_FOR_GATEWAY: "tests/discovery/telemetry_test.ts",
  PILOT_ENABLE_GATEWAY_API: "tests/discovery/gateway_api_settings_test.ts",
  ENABLE_SELECTOR_BASED_ORCH_GATEWAY_POLICY: "tests/gateway_api/policies_test.ts",
  PILOT_ENABLE_ALPHA_GATEWAY_API: "tests/discovery/orch/gateway_api_test.ts",
  PILOT_ENABLE_GATEWAY_API_STATUS: "tests/discovery/gateway_api_settings_test.ts",
  PILOT_GATEWAY_API_CONTROLLER_NAME: "tests/discovery/gateway_api_settings_test.ts",
  PILOT_GATEWAY_API_DEFAULT_GATEWAYCLASS_NAME: "tests/discovery/gateway_api_settings_test.ts",
  PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API: "tests/discovery/gateway_api_settings_test.ts",
  ENABLE_GATEWAY_API_INFERENCE_EXTENSION: "tests/discovery/inference_settings_test.ts",
  ENABLE_GATEWAY_API_MANUAL_DEPLOYMENT: "tests/discovery/gateway_api_settings_test.ts",
  MESH_GATEWAY_ROLL_PAUSE: "tests/discovery/orch/gateway_rolls_test.ts",
  MESH_GATEWAY_STATUS_BURST: "tests/discovery/orch/gateway_status_test.ts",
  MESH_GATEWAY_STATUS_PATIENCE: "tests/discovery/orch/gateway_status_test.ts",
  PILOT_ENABLE_GATEWAY_API_GATEWAYCLASS_CONTROLLER: "tests/discovery/orch/gateway_classes_test.ts",
  PILOT_ENABLE_GATEWAY_API_DEPLOYMENT_CONTROLLER: "tests/discovery/orch/gateway_deployments_test.ts",
};

Deno.test("every setting that the discovery server reads is shown to work", () => {
  const others = ["agent", "cli", "config", "debug", "dns", "iptables", "kernel", "mesh", "pb", "registry", "resource"];
  const skipped = [...others, "simulate", "translate", "xds"].map((folder) => `lib/${folder}/`);
  const text = sourceText([...skipped, "cmd/pilot-agent/", "cmd/install-cni/"]);
  const read = namesFound(text, /\bsettings(?:\.|\[")([A-Z][A-Z0-9_]+)\b/g);
  const here = namesFound(Deno.readTextFileSync(new URL(import.meta.url)), /\b([A-Z][A-Z0-9_]+)\b/g);
  assert.deepEqual([...read].filter((name) => !here.has(name)), []);
  for (const [name, file] of Object.entries(ELSEWHERE)) {
    const test = Deno.readTextFileSync(new URL(`../../${file}`, import.meta.url));
    assert.ok(test.includes(name), `${file} does not name ${name}`);
  }
});
