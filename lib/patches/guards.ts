/**
 * Which patches may refuse requests or connections. A proxy that rejects a resource may get the resource without some
 * patches. But without a patch that may refuse, the resource would admit unwanted requests.
 *
 * The tables list harmless fields and filters. Everything else counts as a guard, including filters of later releases.
 *
 * @module
 */
import { type ApiMessage, decodeApi, packedName } from "../pb/envoy_api.ts";
import type { CompiledPatch, PatchTarget } from "./types.ts";

const EXTENSIONS = "envoy.extensions.";

/** Filters that admit every request, however they change requests or answers. */
const HARMLESS_FILTERS: ReadonlySet<string> = new Set([
  ...[
    "compressor",
    "decompressor",
    "grpc_stats",
    "grpc_web",
    "grpc_http1_bridge",
    "router",
    "tap",
    "cache",
    "bandwidth_limit",
    "stateful_session",
    "on_demand",
    "file_system_buffer",
  ].map((name) => `${EXTENSIONS}filters.http.${name}.v3.`),
  `${EXTENSIONS}filters.http.grpc_stats.v3.FilterConfig`,
  `${EXTENSIONS}filters.listener.http_inspector.v3.HttpInspector`,
  // Filters of Istio's own proxy: metrics, and protocols offered to services. A stock Envoy cannot read them.
  "stats.PluginConfig",
  "io.istio.http.peer_metadata.Config",
  "envoy.tcp.metadataexchange.config.MetadataExchange",
  "istio.envoy.config.filter.http.alpn.v2alpha1.FilterConfig",
]);

/** Fields of messages that refuse nothing. */
const HARMLESS_FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  CLUSTER: new Set([
    ...[
      "name",
      "alt_stat_name",
      "connect_timeout",
      "per_connection_buffer_limit_bytes",
      "lb_policy",
      "lb_subset_config",
    ],
    ...["ring_hash_lb_config", "maglev_lb_config", "least_request_lb_config", "round_robin_lb_config"],
    ...["common_lb_config", "load_balancing_policy", "health_checks", "circuit_breakers", "outlier_detection"],
    ...["upstream_connection_options", "cleanup_interval", "close_connections_on_host_health_failure", "metadata"],
    ...["ignore_health_on_host_removal", "track_timeout_budgets", "track_cluster_stats", "preconnect_policy"],
    ...["common_http_protocol_options", "http_protocol_options", "http2_protocol_options", "dns_refresh_rate"],
    ...["dns_failure_refresh_rate", "respect_dns_ttl", "dns_lookup_family", "wait_for_warm_on_init"],
    ...["connection_pool_per_downstream_connection", "max_requests_per_connection"],
  ]),
  LISTENER: new Set([
    ...["name", "stat_prefix", "per_connection_buffer_limit_bytes", "metadata", "drain_type", "access_log"],
    ...["listener_filters_timeout", "socket_options", "tcp_fast_open_queue_length", "connection_balance_config"],
    ...[
      "tcp_backlog_size",
      "enable_reuse_port",
      "reuse_port",
      "enable_mptcp",
      "max_connections_to_accept_per_socket_event",
    ],
  ]),
  ROUTE_CONFIGURATION: new Set(["name", "response_headers_to_add", "response_headers_to_remove", "metadata"]),
  VIRTUAL_HOST: new Set([
    ...["name", "response_headers_to_add", "response_headers_to_remove", "retry_policy", "hedge_policy", "metadata"],
    ...["include_request_attempt_count", "include_attempt_count_in_response", "per_request_buffer_limit_bytes"],
    ...["include_is_timeout_retry_header", "request_mirror_policies"],
  ]),
  HTTP_ROUTE: new Set([
    ...["name", "match", "metadata", "response_headers_to_add", "response_headers_to_remove"],
    ...["tracing", "per_request_buffer_limit_bytes", "stat_prefix"],
  ]),
  [`${EXTENSIONS}filters.network.http_connection_manager.v3.HttpConnectionManager`]: new Set([
    ...["stat_prefix", "tracing", "server_name", "server_header_transformation", "access_log", "access_log_options"],
    ...["idle_timeout", "stream_idle_timeout", "request_timeout", "drain_timeout", "delayed_close_timeout"],
    ...["common_http_protocol_options", "http_protocol_options", "http2_protocol_options", "http3_protocol_options"],
    ...["generate_request_id", "preserve_external_request_id", "always_set_request_id_in_response", "add_user_agent"],
    ...["upgrade_configs", "proxy_100_continue", "stream_error_on_invalid_http_message", "via"],
  ]),
  [`${EXTENSIONS}filters.network.tcp_proxy.v3.TcpProxy`]: new Set([
    ...["stat_prefix", "idle_timeout", "access_log", "access_log_options", "max_connect_attempts"],
    ...["max_downstream_connection_duration"],
  ]),
};

/** Fields of a route's action that refuse nothing and do not change the request for the service. */
const HARMLESS_ACTION: ReadonlySet<string> = new Set([
  ...["cluster", "cluster_header", "weighted_clusters", "timeout", "idle_timeout", "retry_policy", "hedge_policy"],
  ...["hash_policy", "priority", "max_stream_duration", "upgrade_configs", "request_mirror_policies"],
  ...["metadata_match", "cluster_not_found_response_code"],
]);

/** Parts of harmless fields of a connection manager that refuse requests. */
const REFUSING_PARTS: Readonly<Record<string, ReadonlySet<string>>> = {
  common_http_protocol_options: new Set(["headers_with_underscores_action", "max_headers_count"]),
};

/** Message of the HTTP settings of clusters, which may contain filters. */
const HTTP_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

const FILTERS: ReadonlySet<PatchTarget> = new Set(["LISTENER_FILTER", "NETWORK_FILTER", "HTTP_FILTER"]);

/** Whether a patch may refuse requests or connections that are admitted without the patch. */
export function mayRefuse({ applyTo, operation, value, unusable }: CompiledPatch): boolean {
  if (unusable !== undefined) return true;
  if (operation === "REMOVE") {
    // Without the patch, a filter remains active. But a route, a host, a chain or a cluster would be reachable again.
    return !FILTERS.has(applyTo);
  }
  if (FILTERS.has(applyTo)) return !isHarmlessFilter(value, operation === "MERGE");
  // Without the merged match, the route admits more requests.
  if (operation === "MERGE" && applyTo === "HTTP_ROUTE" && value["match"] !== undefined) return true;
  // Without the added cluster or listener, a route leads nowhere, or nothing listens.
  if (operation === "ADD" && (applyTo === "CLUSTER" || applyTo === "LISTENER")) return false;
  const fields = HARMLESS_FIELDS[applyTo];
  if (fields === undefined) return true;
  return Object.entries(value).some(([field, one]) => !fields.has(field) && !isHarmlessPart(applyTo, field, one));
}

/**
 * The same for a value that Envoy cannot read completely, judged by the names in the value. A field unknown to Envoy
 * may be a misspelled guard, so the field counts as refusing. An added cluster or listener counts as refusing as well:
 * the unreadable part may be the guard of the rest.
 *
 * @param json The value, not of a removal.
 */
export function mayRefuseAsWritten(applyTo: PatchTarget, operation: string, json: unknown): boolean {
  const fields = fieldsOfJson(json);
  if (FILTERS.has(applyTo)) {
    const config = fieldsOfJson(fields.get("typed_config"));
    const name = typeAsWritten(config.get("@type"), fields.has("config_discovery") ? "" : fields.get("name"));
    const known = operation === "MERGE" ? HARMLESS_FIELDS[name] : undefined;
    if (known !== undefined) {
      return config.entries().some(([field, one]) =>
        field !== "@type" && (!known.has(field) || hasRefusingPart(field, one))
      );
    }
    return !isHarmlessType(name);
  }
  const known = HARMLESS_FIELDS[applyTo];
  if (known === undefined) return true;
  return fields.entries().some(([field, one]) => {
    if (applyTo === "HTTP_ROUTE" && field === "match" && operation === "MERGE") return true;
    if (known.has(field)) return false;
    return applyTo !== "HTTP_ROUTE" || field !== "route" ||
      !isHarmlessAction(one);
  });
}

/**
 * The current type name of a filter's configuration: releases of Envoy before 1.18 had other packages. Without a type,
 * the filter's name determines the type.
 */
function typeAsWritten(type: unknown, name: unknown): string {
  if (typeof type === "string" && type !== "") {
    const words = packedName({ type_url: type }).split(".");
    const [, , , sort, filter] = words;
    const isOld = words.slice(0, 3).join(".") === "envoy.config.filter";
    return isOld ? `${EXTENSIONS}filters.${sort}.${filter}.v3.${words.at(-1)}` : words.join(".");
  }
  return typeof name === "string" && name.startsWith("envoy.filters.") ? `${EXTENSIONS}${name.slice(6)}.v3.` : "";
}

/** Values by field names of Envoy's messages. In JSON, field names may be in camel case. */
function fieldsOfJson(json: unknown): ReadonlyMap<string, unknown> {
  if (typeof json !== "object" || json === null) return new Map();
  return new Map(
    Object.entries(json).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

/** Whether a message in a field refuses nothing, if this depends on the message's content. */
function isHarmlessPart(applyTo: PatchTarget, field: string, value: unknown): boolean {
  if (applyTo === "HTTP_ROUTE" && field === "route") {
    return isHarmlessAction(value);
  }
  if (applyTo !== "CLUSTER" || field !== "typed_extension_protocol_options") return false;
  return Object.values(value as Readonly<Record<string, PackedFilter>>).every((any) =>
    packedName(any) === HTTP_OPTIONS && !fieldsOf(HTTP_OPTIONS, any.value).includes("http_filters")
  );
}

/** @param action A message, or JSON as it is written. */
function isHarmlessAction(action: unknown): boolean {
  return fieldsOfJson(action).entries().every(([field, one]) =>
    HARMLESS_ACTION.has(field) && !hasRefusingPart(field, one)
  );
}

/** Whether a harmless field has a part that refuses requests. @param value A message, or JSON as it is written. */
function hasRefusingPart(field: string, value: unknown): boolean {
  const parts = REFUSING_PARTS[field];
  if (parts !== undefined) return fieldsOfJson(value).keys().some((part) => parts.has(part));
  if (field !== "upgrade_configs" || !Array.isArray(value)) return false;
  // Upgrades may have filters of their own, and may be switched off.
  return value.some((one) => {
    const fields = fieldsOfJson(one);
    return fields.has("filters") || fields.has("enabled") && !isOn(fields.get("enabled"));
  });
}

function isOn(value: unknown): boolean {
  return value === true || fieldsOfJson(value).get("value") === true;
}

type PackedFilter = Parameters<typeof packedName>[0] & { readonly value?: Uint8Array };

function isHarmlessFilter(
  { name: called, typed_config: config, config_discovery }: ApiMessage,
  merges: boolean,
): boolean {
  const any = config as PackedFilter | undefined;
  if (any === undefined) return config_discovery === undefined && isHarmlessType(typeAsWritten(undefined, called));
  const name = packedName(any);
  const fields = merges ? HARMLESS_FIELDS[name] : undefined;
  if (fields === undefined) return isHarmlessType(name);
  const merged = Object.entries(decodeApi(name, any.value ?? new Uint8Array()));
  return merged.every(([field, one]) => fields.has(field) && !hasRefusingPart(field, one));
}

function isHarmlessType(name: string): boolean {
  return HARMLESS_FILTERS.has(name) || HARMLESS_FILTERS.has(name.slice(0, name.lastIndexOf(".") + 1));
}

function fieldsOf(name: string, value: Uint8Array | undefined): readonly string[] {
  return Object.keys(decodeApi(name, value ?? new Uint8Array()));
}
