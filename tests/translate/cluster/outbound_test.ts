import assert from "node:assert/strict";
import type { ConnectionPoolSettings } from "../../../lib/config/kinds/common/schema.ts";
import type { DestinationRuleSpec } from "../../../lib/config/kinds/kinds.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import type { Protocol, Service } from "../../../lib/registry/types.ts";
import { outboundClusters } from "../../../lib/translate/cluster/outbound.ts";
import { HTTP_OPTIONS } from "../../../lib/translate/cluster/http_options.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { meshReader, type ReaderWorld } from "../mesh_reader.ts";
import { endpoint, port, rule, service } from "../make.ts";

type Cluster = envoy.config.cluster.v3.Cluster;
type ProxyProtocolUpstreamTransport =
  envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport;
type HttpProtocolOptions = envoy.extensions.upstreams.http.v3.HttpProtocolOptions;

const HOST = "a.default.svc.cluster.local";

function build(
  spec: Omit<DestinationRuleSpec, "host"> | undefined,
  given: Partial<Service> = {},
  world: ReaderWorld = {},
) {
  const read = meshReader({
    services: [service(HOST, given)],
    endpoints: { [HOST]: [endpoint("10.0.0.1")] },
    ...(spec && { destinationRules: { [HOST]: rule(HOST, spec) } }),
    ...world,
  });
  return outboundClusters(read, HOST);
}

function first(...args: Parameters<typeof build>): Cluster {
  return build(...args)[0]!.message;
}

function httpOptions(cluster: Cluster): HttpProtocolOptions | undefined {
  const packed = cluster.typed_extension_protocol_options?.[HTTP_OPTIONS];
  return packed && decode<HttpProtocolOptions>(HTTP_OPTIONS, packed.value!);
}

function version(cluster: Cluster): string {
  const options = httpOptions(cluster);
  if (options?.use_downstream_protocol_config) return "client";
  return options?.explicit_http_config?.http2_protocol_options ? "http2" : "http1";
}

Deno.test("each port but UDP has a cluster, each subset one more; a host that is not visible has none", () => {
  const clusters = build({ subsets: [{ name: "v1" }] }, { ports: [port(80), port(53, "UDP"), port(81, "TCP")] });
  assert.deepEqual(clusters.map((c) => c.message.name), [
    `outbound|80||${HOST}`,
    `outbound|80|v1|${HOST}`,
    `outbound|81||${HOST}`,
    `outbound|81|v1|${HOST}`,
  ]);
  assert.deepEqual(clusters[1]!.causes, ["Service/default/a", "DestinationRule/default/r"]);
  assert.deepEqual(outboundClusters(meshReader(), HOST), []);
});

Deno.test("the protocol of a port decides the HTTP version; without one a sidecar follows the client", () => {
  const table: [Protocol, "sidecar" | "router", string][] = [
    ["HTTP", "sidecar", "http1"],
    ["HTTP2", "sidecar", "http2"],
    ["GRPC", "sidecar", "http2"],
    ["GRPC-Web", "router", "http2"],
    ["TCP", "sidecar", "http1"],
    ["Unsupported", "sidecar", "client"],
    ["Unsupported", "router", "http1"],
  ];
  for (const [protocol, type, expected] of table) {
    const cluster = first(undefined, { ports: [port(80, protocol)] }, { properties: { type } });
    assert.equal(version(cluster), expected, `${protocol} ${type}`);
  }
});

Deno.test("connections are upgraded to HTTP/2 as the rule says for any port, as the mesh says for HTTP ports", () => {
  const pool = (http: ConnectionPoolSettings["http"]) => ({ trafficPolicy: { connectionPool: { http: http! } } });
  const mesh = { mesh: { h2UpgradePolicy: "UPGRADE" as const } };
  const table: [Protocol, ReturnType<typeof pool> | undefined, ReaderWorld, string][] = [
    ["HTTP", undefined, mesh, "http2"],
    ["TCP", undefined, mesh, "http1"],
    ["Unsupported", undefined, mesh, "client"],
    ["HTTP", pool({ h2UpgradePolicy: "DO_NOT_UPGRADE" }), mesh, "http1"],
    ["HTTP", pool({ h2UpgradePolicy: "DEFAULT" }), mesh, "http2"],
    ["Unsupported", pool({ h2UpgradePolicy: "UPGRADE" }), {}, "http2"],
    ["HTTP2", pool({ h2UpgradePolicy: "UPGRADE", useClientProtocol: true }), mesh, "client"],
  ];
  for (const [protocol, spec, world, expected] of table) {
    assert.equal(
      version(first(spec, { ports: [port(80, protocol)] }, world)),
      expected,
      `${protocol} ${JSON.stringify(spec)}`,
    );
  }
});

Deno.test("PASSTHROUGH dials the client's destination, and a subset may override it", () => {
  const clusters = build({
    trafficPolicy: { loadBalancer: { simple: "PASSTHROUGH" } },
    subsets: [{ name: "back", trafficPolicy: { loadBalancer: { simple: "RANDOM" } } }],
  });
  assert.deepEqual(clusters.map((c) => [c.message.type, c.message.lb_policy]), [[4, 6], [3, 3]]);
});

Deno.test("a gateway does not know the dialled address, so it gets endpoints", () => {
  const given = { resolution: "passthrough" } as const;
  assert.equal(first(undefined, given).type, 4);
  assert.equal(first(undefined, given, { properties: { type: "router" } }).type, 3);
  assert.equal(first(undefined, given, { settings: { enableEdsForHeadless: true } }).type, 3);
  const external = { ...given, provider: "External" } as const;
  assert.equal(first(undefined, external, { settings: { enableEdsForHeadless: true } }).type, 4);
});

Deno.test("a cluster resolves only one name, and no name without an endpoint", () => {
  const endpoints = { [HOST]: [endpoint("a.example.com"), endpoint("b.example.com")] };
  const given = { resolution: "dnsRoundRobin" } as const;
  const groups = first(undefined, given, { endpoints }).load_assignment!.endpoints!;
  assert.deepEqual(groups.flatMap((g) => g.lb_endpoints!.map((e) => e.endpoint!.address!.socket_address!.address)), [
    "a.example.com",
  ]);
  assert.deepEqual(build(undefined, given, { endpoints: {} }), []);
  assert.deepEqual(build({ subsets: [{ name: "v9", labels: { version: "v9" } }] }, given, { endpoints }).length, 1);
});

Deno.test("names are looked up in the IP versions that the proxy has", () => {
  const table: [boolean, boolean, boolean, boolean, number][] = [
    // ipv4, ipv6, dual-stack, IPv4 beside IPv6 -> V4_ONLY 2, V6_ONLY 3, ALL 5
    [true, false, false, false, 2],
    [false, true, false, false, 3],
    [false, true, false, true, 5],
    [true, true, false, false, 2],
    [true, true, true, false, 5],
  ];
  for (const [ipv4, ipv6, dualStack, both, expected] of table) {
    const cluster = first(undefined, { resolution: "dns" }, {
      properties: { ipv4, ipv6 },
      settings: { dualStack, enableIpv4OutboundListenerForIpv6Clusters: both },
    });
    const config = decode<envoy.extensions.clusters.dns.v3.DnsCluster>(
      "envoy.extensions.clusters.dns.v3.DnsCluster",
      cluster.cluster_type!.typed_config!.value!,
    );
    assert.equal(config.dns_lookup_family, expected, `${ipv4} ${ipv6} ${dualStack} ${both}`);
  }
});

Deno.test("a cluster of a service without a rule asks the proxy for nothing", () => {
  const read = meshReader({ services: [service(HOST)] });
  outboundClusters(read, HOST);
  assert.deepEqual(read.asked.filter((q) => q.startsWith("property") || q.startsWith("ask")), []);
});

Deno.test("unset limits mean no limits, and the idle time of HTTP has precedence over the idle time of TCP", () => {
  const none = first(undefined).circuit_breakers!.thresholds![0]!;
  assert.deepEqual(none.max_connections, { value: 4294967295 });
  const cluster = first({
    trafficPolicy: {
      connectionPool: { tcp: { idleTimeout: 1000 }, http: { h2UpgradePolicy: "DEFAULT", idleTimeout: 2500 } },
    },
  });
  assert.deepEqual(httpOptions(cluster)!.common_http_protocol_options!.idle_timeout, {
    seconds: 2,
    nanos: 500_000_000,
  });
});

Deno.test("keepalive of the mesh is kept where the rule sets another part of it", () => {
  const spec = { trafficPolicy: { connectionPool: { tcp: { tcpKeepalive: { interval: 1500 } } } } };
  const world = { mesh: { tcpKeepalive: { time: 60_000, interval: 10_000 } } };
  assert.deepEqual(first(spec, {}, world).upstream_connection_options, {
    tcp_keepalive: { keepalive_time: { value: 60 }, keepalive_interval: { value: 2 } },
  });
});

Deno.test("localities are weighed by distribution, by ordering with outlier detection, and by setting", () => {
  const weighed = (spec: Omit<DestinationRuleSpec, "host"> | undefined, world: ReaderWorld = {}) =>
    first(spec, {}, world).common_lb_config?.locality_weighted_lb_config !== undefined;
  const lb = (localityLbSetting: object) => ({ loadBalancer: { localityLbSetting } });
  const outlierDetection = { interval: 1000 };
  assert.equal(weighed(undefined), false);
  assert.equal(weighed(undefined, { settings: { enableLocalityWeightedLb: true } }), true);
  assert.equal(weighed({ trafficPolicy: lb({ distribute: [{ from: "*", to: { "*": 100 } }] }) }), true);
  assert.equal(weighed({ trafficPolicy: lb({ failover: [{ from: "a", to: "b" }] }) }), false);
  assert.equal(weighed({ trafficPolicy: { ...lb({ failover: [{ from: "a", to: "b" }] }), outlierDetection } }), true);
  assert.equal(weighed({ trafficPolicy: { ...lb({ failoverPriority: ["x"] }), outlierDetection } }), true);
  assert.equal(weighed({ trafficPolicy: { outlierDetection } }), false);
});

Deno.test("the panic threshold is off under outlier detection, set by the user, and off where unhealthy endpoints are sent", () => {
  const threshold = (minHealthPercent: number | undefined, world: ReaderWorld = {}) =>
    first({ trafficPolicy: { outlierDetection: { ...(minHealthPercent && { minHealthPercent }) } } }, {}, world)
      .common_lb_config?.healthy_panic_threshold?.value;
  assert.equal(first(undefined).common_lb_config, undefined);
  assert.equal(threshold(undefined), 0);
  assert.equal(threshold(30), 30);
  assert.equal(threshold(30, { settings: { sendUnhealthyEndpoints: true } }), 0);
});

Deno.test("the header of the PROXY protocol comes before the connection's other bytes, with and without TLS", () => {
  const sockets = (...args: Parameters<typeof build>) => {
    const { transport_socket, transport_socket_matches = [] } = first(...args);
    return [transport_socket, ...transport_socket_matches.map((match) => match.transport_socket)].flatMap((socket) => {
      if (socket === undefined) return [];
      const { config, transport_socket: inner } = decode<ProxyProtocolUpstreamTransport>(
        "envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport",
        socket.typed_config!.value!,
      );
      return `${socket.name} ${config?.version ?? 0} ${inner?.name}`;
    });
  };
  const header = "envoy.transport_sockets.upstream_proxy_protocol";
  const trafficPolicy = { proxyProtocol: { version: "V2" } } as const;
  assert.deepEqual(sockets({ trafficPolicy }), [`${header} 1 envoy.transport_sockets.raw_buffer`]);
  assert.deepEqual(sockets({ trafficPolicy: { proxyProtocol: { version: "V1" }, tls: { mode: "SIMPLE" } } }), [
    `${header} 0 envoy.transport_sockets.tls`,
  ]);
  const [lacking] = build({ trafficPolicy }, {}, {
    properties: { extensions: new Set(["envoy.transport_sockets.tls"]) },
  });
  assert.equal(lacking!.message.transport_socket, undefined);
  assert.match(
    lacking!.warnings![0]!.text,
    /proxyProtocol is left out, the proxy's build lacks envoy\.transport_sockets/,
  );
});

Deno.test("a rule that asks for a certificate which the proxy has not closes its cluster, and is named first", () => {
  const [closed] = build({ trafficPolicy: { tls: { mode: "MESH_MUTUAL" } } });
  assert.match(
    closed!.warnings![0]!.text,
    /\|80\|\|a\..* is closed: tls mode ISTIO_MUTUAL needs a certificate of the mesh/,
  );
  assert.equal(closed!.causes[0], "DestinationRule/default/r");
  const { type, load_assignment, eds_cluster_config } = closed!.message;
  assert.deepEqual({ type, load_assignment, eds_cluster_config }, {
    type: 0,
    load_assignment: undefined,
    eds_cluster_config: undefined,
  });
});

type Tls = envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext;
function tls(cluster: Cluster): Tls | undefined {
  const packed = cluster.transport_socket?.typed_config;
  return packed && decode<Tls>("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", packed.value!);
}

Deno.test("certificates of the proxy's metadata serve every mutual mode, but not services outside the mesh", () => {
  const world = {
    properties: { tlsClientCertChain: "/c.pem", tlsClientKey: "/k.pem", tlsClientRootCert: "/r.pem" },
  };
  const mesh = tls(first({ trafficPolicy: { tls: { mode: "MESH_MUTUAL", sni: "x" } } }, {}, world))!;
  assert.equal(mesh.common_tls_context!.tls_certificates![0]!.certificate_chain!.filename, "/c.pem");
  assert.equal(mesh.common_tls_context!.validation_context!.trusted_ca!.filename, "/r.pem");
  assert.equal(mesh.sni, "x");
  const own = { mode: "MUTUAL", clientCertificate: "/own.pem", privateKey: "/own-key.pem" } as const;
  const chain = (meshExternal: boolean) =>
    tls(first({ trafficPolicy: { tls: own } }, { meshExternal }, world))!.common_tls_context!.tls_certificates![0]!
      .certificate_chain!.filename;
  assert.equal(chain(false), "/c.pem");
  assert.equal(chain(true), "/own.pem");
});

Deno.test("a server is verified by the system's authorities and its host unless the rule says how or not at all", () => {
  const simple = first({ trafficPolicy: { tls: { mode: "SIMPLE" } } });
  assert.equal(
    tls(simple)!.common_tls_context!.validation_context!.trusted_ca!.filename,
    "/etc/ssl/certs/ca-certificates.crt",
  );
  assert.deepEqual(httpOptions(simple)!.upstream_http_protocol_options, { auto_sni: true, auto_san_validation: true });
  const named = first({ trafficPolicy: { tls: { mode: "SIMPLE", subjectAltNames: ["b"] } } });
  assert.deepEqual(httpOptions(named)!.upstream_http_protocol_options, { auto_sni: true });
  const skipped = first({ trafficPolicy: { tls: { mode: "SIMPLE", sni: "b", insecureSkipVerify: true } } });
  assert.equal(tls(skipped)!.common_tls_context!.validation_context, undefined);
  assert.equal(httpOptions(skipped), undefined);
});

Deno.test("credentials by name are for gateways, and for sidecars by rules that select them", () => {
  const spec = { trafficPolicy: { tls: { mode: "SIMPLE", credentialName: "c" } } } as const;
  const secret = (cluster: Cluster) =>
    tls(cluster)?.common_tls_context?.combined_validation_context?.validation_context_sds_secret_config?.name;
  assert.equal(secret(first(spec)), undefined);
  assert.match(build(spec)[0]!.warnings![0]!.text, /workloadSelector/);
  const selecting = { ...spec, workloadSelector: { matchLabels: { app: "x" } } };
  assert.equal(secret(first(selecting, {}, { properties: { labels: { app: "x" } } })), "kubernetes://c-cacert");
  assert.equal(secret(first(spec, {}, { properties: { type: "router" } })), "kubernetes://c-cacert");
});

Deno.test("a port of an entry without resolution leads to its target port, at the address that the client dialled", () => {
  const dialled = (given: Partial<Service>, target?: number) => {
    const ports = [{ ...port(80), ...(target === undefined ? {} : { targetPort: target }) }];
    return first(undefined, { resolution: "passthrough", provider: "External", ports, ...given })
      .original_dst_lb_config;
  };
  assert.deepEqual(dialled({}, 8080), { upstream_port_override: { value: 8080 } });
  assert.equal(dialled({}), undefined);
  assert.equal(dialled({ provider: "Orch" }, 8080), undefined, "clients of headless services dial endpoints");
  assert.equal(dialled({ resolution: "static" }, 8080), undefined);
});

Deno.test("an alias has no cluster: its routes lead to the clusters of its target", () => {
  assert.deepEqual(build(undefined, { externalName: "b.example.com" }), []);
  assert.deepEqual(build({ subsets: [{ name: "v1", labels: {} }] }, { externalName: "b.example.com" }), []);
});
