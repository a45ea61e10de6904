/** Which patches may refuse requests, so that nothing is served without such a patch. */
import assert from "node:assert/strict";
import { mayRefuse } from "../../lib/patches/guards.ts";
import { compiledOf, patchesOf, type WrittenPatch } from "./patches.ts";

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
  "names with underscores that are refused": manager({
    common_http_protocol_options: { headers_with_underscores_action: "REJECT_REQUEST" },
  }),
  "many headers that are refused": manager({ common_http_protocol_options: { max_headers_count: 50 } }),
  "upgrades that are switched off": manager({ upgrade_configs: [{ upgrade_type: "websocket", enabled: false }] }),
  "filters of upgrades": manager({ upgrade_configs: [{ upgrade_type: "websocket", filters: [{ name: "x" }] }] }),
  "upgrades that a route refuses": merge("HTTP_ROUTE", {
    route: { upgrade_configs: [{ upgrade_type: "websocket", enabled: false }] },
  }),
  "a route for fewer requests": merge("HTTP_ROUTE", {
    match: { headers: [{ name: "x-internal", present_match: true }] },
  }),
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
  "timeouts of connections": manager({ common_http_protocol_options: { idle_timeout: "5s" } }),
  "upgrades": manager({ upgrade_configs: [{ upgrade_type: "websocket", enabled: true }] }),
  "another route": {
    applyTo: "HTTP_ROUTE",
    patch: { operation: "INSERT_FIRST", value: { match: { prefix: "/a" }, route: { cluster: "c" } } },
  },
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

/** Values that Envoy cannot read, and whether the target is closed. */
const UNREADABLE: readonly (readonly [what: string, patch: WrittenPatch, closes: boolean])[] = [
  ["rules about principals, with a mistake", http("rbac.v3.RBAC", "INSERT_FIRST", { rulez: 1 }), true],
  ["a filter that Envoy lacks", http("guard.v3.Guard"), true],
  ["compression, with a mistake", http("compressor.v3.Compressor", "INSERT_FIRST", { librry: 1 }), false],
  [
    "compression, with a value of another kind",
    http("compressor.v3.Compressor", "INSERT_FIRST", { choose_first: 3 }),
    false,
  ],
  ["a script under the name of an old release", old("lua.v2.Lua"), true],
  ["compression under the name of an old release", old("grpc_stats.v2alpha.FilterConfig"), false],
  ["a filter of which the name alone can be read", named("envoy.filters.http.rbac"), true],
  ["a harmless filter of which the name alone can be read", named("envoy.filters.http.grpc_web"), false],
  ["nothing that can be read", { applyTo: "HTTP_FILTER", patch: { operation: "INSERT_FIRST", value: { x: 1 } } }, true],
  ["a timeout of a manager, with a mistake in it", manager({ http_protocol_options: { nope: 1 } }), false],
  [
    "names with underscores that are refused, with a mistake",
    manager({
      commonHttpProtocolOptions: { headersWithUnderscoresAction: "REJECT" },
    }),
    true,
  ],
  ["a route for fewer requests, with a mistake", merge("HTTP_ROUTE", { match: { headrs: 1 } }), true],
  ["a field that managers lack", manager({ path_with_escaped_slashes_akton: 1 }), true],
  ["a timeout of a cluster that is no duration", merge("CLUSTER", { connect_timeout: "soon" }), false],
  ["a field that clusters lack", merge("CLUSTER", { transport_sokcet: {} }), true],
  ["a whole cluster with a field that clusters lack", {
    applyTo: "CLUSTER",
    patch: { operation: "ADD", value: { name: "c", transport_sokcet: {} } },
  }, true],
  ["a timeout of a route, with a mistake", merge("HTTP_ROUTE", { route: { timeout: "soon" } }), false],
  [
    "a rewrite of a route, with a mistake",
    merge("HTTP_ROUTE", { route: { prefix_rewrite: 1, timeout: "soon" } }),
    true,
  ],
  ["an answer of a route, with a mistake", merge("HTTP_ROUTE", { direct_response: { status: "no" } }), true],
  ["a chain, with a mistake", { applyTo: "FILTER_CHAIN", patch: { operation: "ADD", value: { filterz: [] } } }, true],
];

function old(type: string): WrittenPatch {
  const value = { name: "one", typed_config: packed(`envoy.config.filter.http.${type}`) };
  return { applyTo: "HTTP_FILTER", patch: { operation: "INSERT_FIRST", value } };
}

function named(name: string): WrittenPatch {
  return { applyTo: "HTTP_FILTER", patch: { operation: "INSERT_FIRST", value: { name, config: {} } } };
}

for (const [what, patch, closes] of UNREADABLE) {
  Deno.test(`what cannot be read is ${closes ? "closed" : "left out, or goes without that part"}: ${what}`, () => {
    const { patches, problems } = compiledOf(patch);
    assert.match(problems[0]?.what ?? "", /refused|left out/);
    assert.equal(patches.some(({ unusable }) => unusable !== undefined), closes, problems[0]!.text);
    assert.equal(/admit nothing/.test(problems[0]!.text), closes, problems[0]!.text);
    for (const one of patches) assert.equal(mayRefuse(one), closes);
  });
}
