/** Which patches may refuse requests, so that nothing is served without them. */
import assert from "node:assert/strict";
import { mayRefuse } from "../../lib/patches/guards.ts";
import { patchesOf, type WrittenPatch } from "./patches.ts";

const FILTERS = "envoy.extensions.filters";
const MANAGER = "envoy.filters.network.http_connection_manager";

const packed = (type: string, more: object = {}) => ({ "@type": `type.googleapis.com/${type}`, ...more });
const http = (type: string, operation = "INSERT_FIRST", more: object = {}): WrittenPatch => ({
  applyTo: "HTTP_FILTER",
  patch: { operation, value: { name: "one", typed_config: packed(`${FILTERS}.http.${type}`, more) } },
});
const merge = (applyTo: string, value: object): WrittenPatch => ({ applyTo, patch: { operation: "MERGE", value } });
const manager = (more: object): WrittenPatch =>
  merge("NETWORK_FILTER", {
    typed_config: packed(`${FILTERS}.network.http_connection_manager.v3.HttpConnectionManager`, more),
  });
const httpOptions = (more: object) =>
  merge("CLUSTER", {
    typed_extension_protocol_options: {
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": packed(
        "envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        more,
      ),
    },
  });

const GUARDS: Readonly<Record<string, WrittenPatch>> = {
  "rules about principals": http("rbac.v3.RBAC"),
  "an external authorizer": http("ext_authz.v3.ExtAuthz"),
  "tokens": http("jwt_authn.v3.JwtAuthentication"),
  "a script": http("lua.v3.Lua"),
  "a Wasm module": http("wasm.v3.Wasm"),
  "a limit of requests": http("local_ratelimit.v3.LocalRateLimit", "INSERT_FIRST", { stat_prefix: "x" }),
  "an external processor": http("ext_proc.v3.ExternalProcessor"),
  "headers that are taken off": http("header_mutation.v3.HeaderMutation"),
  "a filter by another operation": http("rbac.v3.RBAC", "REPLACE"),
  "a merge into a guard": http("rbac.v3.RBAC", "MERGE"),
  "a filter whose configuration comes later": {
    applyTo: "HTTP_FILTER",
    patch: {
      operation: "INSERT_FIRST",
      value: { name: "x", config_discovery: { type_urls: [`type.googleapis.com/${FILTERS}.http.rbac.v3.RBAC`] } },
    },
  },
  "a route with an answer": {
    applyTo: "HTTP_ROUTE",
    patch: { operation: "INSERT_FIRST", value: { match: { prefix: "/admin" }, direct_response: { status: 403 } } },
  },
  "a route to another path": merge("HTTP_ROUTE", { route: { prefix_rewrite: "/" } }),
  "settings of filters on a route": merge("HTTP_ROUTE", {
    typed_per_filter_config: { x: packed(`${FILTERS}.http.rbac.v3.RBACPerRoute`) },
  }),
  "TLS alone": merge("VIRTUAL_HOST", { require_tls: "ALL" }),
  "headers that routes take off": merge("ROUTE_CONFIGURATION", { request_headers_to_remove: ["x-user"] }),
  "client certificates": merge("FILTER_CHAIN", { transport_socket: { name: "envoy.transport_sockets.tls" } }),
  "another chain": { applyTo: "FILTER_CHAIN", patch: { operation: "ADD", value: { name: "c" } } },
  "TLS to a service": merge("CLUSTER", { transport_socket: { name: "envoy.transport_sockets.tls" } }),
  "filters of a cluster": httpOptions({
    explicit_http_config: { http_protocol_options: {} },
    http_filters: [{ name: "x" }],
  }),
  "paths that are refused": manager({ path_with_escaped_slashes_action: "REJECT_REQUEST" }),
  "a removed route": { applyTo: "HTTP_ROUTE", patch: { operation: "REMOVE" } },
  "a removed cluster": { applyTo: "CLUSTER", patch: { operation: "REMOVE" } },
};

const HARMLESS: Readonly<Record<string, WrittenPatch>> = {
  "compression": http("compressor.v3.Compressor", "INSERT_FIRST", { compressor_library: { name: "x" } }),
  "statistics": http("grpc_stats.v3.FilterConfig"),
  "a removed filter": {
    applyTo: "HTTP_FILTER",
    match: { listener: { filterChain: { filter: { name: MANAGER, subFilter: { name: "x" } } } } },
    patch: { operation: "REMOVE" },
  },
  "timeouts and balancing": merge("CLUSTER", { connect_timeout: "1s", lb_policy: "RANDOM", outlier_detection: {} }),
  "HTTP/2 to a service": httpOptions({ explicit_http_config: { http2_protocol_options: {} } }),
  "an added cluster": { applyTo: "CLUSTER", patch: { operation: "ADD", value: { name: "c" } } },
  "an added listener": { applyTo: "LISTENER", patch: { operation: "ADD", value: { name: "l" } } },
  "buffers of a listener": merge("LISTENER", { per_connection_buffer_limit_bytes: 1024 }),
  "timeouts of a manager": manager({ stream_idle_timeout: "5s", server_name: "x" }),
  "retries": merge("VIRTUAL_HOST", { retry_policy: { num_retries: 2 } }),
  "a timeout of a route": merge("HTTP_ROUTE", { route: { timeout: "3s" } }),
};

function refuses(patch: WrittenPatch): boolean {
  const [compiled, ...more] = patchesOf(patch);
  assert.ok(compiled !== undefined && more.length === 0);
  return mayRefuse(compiled);
}

for (const [name, patch] of Object.entries(GUARDS)) {
  Deno.test(`nothing is served without ${name}`, () => assert.equal(refuses(patch), true));
}

for (const [name, patch] of Object.entries(HARMLESS)) {
  Deno.test(`a resource may be served without ${name}`, () => assert.equal(refuses(patch), false));
}

Deno.test("a filter of another build counts as a guard", () => {
  const value = { name: "x", typed_config: packed("udpa.type.v1.TypedStruct", { type_url: "t/a.b.C", value: {} }) };
  assert.equal(refuses({ applyTo: "HTTP_FILTER", patch: { operation: "INSERT_FIRST", value } }), true);
});
