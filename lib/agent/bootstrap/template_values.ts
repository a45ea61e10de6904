/**
 * The values for a template of a bootstrap: the values of Istio's templates, the sockets of this agent, and the
 * bootstrap that the agent would write without a template.
 *
 * @module
 */
import { type Bootstrap, type BootstrapInput, bootstrapMetadata } from "./bootstrap.ts";
import { type EnvoyJson, parseHostPort } from "./envoy_json.ts";
import { familiesOf } from "./families.ts";
import { runtimeValues } from "./runtime.ts";
import { statsAnnotation } from "./stats.ts";
import { tlsSocket } from "./tls_socket.ts";

/** The values, by name. Names ending in `_str`, addresses and TLS have JSON texts as values. */
export function templateValues(input: BootstrapInput, { config }: Bootstrap): Record<string, unknown> {
  const { node, proxy, sockets } = input;
  return {
    ...nodeValues(input),
    ...familyValues(input),
    ...statsValues(input, config),
    ...serverValues(input),
    ...{
      xds_type: input.delta ? "DELTA_GRPC" : "GRPC",
      runtime_flags: JSON.stringify(runtimeValues(proxy.runtimeValues)),
    },
    ...{ envoy_status_port: input.readinessPort, envoy_prometheus_port: input.metricsPort },
    ...{ outlier_log_path: input.outlierLogPath ?? "", log_json: input.logAsJson },
    ...{ sts: node.metadata.STS_PORT !== undefined, sts_port: node.metadata.STS_PORT },
    ...{ xds_socket: sockets.xds, sds_socket: sockets.sds, files_socket: sockets.files },
    ...{ credential_socket: sockets.credentials, data_folder: sockets.data },
    workload_identity_socket_file: sockets.sds.split("/").at(-1),
    // Names of fields in Go's spelling and in the spelling of users.
    config: { ...proxy, ...Object.fromEntries(Object.entries(proxy).map(([key, one]) => [capitalized(key), one])) },
    bootstrap: config,
  };
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function nodeValues(input: BootstrapInput): Record<string, unknown> {
  const { node, proxy } = input;
  const { locality } = node;
  const metadata = bootstrapMetadata(input);
  const platform = metadata.PLATFORM_METADATA as Readonly<Record<string, string>> | undefined;
  return {
    ...{ nodeID: node.id, nodeType: node.id.split("~")[0], cluster: node.cluster },
    ...{ region: locality.region, zone: locality.zone, sub_zone: locality.sub_zone },
    ...{ metadata, meta_json_str: JSON.stringify(metadata), pilot_SAN: metadata.PILOT_SAN },
    ...{ gcp_project_id: platform?.gcp_project, gcp_project_number: platform?.gcp_project_number },
    discovery_address: proxy.discoveryAddress,
    discovery_host: parseHostPort(proxy.discoveryAddress)?.host,
    pilot_grpc_address: socketAddress(proxy.discoveryAddress),
  };
}

function familyValues({ addresses, dualStack }: BootstrapInput): Record<string, unknown> {
  const { localhost, wildcard, otherWildcard, dnsLookupFamily } = familiesOf(addresses, dualStack);
  const isDual = otherWildcard !== undefined;
  return {
    ...{ localhost, wildcard, dns_lookup_family: dnsLookupFamily, dual_stack: isDual },
    ...(isDual ? { additional_wildcard: otherWildcard } : {}),
  };
}

function statsValues({ annotations, proxy }: BootstrapInput, config: EnvoyJson): Record<string, unknown> {
  const { stats_matcher, histogram_bucket_settings } = config.stats_config as {
    readonly stats_matcher: {
      readonly inclusion_list: { readonly patterns: readonly Readonly<Record<string, unknown>>[] };
    };
    readonly histogram_bucket_settings?: unknown;
  };
  const { patterns } = stats_matcher.inclusion_list;
  const tags = statsAnnotation(annotations, "tags")?.split(",") ?? [];
  return {
    inclusionPrefix: patterns.flatMap(({ prefix }) => prefix === undefined ? [] : [prefix]),
    inclusionSuffix: patterns.flatMap(({ suffix }) => suffix === undefined ? [] : [suffix]),
    inclusionRegexps: patterns.flatMap(({ safe_regex }) =>
      safe_regex === undefined ? [] : [(safe_regex as { regex: string }).regex]
    ),
    extraStatTags: [...new Set([...proxy.extraStatTags ?? [], ...tags])].filter((tag) => tag !== ""),
    histogram_buckets: histogram_bucket_settings,
    stats_compression: statsAnnotation(annotations, "compression") ?? "",
  };
}

/** Collectors of traces, logs and statistics. */
function serverValues({ proxy, fips = false }: BootstrapInput): Record<string, unknown> {
  const { tracing, proxyMetricsService: metrics, proxyAccessLogService: logs } = proxy;
  const tls = (settings: Parameters<typeof tlsSocket>[0]) => {
    const socket = tlsSocket(settings, fips);
    return socket === undefined ? undefined : JSON.stringify(socket);
  };
  return {
    ...{ zipkin: socketAddress(tracing?.zipkin?.address), datadog: socketAddress(tracing?.datadog?.address) },
    ...{ lightstep: socketAddress(tracing?.lightstep?.address), statsd: socketAddress(proxy.statsdUdpAddress) },
    tracing_tls: tls(tracing?.tlsSettings),
    envoy_metrics_service_address: socketAddress(metrics?.address ?? proxy.proxyMetricsServiceAddress),
    envoy_metrics_service_tls: tls(metrics?.tlsSettings),
    envoy_accesslog_service_address: socketAddress(logs?.address),
    envoy_accesslog_service_tls: tls(logs?.tlsSettings),
  };
}

/** `{"address":...,"port_value":...}`, the fields of an Envoy socket address. */
function socketAddress(text: string | undefined): string | undefined {
  const found = text === undefined ? undefined : parseHostPort(text);
  return found === undefined ? undefined : JSON.stringify({ address: found.host, port_value: found.port });
}
