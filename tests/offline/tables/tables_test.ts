/** Tables of a dump: what each cell says about resources of every form. */
import assert from "node:assert/strict";
import { clusterTable } from "../../../lib/offline/tables/clusters.ts";
import { type DumpJson, readDump } from "../../../lib/offline/tables/dump.ts";
import { endpointTable, liveEndpointTable } from "../../../lib/offline/tables/endpoints.ts";
import { listenerTable } from "../../../lib/offline/tables/listeners.ts";
import { routeTable } from "../../../lib/offline/tables/routes.ts";
import { secretTable } from "../../../lib/offline/tables/secrets.ts";
import { syncRow } from "../../../lib/offline/tables/sync.ts";
import { chosenRows, type DumpTable } from "../../../lib/offline/tables/table.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE } from "../../../lib/xds/protocol/types.ts";

const ADMIN = "type.googleapis.com/envoy.admin.v3.";
const dumpOf = (parts: Readonly<Record<string, DumpJson>>) =>
  readDump({
    configs: Object.entries({ ListenersConfigDump: {}, ...parts }).map(([name, part]) => ({
      "@type": ADMIN + name,
      ...part,
    })),
  });
const cells = ({ rows }: DumpTable) => rows.map((row) => row.cells);
const source = (kind: string, name: string) => ({
  filter_metadata: { istio: { config: `/apis/networking.mesh.io/v1/namespaces/shop/${kind}/${name}` } },
});
const socket = (address: string, port_value: number) => ({ socket_address: { address, port_value } });

Deno.test("clusters: the parts of a name, the type, and the destination rule behind the cluster", () => {
  const named = (name: string, more: DumpJson = {}) => ({ cluster: { name, ...more } });
  const table = clusterTable(dumpOf({
    ClustersConfigDump: {
      static_clusters: [named("agent", { type: "STATIC" })],
      dynamic_active_clusters: [
        named("outbound|443||a.shop.svc.cluster.local", {
          type: "EDS",
          metadata: source("destination-rule", "a"),
        }),
        named("outbound|80|v1|a.shop.svc.cluster.local", { cluster_type: { name: "envoy.clusters.dns" } }),
        named("outbound_.80_._.b.shop.svc.cluster.local", { metadata: source("service-entry", "b") }),
        named("inbound|8080||", { type: "ORIGINAL_DST" }),
      ],
      dynamic_warming_clusters: [named("late")],
    },
  }));
  assert.deepEqual(cells(table), [
    ["", "8080", "-", "inbound", "ORIGINAL_DST", ""],
    ["a.shop.svc.cluster.local", "80", "v1", "outbound", "envoy.clusters.dns", ""],
    ["a.shop.svc.cluster.local", "443", "-", "outbound", "EDS", "a.shop"],
    ["agent", "-", "-", "-", "STATIC", ""],
    ["b.shop.svc.cluster.local", "80", "-", "outbound", "STATIC", ""],
    ["late", "-", "-", "-", "STATIC", ""],
  ]);
  const chosen = chosenRows(table.rows, { fqdn: "", direction: "outbound", port: "80" });
  assert.deepEqual(chosen.map(({ values }) => values.fqdn), ["a.shop.svc.cluster.local", "b.shop.svc.cluster.local"]);
});

Deno.test("listeners: a row for each chain, with its condition and where it leads", () => {
  const manager = (more: DumpJson) => ({
    filters: [{
      typed_config: {
        "@type":
          "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        ...more,
      },
    }],
  });
  const tcp = (more: DumpJson) => ({
    filters: [{
      typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", ...more },
    }],
  });
  const inline = { virtual_hosts: [{ domains: ["*", "a.test"], routes: [{ match: { prefix: "/" } }] }] };
  const listener = {
    address: socket("0.0.0.0", 15006),
    additional_addresses: [{ address: socket("::", 15006) }],
    filter_chains: [
      {
        filter_chain_match: { transport_protocol: "tls", application_protocols: ["h2"], server_names: ["a.test"] },
        ...manager({ rds: { route_config_name: "80" } }),
      },
      {
        filter_chain_match: { destination_port: 90, prefix_ranges: [{ address_prefix: "10.0.0.0", prefix_len: 8 }] },
        ...manager({ route_config: inline }),
      },
      { ...tcp({ weighted_clusters: { clusters: [{ name: "a" }, { name: "b" }] } }) },
      { filters: [] },
    ],
    default_filter_chain: tcp({ cluster: "PassthroughCluster" }),
  };
  const table = listenerTable(dumpOf({
    ListenersConfigDump: { dynamic_listeners: [{ active_state: { listener } }, { error_state: {} }] },
  }));
  assert.deepEqual(cells(table), [
    ["0.0.0.0,::", "15006", "SNI: a.test; Trans: tls; App: h2", "Route: 80"],
    ["0.0.0.0,::", "15006", "Addr: 10.0.0.0/8:90", "Inline Route: a.test/*"],
    ["0.0.0.0,::", "15006", "ALL", "Cluster: a, b"],
    ["0.0.0.0,::", "15006", "ALL", "Non-HTTP/Non-TCP"],
    ["0.0.0.0,::", "15006", "ALL", "PassthroughCluster"],
  ]);
  assert.equal(chosenRows(table.rows, { type: "HTTP" }).length, 2);
});

Deno.test("routes: in the order in which the proxy tries them, with domains and the virtual service", () => {
  const route_config = {
    name: "80",
    virtual_hosts: [{
      name: "a:80",
      domains: ["a.shop.svc", "a.shop", "a", "10.0.0.1", "b"],
      routes: [
        { match: { path: "/z" }, metadata: source("virtual-service", "a") },
        { match: { safe_regex: { regex: "/v[0-9]" }, headers: [{ name: "x" }], query_parameters: [{ name: "q" }] } },
        { match: { path_separated_prefix: "/p" }, direct_response: { status: 418 } },
        { match: { prefix: "/" } },
      ],
    }, { name: "empty", domains: ["c"] }],
  };
  const table = routeTable(dumpOf({ RoutesConfigDump: { dynamic_route_configs: [{ route_config }] } }));
  const start = ["80", "a:80", "a, 10.0.0.1 + 1 more..."];
  assert.deepEqual(cells(table), [
    [...start, "/z", "a.shop"],
    [...start, "regex /v[0-9], header x, query q", ""],
    [...start, "PathPrefix:/p", "418"],
    [...start, "/*", ""],
    ["80", "empty", "c", "/*", "404"],
  ]);
});

Deno.test("endpoints: of assignments, of clusters with endpoints inside, and of Envoy's page of clusters", () => {
  const endpoints = (...list: DumpJson[]) => [{ lb_endpoints: list }];
  const at = (address: string, health_status?: string) => ({
    endpoint: { address: socket(address, 80) },
    health_status,
  });
  const dump = dumpOf({
    ClustersConfigDump: {
      dynamic_active_clusters: [
        { cluster: { name: "inside", load_assignment: { endpoints: endpoints(at("::1")) } } },
        { cluster: { name: "both", load_assignment: { endpoints: endpoints(at("10.0.0.9")) } } },
      ],
    },
    EndpointsConfigDump: {
      dynamic_endpoint_configs: [{
        endpoint_config: { cluster_name: "both", endpoints: endpoints(at("10.0.0.2", "DRAINING"), at("10.0.0.1")) },
      }],
      static_endpoint_configs: [{
        endpoint_config: {
          cluster_name: "pipe",
          endpoints: endpoints({ endpoint: { address: { pipe: { path: "/run/s" } } }, health_status: "UNKNOWN" }),
        },
      }],
    },
  });
  assert.deepEqual(cells(endpointTable(dump)), [
    ["[::1]:80", "HEALTHY", "-", "inside"],
    ["10.0.0.1:80", "HEALTHY", "-", "both"],
    ["10.0.0.2:80", "DRAINING", "-", "both"],
    ["unix:///run/s", "HEALTHY", "-", "pipe"],
  ]);
  const host = (address: string, health_status: DumpJson) => ({ address: socket(address, 80), health_status });
  const page = {
    cluster_statuses: [{
      name: "a",
      host_statuses: [
        host("10.0.0.1", { eds_health_status: "HEALTHY" }),
        host("10.0.0.2", { eds_health_status: "HEALTHY", failed_outlier_check: true }),
        host("10.0.0.3", { eds_health_status: "HEALTHY", failed_active_health_check: true }),
      ],
    }],
  };
  assert.deepEqual(cells(liveEndpointTable(page)), [
    ["10.0.0.1:80", "HEALTHY", "OK", "a"],
    ["10.0.0.2:80", "HEALTHY", "FAILED", "a"],
    ["10.0.0.3:80", "UNHEALTHY", "OK", "a"],
  ]);
});

Deno.test("secrets: the serial number and the life of each certificate; files of the proxy are not in a dump", () => {
  const pem = Deno.readTextFileSync(new URL("../../testdata/pem/cert.pem", import.meta.url));
  const inline = { inline_bytes: btoa(pem) };
  const table = (now: number) =>
    cells(secretTable(
      dumpOf({
        SecretsConfigDump: {
          dynamic_active_secrets: [
            { name: "default", secret: { name: "default", tls_certificate: { certificate_chain: inline } } },
            { name: "ROOTCA", secret: { name: "ROOTCA", validation_context: { trusted_ca: { inline_string: pem } } } },
            { name: "f", secret: { name: "f", tls_certificate: { certificate_chain: { filename: "/a.pem" } } } },
          ],
          dynamic_warming_secrets: [{ name: "late" }],
        },
      }),
      now,
    ));
  const [[, , , , serial = "", notAfter = "", notBefore = ""] = []] = table(0);
  assert.match(serial, /^[0-9a-f]+$/);
  assert.match(`${notAfter} ${notBefore}`, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  const life = [serial, notAfter, notBefore];
  const rows = (valid: string) => [
    ["default", "Cert Chain", "ACTIVE", valid, ...life],
    ["ROOTCA", "CA", "ACTIVE", valid, ...life],
    ["f", "Cert Chain", "ACTIVE", "-", "-", "-", "-"],
    ["late", "", "WARMING", "-", "-", "-", "-"],
  ];
  assert.deepEqual(table(Date.parse(notBefore)), rows("true"));
  assert.deepEqual(table(Date.parse(notAfter)), rows("true"));
  assert.deepEqual(table(Date.parse(notAfter) + 1), rows("false"));
  assert.deepEqual(table(Date.parse(notBefore) - 1), rows("false"));
});

Deno.test("the status of a type: acknowledged, sent, rejected, not sent, not asked for", () => {
  const sentTime = "2026-01-01T00:00:00.900Z";
  const entry = {
    ...{ cluster_id: "Orch", proxy: "a.shop", proxy_type: "sidecar", mesh_version: "1.0", synced: false },
    resources: {
      [CLUSTER]: { sent: "2", acked: "2", sentTime },
      [ENDPOINTS]: { sent: "2", acked: "1", sentTime },
      [LISTENER]: { sent: "2", acked: "1", sentTime, lastError: "no" },
      [ROUTE]: { sent: "", acked: "" },
    },
  };
  const { status, errors } = syncRow(entry, "here", Date.parse(sentTime) + 83_500);
  assert.deepEqual(status, {
    CDS: "SYNCED (1m23s)",
    LDS: "ERROR",
    EDS: "STALE (1m23s)",
    RDS: "NOT SENT",
    ECDS: "IGNORED",
  });
  assert.deepEqual(errors, ["no"]);
  const silent = { ...entry, resources: { [CLUSTER]: { sent: "1", acked: "", sentTime } } };
  assert.equal(syncRow(silent, "here", 0).status.CDS, "STALE (Never Acknowledged)");
});

Deno.test("a text that is not a whole dump is refused", () => {
  for (const value of [undefined, [], {}, { configs: [] }, { configs: [{ "@type": `${ADMIN}ClustersConfigDump` }] }]) {
    assert.throws(() => readDump(value), { name: "RangeError", message: /expected the whole page \/config_dump/ });
  }
});
