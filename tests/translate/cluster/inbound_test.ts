import assert from "node:assert/strict";
import { decode } from "../../../lib/pb/reflect.ts";
import { inboundClusters } from "../../../lib/translate/cluster/inbound.ts";
import { staticClusters } from "../../../lib/translate/cluster/static.ts";
import { HTTP_OPTIONS } from "../../../lib/translate/cluster/http_options.ts";
import type { InboundTarget } from "../../../lib/translate/inbound/target.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { envoyPath } from "../../envoy/path.ts";
import { acceptClusters } from "../../envoy/verdict.ts";
import { meshReader, type ReaderWorld } from "../mesh_reader.ts";
import { port, rule, service } from "../make.ts";

type Cluster = envoy.config.cluster.v3.Cluster;

const HOST = "a.default.svc.cluster.local";

function target(given: Partial<InboundTarget> = {}): InboundTarget {
  return {
    port: 8080,
    servicePort: port(80),
    service: service(HOST),
    captureMode: "DEFAULT",
    fromSidecarIngress: false,
    ...given,
  };
}

function build(given: Partial<InboundTarget> = {}, world: ReaderWorld = {}): Cluster {
  return inboundClusters(meshReader(world), [target(given)])[0]!.message;
}

/** Where a cluster sends, and from which source address: `ORIGINAL_DST` or an address, `<` the source. */
function path(cluster: Cluster): string {
  const to = cluster.load_assignment?.endpoints?.[0]?.lb_endpoints?.[0]?.endpoint?.address;
  const where = cluster.type === 4
    ? "ORIGINAL_DST"
    : to!.pipe?.path ?? `${to!.socket_address!.address}:${to!.socket_address!.port_value}`;
  const from = cluster.upstream_bind_config;
  const sources = from && [from.source_address!, ...(from.extra_source_addresses ?? []).map((a) => a.address!)];
  return sources ? `${where} < ${sources.map((s) => s.address).join()}` : where;
}

Deno.test("a captured port is reached where the client dialled, from the address that redirection lets pass", () => {
  const cluster = build();
  assert.equal(cluster.name, "inbound|8080||");
  assert.equal(path(cluster), "ORIGINAL_DST < 127.0.0.6");
  assert.equal(cluster.lb_policy, 6);
  assert.equal(path(build({}, { properties: { ipv4: false, ipv6: true } })), "ORIGINAL_DST < ::6");
  const both = { properties: { ipv6: true }, settings: { dualStack: true } };
  assert.equal(path(build({}, both)), "ORIGINAL_DST < 127.0.0.6,::6");
});

Deno.test("where nothing is captured the workload is reached on loopback", () => {
  assert.equal(path(build({}, { properties: { interceptionMode: "NONE" } })), "127.0.0.1:8080");
  assert.equal(path(build({ captureMode: "NONE", fromSidecarIngress: true })), "127.0.0.1:8080");
  assert.equal(
    path(build({ captureMode: "IPTABLES" }, { properties: { interceptionMode: "NONE" } })),
    "ORIGINAL_DST < 127.0.0.6",
  );
});

Deno.test("the mesh may send all inbound traffic of services to loopback", () => {
  const mesh = { mesh: { inboundTrafficPolicy: { mode: "LOCALHOST" as const } } };
  assert.equal(path(build({}, mesh)), "127.0.0.1:8080");
  assert.equal(path(build({ fromSidecarIngress: true }, mesh)), "ORIGINAL_DST < 127.0.0.6");
});

Deno.test("a Sidecar ingress sends to its default endpoint in every form", () => {
  const workloadAddresses = ["10.0.0.9", "2001:db8::9"];
  const table: [string, Partial<InboundTarget>, ReaderWorld["properties"], string][] = [
    ["127.0.0.1:9000", {}, {}, "127.0.0.1:9000"],
    ["127.0.0.1:9000", {}, { ipv4: false, ipv6: true }, "::1:9000"],
    ["[::1]:9000", {}, { ipv6: true }, "::1:9000"],
    ["[::1]:9000", {}, {}, "127.0.0.1:9000"],
    ["0.0.0.0:9000", { workloadAddresses }, {}, "10.0.0.9:9000 < 127.0.0.6"],
    ["[::]:9000", { workloadAddresses }, {}, "2001:db8::9:9000 < 127.0.0.6"],
    ["0.0.0.0:9000", {}, {}, "127.0.0.1:9000"],
    ["unix:///run/app.sock", {}, {}, "/run/app.sock"],
  ];
  for (const [defaultEndpoint, given, properties, expected] of table) {
    const cluster = build({ defaultEndpoint, fromSidecarIngress: true, ...given }, { properties: properties! });
    assert.equal(path(cluster), expected, defaultEndpoint);
  }
});

Deno.test("of a destination rule only the pool counts, and the Sidecar's pool goes before it", () => {
  const destinationRules = {
    [HOST]: rule(HOST, {
      trafficPolicy: {
        connectionPool: { tcp: { maxConnections: 5 } },
        tls: { mode: "SIMPLE" },
        outlierDetection: { interval: 1 },
        loadBalancer: { simple: "RANDOM" },
      },
    }),
  };
  const cluster = build({}, { destinationRules });
  const limit = (c: Cluster) => c.circuit_breakers!.thresholds![0]!.max_connections!.value;
  assert.equal(limit(cluster), 5);
  assert.equal(cluster.transport_socket ?? cluster.outlier_detection, undefined);
  assert.equal(limit(build({ connectionPool: { tcp: { maxConnections: 7 } } }, { destinationRules })), 7);
});

Deno.test("a rule for chosen client workloads does not limit the server", () => {
  const destinationRules = {
    [HOST]: rule(HOST, {
      workloadSelector: { matchLabels: { app: "client" } },
      trafficPolicy: { connectionPool: { tcp: { maxConnections: 5 } } },
    }),
  };
  const cluster = build({}, { destinationRules });
  assert.equal(cluster.circuit_breakers!.thresholds![0]!.max_connections!.value, 4294967295);
});

Deno.test("inbound connections are not upgraded to HTTP/2", () => {
  const world: ReaderWorld = { mesh: { h2UpgradePolicy: "UPGRADE" } };
  assert.equal(build({}, world).typed_extension_protocol_options, undefined);
  const grpc = build({ servicePort: port(80, "GRPC") }).typed_extension_protocol_options![HTTP_OPTIONS]!;
  const options = decode<envoy.extensions.upstreams.http.v3.HttpProtocolOptions>(HTTP_OPTIONS, grpc.value!);
  assert.ok(options.explicit_http_config!.http2_protocol_options);
});

Deno.test("two targets on one port make one cluster, of the first", () => {
  const built = inboundClusters(meshReader(), [target(), target({ servicePort: port(81) }), target({ port: 9090 })]);
  assert.deepEqual(built.map((b) => b.message.name), ["inbound|8080||", "inbound|9090||"]);
});

Deno.test("a sidecar has all static clusters, a gateway only the black hole", () => {
  const names = (world: ReaderWorld) => staticClusters(meshReader(world)).map((c) => c.message.name);
  assert.deepEqual(names({}), ["BlackHoleCluster", "PassthroughCluster", "InboundPassthroughCluster"]);
  assert.deepEqual(names({ properties: { type: "router" } }), ["BlackHoleCluster"]);
  const both = staticClusters(meshReader({ properties: { ipv6: true } }))[2]!.message;
  assert.equal(path(both), "ORIGINAL_DST < 127.0.0.6,::6");
});

const envoyBinary = envoyPath();

Deno.test({
  name: "Envoy accepts every form of inbound cluster",
  ignore: envoyBinary === undefined,
  async fn() {
    const ingress = { fromSidecarIngress: true, workloadAddresses: ["10.0.0.9"] };
    const forms: Cluster[] = [
      build(),
      build({ servicePort: port(80, "Unsupported") }),
      build({ ...ingress, defaultEndpoint: "127.0.0.1:9000" }),
      build({ ...ingress, defaultEndpoint: "0.0.0.0:9000" }),
      build({ ...ingress, defaultEndpoint: "unix:///run/app.sock" }),
      build({}, { properties: { interceptionMode: "NONE" } }),
      build({}, { properties: { ipv6: true }, settings: { dualStack: true } }),
    ];
    const clusters = forms.map((c, i) => ({ ...c, name: `${c.name}${i}` }));
    const verdict = await acceptClusters(envoyBinary!, clusters);
    assert.ok(verdict.accepted, verdict.output);
  },
});
