/**
 * Planted mistakes, one per row: small wrong changes of builders under `lib/translate`, such as a flipped flag, a
 * dropped filter or a time wrong by a factor. `deno task mutations` reports which mistakes the tests catch.
 *
 * @module
 */

/** A planted mistake. */
export interface Mutation {
  /** The changed file, from the root of the tree. */
  readonly file: string;
  /** The replaced text. Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The resulting wrong behaviour of a proxy. */
  readonly breaks: string;
}

const ROUTES: readonly Mutation[] = [
  {
    file: "lib/translate/route/configuration.ts",
    find: "attemptCount?.disabled ? {} : { include_request_attempt_count: true };",
    replace: "attemptCount?.disabled ? {} : { include_request_attempt_count: false };",
    breaks: "the catch-all host does not count attempts",
  },
  {
    file: "lib/translate/route/configuration.ts",
    find: "direct_response: { status: 502 }",
    replace: "direct_response: { status: 503 }",
    breaks: "an unknown host is answered 503 in place of 502",
  },
  {
    file: "lib/translate/route/configuration.ts",
    find: "tellsPortsApart(read, name) ? {} : { ignore_port_in_host_matching: true }",
    replace: "tellsPortsApart(read, name) ? {} : { ignore_port_in_host_matching: false }",
    breaks: "a Host header with a port finds no virtual host",
  },
  {
    file: "lib/translate/route/sidecar.ts",
    find: "{ include_request_attempt_count: true }",
    replace: "{ include_request_attempt_count: false }",
    breaks: "the hosts of services do not count attempts",
  },
  {
    file: "lib/translate/route/default_route.ts",
    find: 'retry_on: "reset-before-request", num_retries: wrap(2)',
    replace: 'retry_on: "reset-before-request", num_retries: wrap(1)',
    breaks: "inbound requests are tried again once in place of twice",
  },
  {
    file: "lib/translate/route/default_route.ts",
    find: "max_stream_duration: { max_stream_duration: duration(0), grpc_timeout_header_max: duration(0) },",
    replace: "max_stream_duration: { max_stream_duration: duration(0) },",
    breaks: "inbound gRPC calls no longer end by the client's timeout",
  },
  {
    file: "lib/translate/route/retry.ts",
    find: "out.per_try_timeout = boundedDuration(retry.perTryTimeout);",
    replace: "out.per_try_timeout = boundedDuration(retry.perTryTimeout * 10);",
    breaks: "the timeout of a try is ten times as long",
  },
  {
    file: "lib/translate/route/retry.ts",
    find: "const HOST_SELECTION_ATTEMPTS = 5;",
    replace: "const HOST_SELECTION_ATTEMPTS = 3;",
    breaks: "a retry looks for another host three times in place of five",
  },
  {
    file: "lib/translate/route/action.ts",
    find: "trace_sampled: wrap(false),",
    replace: "trace_sampled: wrap(true),",
    breaks: "copies of requests are traced",
  },
  {
    file: "lib/translate/route/match.ts",
    find: "...(matcher.string_match ? { treat_missing_header_as_empty: true } : {})",
    replace: "...(matcher.string_match ? { treat_missing_header_as_empty: false } : {})",
    breaks: "withoutHeaders does not match a request without the header",
  },
  {
    file: "lib/translate/route/headers.ts",
    find: "...options(operations.set, warnings, Append.OVERWRITE_IF_EXISTS_OR_ADD),",
    replace: "...options(operations.set, warnings, Append.APPEND_IF_EXISTS_OR_ADD),",
    breaks: "headers that are set are appended",
  },
  {
    file: "lib/translate/route/answer.ts",
    find: '=== (scheme === "https" ? 443 :',
    replace: '=== (scheme === "https" ? 80 :',
    breaks: "redirects to https name port 443",
  },
  {
    file: "lib/translate/filters/http/cors/per_route.ts",
    find: "String(Math.trunc(cors.maxAge / 1000))",
    replace: "String(Math.trunc(cors.maxAge))",
    breaks: "browsers keep the answer of a preflight a thousand times as long",
  },
  {
    file: "lib/translate/filters/http/fault/per_route.ts",
    find: "const percentage = fractionOf(abort.percentage?.value ?? 0);",
    replace: "const percentage = fractionOf(abort.percentage?.value ?? 100);",
    breaks: "an abort without a percentage hits every request",
  },
];

const CLUSTERS: readonly Mutation[] = [
  {
    file: "lib/translate/cluster/connection_pool.ts",
    find: "track_remaining: true,",
    replace: "track_remaining: false,",
    breaks: "no statistics of the remaining connections",
  },
  {
    file: "lib/translate/cluster/connection_pool.ts",
    find: "max_retries: wrap(http?.maxRetries ?? UNLIMITED) }",
    replace: "max_retries: wrap(http?.maxRetries ?? 3) }",
    breaks: "three retries at a time where a rule names no limit",
  },
  {
    file: "lib/translate/cluster/connection_pool.ts",
    find: "keepalive_time: wrap(wholeSeconds(time))",
    replace: "keepalive_time: wrap(time)",
    breaks: "keepalive starts a thousand times as late",
  },
  {
    file: "lib/translate/cluster/dns.ts",
    find: "respect_dns_ttl: true,",
    replace: "respect_dns_ttl: false,",
    breaks: "names are resolved again too late",
  },
  {
    file: "lib/translate/cluster/dns.ts",
    find: "...(single && { all_addresses_in_single_endpoint: true }),",
    replace: "",
    breaks: "round robin DNS becomes strict DNS",
  },
  {
    file: "lib/translate/cluster/inbound.ts",
    find: "cleanup_interval: duration(NEVER),",
    replace: "",
    breaks: "connections to the workload are cleaned up while they are used",
  },
  {
    file: "lib/translate/cluster/load_balancer.ts",
    find: "min_weight_percent: { value: lb.warmup.minimumPercent ?? 10 },",
    replace: "min_weight_percent: { value: lb.warmup.minimumPercent ?? 1 },",
    breaks: "new endpoints start with a tenth of their share",
  },
  {
    file: "lib/translate/cluster/load_balancer.ts",
    find: "weighsLocalities(read, locality) && { locality_weighted_lb_config: {} }",
    replace: "!weighsLocalities(read, locality) && { locality_weighted_lb_config: {} }",
    breaks: "localities are weighed where they are not, and the reverse",
  },
  {
    file: "lib/translate/cluster/tls.ts",
    find: 'return { socket: ["istio-h2", "istio", "h2"] };',
    replace: 'return { socket: ["istio-h2", "istio"] };',
    breaks: "servers without a sidecar are not offered h2",
  },
  {
    file: "lib/translate/cluster/outlier.ts",
    find: "enforcing_success_rate: wrap(0),",
    replace: "enforcing_success_rate: wrap(100),",
    breaks: "endpoints are ejected by their rate of success",
  },
  {
    file: "lib/translate/cluster/static.ts",
    find: "const IDLE_TIMEOUT = 300_000;",
    replace: "const IDLE_TIMEOUT = 30_000;",
    breaks: "idle connections through the passthrough clusters end after 30 s",
  },
  {
    file: "lib/translate/cluster/static.ts",
    find: "upstream_bind_config: loopbackBind(read, true)",
    replace: "upstream_bind_config: loopbackBind(read, false)",
    breaks: "IPv6 connections of InboundPassthroughCluster are caught again",
  },
  {
    file: "lib/translate/cluster/tls.ts",
    find: 'version === "http2" && { alpn_protocols: ["h2"] }',
    replace: 'version === "http1" && { alpn_protocols: ["h2"] }',
    breaks: "TLS to HTTP/1 services offers h2",
  },
  {
    file: "lib/translate/cluster/hbone.ts",
    find: "upstream_port_override: wrap(HBONE_PORT),",
    replace: "",
    breaks: "HBONE is dialled at the port of the service",
  },
  {
    file: "lib/translate/endpoint/priority.ts",
    find: 'if (step === 3 && rule !== undefined && g.locality.split("/")[0] !== rule.to) step = 4;',
    replace: 'if (step === 3 && rule !== undefined && g.locality.split("/")[0] === rule.to) step = 4;',
    breaks: "failover prefers the regions that the rule does not name",
  },
  {
    file: "lib/translate/endpoint/lb_endpoint.ts",
    find: "if (endpoint.weight > 1)",
    replace: "if (endpoint.weight > 3)",
    breaks: "small weights of endpoints are lost",
  },
];

const LISTENERS: readonly Mutation[] = [
  {
    file: "lib/translate/filters/http/order.ts",
    find: "    ...built(faultFilter()),\n    ...built(corsFilter()),\n",
    replace: "    ...built(corsFilter()),\n    ...built(faultFilter()),\n",
    breaks: "CORS is answered before faults are injected",
  },
  {
    file: "lib/translate/filters/http/order.ts",
    find: "    ...built(grpcStatsFilter()),\n",
    replace: "",
    breaks: "no statistics of gRPC",
  },
  {
    file: "lib/translate/filters/http/grpc_stats/filter.ts",
    find: "emit_filter_state: true,",
    replace: "emit_filter_state: false,",
    breaks: "metrics of gRPC messages stay empty",
  },
  {
    file: "lib/translate/listener/http_connection_manager.ts",
    find: "...(read.settings.enable100ContinueHeaders ? { proxy_100_continue: true } : {}),",
    replace: "",
    breaks: "Expect: 100-continue is answered by the proxy",
  },
  {
    file: "lib/translate/listener/http_connection_manager.ts",
    find: 'normalize_path: wrap(how !== "NONE"),',
    replace: 'normalize_path: wrap(how === "NONE"),',
    breaks: "paths are normalized only where the mesh says not to",
  },
  {
    file: "lib/translate/listener/http_connection_manager.ts",
    find: 'direction === "outbound" ? {} : { http2_protocol_options: { allow_connect: true } }',
    replace: 'direction === "outbound" ? {} : { http2_protocol_options: { allow_connect: false } }',
    breaks: "WebSockets over HTTP/2 are refused by the server's proxy",
  },
  {
    file: "lib/translate/listener/virtual.ts",
    find: "use_original_dst: wrap(true),",
    replace: "use_original_dst: wrap(false),",
    breaks: "no outbound listener gets a connection",
  },
  {
    file: "lib/translate/listener/proxy_headers.ts",
    find: 'written === "UNDEFINED" ? "APPEND_FORWARD" : written',
    replace: 'written === "UNDEFINED" ? "SANITIZE" : written',
    breaks: "workloads do not see who calls them",
  },
  {
    file: "lib/translate/listener/inspectors.ts",
    find: 'captured && mode === "TPROXY" ? [originalSrcFilter()] : []',
    replace: "captured ? [originalSrcFilter()] : []",
    breaks: "the client's address is used without TPROXY",
  },
  {
    file: "lib/translate/listener/hbone/terminate.ts",
    find: "const MAX_STREAMS = 100;",
    replace: "const MAX_STREAMS = 1000;",
    breaks: "a client may open a thousand streams in an HBONE connection",
  },
  {
    file: "lib/translate/tls/mesh_server.ts",
    find: "require_client_certificate: wrap(true),",
    replace: "require_client_certificate: wrap(false),",
    breaks: "mutual TLS takes clients without a certificate",
  },
  {
    file: "lib/translate/tls/parameters.ts",
    find: 'minProtocolVersion === "TLSV1_3" ? Version.TLSv1_3 : Version.TLSv1_2',
    replace: 'minProtocolVersion === "TLSV1_3" ? Version.TLSv1_2 : Version.TLSv1_2',
    breaks: "the mesh's minimum of TLS 1.3 is not kept",
  },
  {
    file: "lib/translate/filters/network/rbac.ts",
    find: "failure_mode_allow: authorizer.grpc?.failOpen ?? false,",
    replace: "failure_mode_allow: authorizer.grpc?.failOpen ?? true,",
    breaks: "connections pass where the authorizer does not answer",
  },
  {
    file: "lib/translate/filters/http/ext_authz/authorizer.ts",
    find: "const DEFAULT_TIMEOUT_MS = 600_000;",
    replace: "const DEFAULT_TIMEOUT_MS = 600;",
    breaks: "authorizers have 600 ms in place of 600 s",
  },
  {
    file: "lib/translate/filters/http/jwt_authn/filter.ts",
    find: "bypass_cors_preflight: true,",
    replace: "bypass_cors_preflight: false,",
    breaks: "preflights without a token are refused",
  },
  {
    file: "lib/translate/telemetry/tracing.ts",
    find: "found.samples ? 100 : use.sampling",
    replace: "found.samples ? 1 : use.sampling",
    breaks: "a tracer that samples itself sees one request of a hundred",
  },
];

const OTHERS: readonly Mutation[] = [
  {
    file: "lib/translate/listener/downstream_tls.ts",
    find: 'require_client_certificate: wrap(tls.mode === "MUTUAL" || tls.mode === "MESH_MUTUAL"),',
    replace: 'require_client_certificate: wrap(tls.mode === "MUTUAL"),',
    breaks: "gateways of mode MESH_MUTUAL take clients without a certificate",
  },
  {
    file: "lib/translate/gateway/http3.ts",
    find: "const OFFER_LIFETIME_S = 86_400;",
    replace: "const OFFER_LIFETIME_S = 8_640;",
    breaks: "clients forget the offer of HTTP/3 after two hours",
  },
  {
    file: "lib/translate/extension/wasm.ts",
    find: '...(failStrategy === "FAIL_OPEN" ? {} : { rules: {} }),',
    replace: '...(failStrategy === "FAIL_OPEN" ? { rules: {} } : {}),',
    breaks: "a plugin that cannot run lets everything pass",
  },
  {
    file: "lib/translate/proxyless/servers.ts",
    find: 'if (mode !== "PERMISSIVE") return mode === "STRICT";',
    replace: 'if (mode !== "PERMISSIVE") return mode === "DISABLE";',
    breaks: "gRPC servers of mode STRICT take plain calls",
  },
];

/** The fifty mistakes. */
export const MUTATIONS: readonly Mutation[] = [...ROUTES, ...CLUSTERS, ...LISTENERS, ...OTHERS];
