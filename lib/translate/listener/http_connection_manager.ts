/**
 * The HTTP connection manager of listeners: of sidecars, outbound and inbound, and of gateways.
 *
 * @module
 */
import { ApiVersion, HttpConnectionManager_CodecType as Codec } from "../../../proto/gen/enums.ts";
import { HttpConnectionManager_PathWithEscapedSlashesAction as EscapedSlashes } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { MeshConfig, MeshNetworks } from "../../config/mesh/types.ts";
import type { TelemetrySide } from "../../mesh/telemetry/access_logging.ts";
import { any } from "../../pb/codec.ts";
import { duration, wrap } from "../../pb/wellknown.ts";
import { httpFilters } from "../filters/http/order.ts";
import type { HttpFilterSlots } from "../filters/http/order.ts";
import { wasmNetworkFilters } from "../filters/wasm.ts";
import type { Reader } from "../reader/reader.ts";
import { accessLogs } from "../telemetry/access_logs.ts";
import { metricsLogs } from "../telemetry/metrics/stats_logger.ts";
import { tracingFields } from "../telemetry/tracing.ts";
import { ALL_ADDRESSES, canonicalRange, cidrRange } from "./address.ts";
import { answersLate } from "../filters/on_demand.ts";
import { clientCertHeaders, MARKS_UNREACHED, ownHeaders, SERVER_NAME } from "./proxy_headers.ts";

type HttpConnectionManager = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;

/** The filter's name. */
export const MANAGER_NAME = "envoy.filters.network.http_connection_manager";
/** The filter's message. */
export const MANAGER = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/** Differences between HTTP connection managers, beside names and routes. */
export interface ManagerOptions {
  readonly direction: "inbound" | "outbound" | "gateway";
  /** Port of the listener, or the workload's port on the inbound side. 0: any. */
  readonly port: number;
  /** Whether some port behind the listener speaks gRPC-Web. */
  readonly grpcWeb?: boolean;
  /** Inside HBONE: the connection's certificate is not the client's. */
  readonly hbone?: true;
  /** Accept `GET http://host/path` (HTTP proxy listener). */
  readonly allowAbsoluteUrl?: boolean;
  readonly slots?: HttpFilterSlots;
  /** Fields of the caller, which replace all others (at gateways: fields about proxies in front of the gateway). */
  readonly overrides?: Partial<HttpConnectionManager>;
}

/** Differences between HTTP connection managers. */
export interface HttpConnectionManagerOptions extends ManagerOptions {
  /**
   * `outbound_0.0.0.0_80`. The final `;`, with which Istio's tag rules parse statistics, is added by
   * {@linkcode httpConnectionManager}.
   */
  readonly statPrefix: string;
  /** Name of a route configuration over ADS, or the configuration itself. */
  readonly routes: string | envoy.config.route.v3.RouteConfiguration;
}

/** The side of a connection manager, for selection by extensions and telemetry. */
export function trafficSide({ direction }: ManagerOptions): TelemetrySide {
  return direction === "inbound" ? "server" : "client";
}

/** The network filters of a chain that carries requests. */
export function requestFilters(read: Reader, options: HttpConnectionManagerOptions): envoy.config.listener.v3.Filter[] {
  const place = { side: trafficSide(options), port: options.port };
  return [...wasmNetworkFilters(read, place), httpConnectionManager(read, options)];
}

/** `envoy.filters.network.http_connection_manager`. */
export function httpConnectionManager(
  read: Reader,
  options: HttpConnectionManagerOptions,
): envoy.config.listener.v3.Filter {
  const config: HttpConnectionManager = {
    stat_prefix: `${options.statPrefix};`,
    ...routeSpecifier(options.routes),
    ...managerFields(read, options),
  };
  return { name: MANAGER_NAME, typed_config: any(MANAGER, config) };
}

/** All fields but names and routes. */
export function managerFields(read: Reader, options: ManagerOptions): HttpConnectionManager {
  const inbound = options.direction === "inbound";
  const mesh = read.mesh();
  const headers = read.proxyHeaders();
  const gateway = options.direction === "gateway";
  const useRemoteAddress = gateway ||
    !inbound && !options.allowAbsoluteUrl && read.settings.sidecarUseRemoteAddress;
  const side = trafficSide(options);
  const inside = options.hbone ? { hbone: true } as const : {};
  const logs = [
    ...accessLogs(read, side, "http"),
    ...metricsLogs(read, { side, place: "http", trustsHost: options.direction === "outbound", ...inside }),
  ];
  return {
    codec_type: Codec.AUTO,
    http_filters: httpFilters(read, {
      direction: options.direction,
      port: options.port,
      grpcWeb: options.grpcWeb ?? false,
      ...inside,
      router: { suppressEnvoyHeaders: headers?.proxyDebugHeaders?.disabled ?? false },
      ...(options.slots ? { slots: options.slots } : {}),
    }),
    ...ownHeaders(headers, options.direction === "outbound" ? "" : SERVER_NAME),
    ...(inbound ? { ...clientCertHeaders(headers), ...MARKS_UNREACHED } : {}),
    ...(asks(read, options) ? answersLate(read) : {}),
    ...protocolOptions(read, options),
    ...pathNormalization(mesh),
    use_remote_address: wrap(useRemoteAddress),
    ...internalAddresses(read, useRemoteAddress),
    // Routes set the idle timeout of streams.
    stream_idle_timeout: duration(0),
    upgrade_configs: [{ upgrade_type: "websocket" }],
    ...(read.settings.enable100ContinueHeaders ? { proxy_100_continue: true } : {}),
    ...(logs.length > 0 ? { access_log: logs } : {}),
    ...tracingFields(read, side),
    ...options.overrides,
  };
}

function routeSpecifier(
  routes: HttpConnectionManagerOptions["routes"],
): Pick<HttpConnectionManager, "rds" | "route_config"> {
  return typeof routes === "string" ? routesOverAds(routes) : { route_config: routes };
}

/** Routes over ADS have no fetch timeout: a listener without routes would answer 404 to everything. */
export function routesOverAds(routes: string): Pick<HttpConnectionManager, "rds"> {
  return {
    rds: {
      config_source: { ads: {}, initial_fetch_timeout: duration(0), resource_api_version: ApiVersion.V3 },
      route_config_name: routes,
    },
  };
}

function protocolOptions(
  read: Reader,
  options: ManagerOptions,
): Pick<HttpConnectionManager, "common_http_protocol_options" | "http_protocol_options" | "http2_protocol_options"> {
  const http10 = read.settings.enableHttp10 || read.property("http10");
  const idleTimeout = read.property("idleTimeout");
  const common: envoy.config.core.v3.HttpProtocolOptions = {
    ...(idleTimeout > 0 ? { idle_timeout: duration(idleTimeout) } : {}),
    ...(asks(read, options) ? { max_stream_duration: duration(read.settings.askTimeoutMs) } : {}),
  };
  const http1: envoy.config.core.v3.Http1ProtocolOptions = {
    ...(options.allowAbsoluteUrl ? { allow_absolute_url: wrap(true) } : {}),
    ...(http10 ? { accept_http_10: true } : {}),
    ...(read.proxyHeaders()?.preserveHttp1HeaderCase ? { header_key_format: preserveCase() } : {}),
  };
  return {
    ...(Object.keys(common).length > 0 ? { common_http_protocol_options: common } : {}),
    ...(Object.keys(http1).length > 0 ? { http_protocol_options: http1 } : {}),
    // Proxies connected over HTTP/2 ask for upgrades by extended CONNECT (RFC 8441).
    ...(options.direction === "outbound" ? {} : { http2_protocol_options: { allow_connect: true } }),
  };
}

/** Whether requests wait for the answer to the question for their virtual host. */
function asks(read: Reader, { direction }: Pick<ManagerOptions, "direction">): boolean {
  return direction === "outbound" && read.property("onDemand");
}

function preserveCase(): envoy.config.core.v3.Http1ProtocolOptions.HeaderKeyFormat {
  return {
    stateful_formatter: {
      name: "envoy.http.stateful_header_formatters.preserve_case",
      typed_config: any("envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig"),
    },
  };
}

function pathNormalization(
  mesh: MeshConfig,
): Pick<HttpConnectionManager, "normalize_path" | "merge_slashes" | "path_with_escaped_slashes_action"> {
  const how = mesh.pathNormalization.normalization;
  const decode = how === "DECODE_AND_MERGE_SLASHES";
  return {
    normalize_path: wrap(how !== "NONE"),
    ...(decode || how === "MERGE_SLASHES" ? { merge_slashes: true } : {}),
    path_with_escaped_slashes_action: decode ? EscapedSlashes.UNESCAPE_AND_FORWARD : EscapedSlashes.KEEP_UNCHANGED,
  };
}

/**
 * Envoy trusts no address by default, and with `use_remote_address` strips internal headers of every client. So the
 * ranges of the mesh networks are declared internal.
 */
function internalAddresses(
  read: Reader,
  useRemoteAddress: boolean,
): Pick<HttpConnectionManager, "internal_address_config"> {
  if (!useRemoteAddress && !read.settings.enableHcmInternalNetworks) return {};
  const ranges = internalRanges(read.networks());
  return ranges.length > 0 ? { internal_address_config: { cidr_ranges: ranges } } : {};
}

/** CIDR ranges of all networks of the mesh, sorted. */
function internalRanges(networks: MeshNetworks): envoy.config.core.v3.CidrRange[] {
  const cidrs = Object.values(networks.networks).flatMap((network) => network.endpoints.map((e) => e.fromCidr ?? ""));
  return [...new Set(cidrs.map(canonicalRange))].filter((range) => range !== undefined && range !== ALL_ADDRESSES)
    .sort().map((range) => cidrRange(range ?? ""));
}
