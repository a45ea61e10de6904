/**
 * Static clusters of the servers in the mesh configuration: collectors of traces, logs and statistics.
 *
 * @module
 */
import type { ClientTlsSettings, TcpKeepalive } from "../../config/kinds/common/schema.ts";
import type { ProxySettings } from "../../config/mesh/types.ts";
import { assignment, type EnvoyJson, http2Options, parseHostPort, seconds, tcpAddress, typed } from "./envoy_json.ts";
import type { BootstrapFamilies } from "./families.ts";
import { tlsSocket } from "./tls_socket.ts";

/** A field of the proxy's settings that has no effect. */
export interface BootstrapFinding {
  readonly field: string;
  readonly value: string;
  readonly expected: string;
}

interface RemoteServer {
  readonly cluster: string;
  readonly field: string;
  readonly address: string | undefined;
  readonly http2: boolean;
  readonly tls?: ClientTlsSettings | undefined;
  readonly keepalive?: TcpKeepalive | undefined;
}

/**
 * The clusters, and the unusable addresses.
 *
 * @param fips `COMPLIANCE_POLICY=fips-140-2`
 */
export function remoteClusters(
  proxy: ProxySettings,
  families: BootstrapFamilies,
  fips: boolean,
): { readonly clusters: EnvoyJson[]; readonly problems: BootstrapFinding[] } {
  const clusters: EnvoyJson[] = [];
  const problems: BootstrapFinding[] = [];
  for (const server of remoteServers(proxy)) {
    if (!server.address) continue;
    const address = parseHostPort(server.address);
    if (address === undefined) problems.push({ field: server.field, value: server.address, expected: "host:port" });
    else clusters.push(remoteCluster(server, tcpAddress(address.host, address.port), families, fips));
  }
  return { clusters, problems };
}

function remoteServers(proxy: ProxySettings): RemoteServer[] {
  const { tracing, proxyMetricsService: metrics, proxyAccessLogService: logs } = proxy;
  const tls = tracing?.tlsSettings;
  return [
    {
      cluster: "zipkin",
      field: tracing?.zipkin === undefined ? "zipkinAddress" : "tracing.zipkin.address",
      address: tracing?.zipkin?.address ?? (hasTracer(proxy) ? undefined : proxy.zipkinAddress),
      http2: false,
      tls,
    },
    {
      cluster: "lightstep",
      field: "tracing.lightstep.address",
      address: tracing?.lightstep?.address,
      http2: true,
      tls,
    },
    {
      cluster: "datadog_agent",
      field: "tracing.datadog.address",
      address: tracing?.datadog?.address,
      http2: false,
      tls,
    },
    {
      cluster: "envoy_metrics_service",
      field: metrics === undefined ? "proxyMetricsServiceAddress" : "proxyMetricsService.address",
      address: metrics?.address ?? proxy.proxyMetricsServiceAddress,
      http2: true,
      tls: metrics?.tlsSettings,
      keepalive: metrics?.tcpKeepalive,
    },
    {
      cluster: "envoy_accesslog_service",
      field: "proxyAccessLogService.address",
      address: logs?.address,
      http2: true,
      tls: logs?.tlsSettings,
      keepalive: logs?.tcpKeepalive,
    },
  ];
}

function hasTracer({ tracing }: ProxySettings): boolean {
  return tracing !== undefined &&
    [tracing.lightstep, tracing.datadog, tracing.stackdriver, tracing.openCensusAgent].some((one) => one !== undefined);
}

function remoteCluster(
  server: RemoteServer,
  address: EnvoyJson,
  families: BootstrapFamilies,
  fips: boolean,
): EnvoyJson {
  const transport_socket = tlsSocket(server.tls, fips);
  return {
    name: server.cluster,
    cluster_type: {
      name: "envoy.cluster.dns",
      typed_config: typed("envoy.extensions.clusters.dns.v3.DnsCluster", {
        respect_dns_ttl: true,
        dns_refresh_rate: "30s",
        dns_lookup_family: families.dnsLookupFamily,
      }),
    },
    connect_timeout: "1s",
    lb_policy: "ROUND_ROBIN",
    ...(server.http2 ? { typed_extension_protocol_options: http2Options() } : {}),
    ...(transport_socket === undefined ? {} : { transport_socket }),
    ...(server.keepalive === undefined ? {} : { upstream_connection_options: keepaliveOf(server.keepalive) }),
    load_assignment: assignment(server.cluster, address),
  };
}

function keepaliveOf({ probes, time, interval }: TcpKeepalive): EnvoyJson {
  const tcp_keepalive = {
    ...(probes === undefined ? {} : { keepalive_probes: probes }),
    ...(time === undefined ? {} : { keepalive_time: Math.ceil(time / 1000) }),
    ...(interval === undefined ? {} : { keepalive_interval: Math.ceil(interval / 1000) }),
  };
  return { tcp_keepalive };
}

/** Sends statistics where the settings say. Each sink needs a cluster or an address. */
export function statsSinks(proxy: ProxySettings, clusters: readonly EnvoyJson[]): EnvoyJson[] {
  const sinks: EnvoyJson[] = [];
  if (clusters.some(({ name }) => name === "envoy_metrics_service")) {
    const grpc_service = { envoy_grpc: { cluster_name: "envoy_metrics_service" }, timeout: seconds(10_000) };
    const fields = { transport_api_version: "V3", grpc_service };
    sinks.push({
      name: "envoy.stat_sinks.metrics_service",
      typed_config: typed("envoy.config.metrics.v3.MetricsServiceConfig", fields),
    });
  }
  const statsd = parseHostPort(proxy.statsdUdpAddress ?? "");
  if (statsd !== undefined) {
    const address = { socket_address: { protocol: "UDP", address: statsd.host, port_value: statsd.port } };
    sinks.push({
      name: "envoy.stat_sinks.statsd",
      typed_config: typed("envoy.config.metrics.v3.StatsdSink", { address }),
    });
  }
  return sinks;
}
