import assert from "node:assert/strict";
import type { DestinationRuleSpec, HttpMatchRequest, HttpRoute } from "../../../lib/config/kinds/kinds.ts";
import type { EffectiveDestinationRule } from "../../../lib/mesh/types.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import { httpRoutes, type RouteContext } from "../../../lib/translate/route/virtual_service.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { meshReader, type ReaderWorld } from "../mesh_reader.ts";
import { ports, service, virtualService } from "./objects.ts";

type Route = envoy.config.route.v3.Route;

function translate(http: readonly HttpRoute[], world: ReaderWorld = {}, context: Partial<RouteContext> = {}) {
  const read = meshReader(world);
  const built = httpRoutes(virtualService(http), { read, port: 80, gateways: ["mesh"], tls: false, ...context });
  return { ...built, asked: read.asked };
}

function one(http: Partial<HttpRoute>, world: ReaderWorld = {}, context: Partial<RouteContext> = {}): Route {
  const { routes } = translate([{ route: to("b"), ...http }], world, context);
  assert.equal(routes.length, 1);
  return routes[0]!;
}

const to = (host: string) => [{ destination: { host } }];
const match = (m: HttpMatchRequest): Partial<HttpRoute> => ({ match: [m] });

const matches: [string, HttpMatchRequest, envoy.config.route.v3.RouteMatch][] = [
  ["nothing", {}, { prefix: "/" }],
  ["an exact path", { uri: { exact: "/a" } }, { path: "/a" }],
  ["a prefix", { uri: { prefix: "/a" } }, { prefix: "/a" }],
  ["an expression", { uri: { regex: "/a.*" } }, { safe_regex: { regex: "/a.*" } }],
  ["any case", { uri: { exact: "/a" }, ignoreUriCase: true }, { path: "/a", case_sensitive: { value: false } }],
  ["a method", { method: { exact: "GET" } }, {
    prefix: "/",
    headers: [{ name: ":method", string_match: { exact: "GET" } }],
  }],
  ["headers, sorted", { headers: { b: { exact: "1" }, a: { prefix: "p" } } }, {
    prefix: "/",
    headers: [{ name: "a", string_match: { prefix: "p" } }, { name: "b", string_match: { exact: "1" } }],
  }],
  ["presence", { headers: { a: {} }, queryParams: { q: {} } }, {
    prefix: "/",
    headers: [{ name: "a", present_match: true }],
    query_parameters: [{ name: "q", present_match: true }],
  }],
  ["absence", { withoutHeaders: { a: {}, b: { exact: "1" } } }, {
    prefix: "/",
    headers: [
      { name: "a", present_match: true, invert_match: true },
      { name: "b", string_match: { exact: "1" }, invert_match: true, treat_missing_header_as_empty: true },
    ],
  }],
  ["a token's claim", { headers: { "@request.auth.claims.group.id": { exact: "g" } } }, {
    prefix: "/",
    dynamic_metadata: [{
      filter: "envoy.filters.http.jwt_authn",
      path: [{ key: "payload" }, { key: "group" }, { key: "id" }],
      value: {
        or_match: {
          value_matchers: [{ string_match: { exact: "g" } }, {
            list_match: { one_of: { string_match: { exact: "g" } } },
          }],
        },
      },
    }],
  }],
  ["a claim's absence", { withoutHeaders: { "@request.auth.claims[a][b.c]": {} } }, {
    prefix: "/",
    dynamic_metadata: [{
      filter: "envoy.filters.http.jwt_authn",
      path: [{ key: "payload" }, { key: "a" }, { key: "b.c" }],
      value: { present_match: true },
      invert: true,
    }],
  }],
];
for (const [name, written, expected] of matches) {
  Deno.test(`match: ${name}`, () => assert.deepEqual(one(match(written)).match, expected));
}

const sources: [string, HttpMatchRequest, Partial<RouteContext>, boolean][] = [
  ["its port", { port: 80 }, {}, true],
  ["another port", { port: 81 }, {}, false],
  ["its gateway", { gateways: ["ns/gw", "mesh"] }, {}, true],
  ["another gateway", { gateways: ["ns/gw"] }, {}, false],
  ["its gateway, at a gateway", { gateways: ["ns/gw"] }, { gateways: ["ns/other", "ns/gw"] }, true],
  ["its namespace", { sourceNamespace: "default" }, {}, true],
  ["another namespace", { sourceNamespace: "elsewhere" }, {}, false],
  ["its labels", { sourceLabels: { app: "a" } }, {}, true],
  ["more labels than it has", { sourceLabels: { app: "a", tier: "x" } }, {}, false],
  ["its gateway but other labels", { gateways: ["mesh"], sourceLabels: { app: "b" } }, {}, false],
];
for (const [name, written, context, kept] of sources) {
  Deno.test(`a rule for ${name} is ${kept ? "kept" : "left out"}`, () => {
    const world = { properties: { labels: { app: "a", zone: "1" } } };
    const { routes } = translate([{ match: [written], route: to("b") }], world, context);
    assert.equal(routes.length, kept ? 1 : 0);
  });
}

Deno.test("questions about the source name only the fact and the role, and a rule of another port asks no question", () => {
  const rule = (m: HttpMatchRequest) => ({ match: [m], route: to("b") });
  const source = (rules: HttpRoute[]) =>
    translate(rules).asked.filter((q) => q.startsWith("derived/") || q.startsWith("property/"));
  assert.deepEqual(source([rule({ sourceNamespace: "x" }), rule({ sourceLabels: { b: "2", a: "1" } })]), [
    "derived/profile/waypoint",
    "derived/namespace=x",
    'derived/labels=[["a","1"],["b","2"]]',
  ]);
  assert.deepEqual(source([rule({ port: 81, sourceNamespace: "x" })]), []);
  assert.deepEqual(source([rule({ sourceNamespace: "x", sourceLabels: { a: "1" } })]), [
    "derived/profile/waypoint",
    "derived/namespace=x",
  ]);
});

Deno.test("rules behind one that takes every request are left out", () => {
  const rules = [
    { match: [{ uri: { exact: "/a" } }, { uri: { prefix: "/" } }, { uri: { exact: "/b" } }], route: to("b") },
    { route: to("c") },
  ];
  assert.deepEqual(translate(rules).routes.map((r) => r.match), [{ path: "/a" }, { prefix: "/" }]);
  const narrow = [{ match: [{ headers: { a: {} } }], route: to("b") }, { route: to("c") }];
  assert.equal(translate(narrow).routes.length, 2);
});

const services = [
  service({ hostname: "single.example.com", ports: ports([9090, "HTTP"]) }),
  service({ hostname: "double.example.com", ports: ports([80, "HTTP"], [81, "HTTP"]) }),
  service({ hostname: "alias.example.com", externalName: "Single.example.com" }),
  service({ hostname: "loop.example.com", externalName: "loop.example.com" }),
];
const clusters: [string, HttpRoute["route"], string][] = [
  ["the named port", [{ destination: { host: "double.example.com", port: { number: 81 } } }], "81||double.example.com"],
  ["the only port", to("single.example.com"), "9090||single.example.com"],
  ["the listener's port", to("double.example.com"), "80||double.example.com"],
  ["an unknown host", to("nowhere.example.com"), "80||nowhere.example.com"],
  ["a subset", [{ destination: { host: "single.example.com", subset: "v1" } }], "9090|v1|single.example.com"],
  ["what an alias stands for", to("alias.example.com"), "9090||single.example.com"],
  ["an alias of itself", to("loop.example.com"), "80||loop.example.com"],
];
for (const [name, route, cluster] of clusters) {
  Deno.test(`a destination leads to ${name}`, () => {
    assert.equal(one({ route: route! }, { services }).route?.cluster, `outbound|${cluster}`);
  });
}

Deno.test("weights become weighted clusters, destinations of weight 0 are left out", () => {
  const route = [
    { destination: { host: "a" }, weight: 3, headers: { request: { set: { host: "x.example.com", k: "v" } } } },
    { destination: { host: "b" }, weight: 1 },
    { destination: { host: "c" } },
  ];
  assert.deepEqual(one({ route }).route?.weighted_clusters?.clusters, [
    {
      name: "outbound|80||a",
      weight: { value: 3 },
      request_headers_to_add: [{ header: { key: "k", value: "v" }, append_action: 2 }],
      host_rewrite_literal: "x.example.com",
    },
    { name: "outbound|80||b", weight: { value: 1 } },
  ]);
});

Deno.test("a rule without any weight is left out and reported", () => {
  const { routes, warnings } = translate([{ name: "r", route: [...to("a"), ...to("b")] }]);
  assert.deepEqual(routes, []);
  assert.deepEqual(warnings.map(({ text }) => text), [
    'VirtualService default/vs: http[0] "r": no destination has a weight above 0; the rule is left out',
  ]);
});

Deno.test("header operations of rule and only destination are joined, pseudo headers never changed", () => {
  const built = one({
    headers: {
      request: { set: { b: "1", a: "1", ":path": "/x" }, remove: ["c", "Host"] },
      response: { add: { d: "1" } },
    },
    route: [{ destination: { host: "b" }, headers: { request: { add: { e: "1" } }, response: { remove: ["f"] } } }],
  });
  assert.deepEqual(built.request_headers_to_add?.map((h) => [h.header?.key, h.append_action]), [["a", 2], ["b", 2], [
    "e",
    0,
  ]]);
  assert.deepEqual(built.request_headers_to_remove, ["c"]);
  assert.deepEqual(built.response_headers_to_add?.map((h) => h.header?.key), ["d"]);
  assert.deepEqual(built.response_headers_to_remove, ["f"]);
});

const authorities: [string, Partial<HttpRoute>, string | undefined][] = [
  ["nothing", {}, undefined],
  ["the rule's Host header", { headers: { request: { set: { Host: "set" }, add: { host: "add" } } } }, "set"],
  ["the rewrite", { rewrite: { authority: "rewrite" }, headers: { request: { set: { host: "set" } } } }, "rewrite"],
  ["the destination", {
    route: [{ destination: { host: "b" }, headers: { request: { set: { ":authority": "dest" } } } }],
  }, "dest"],
  ["the rule before the destination", {
    rewrite: { authority: "rule" },
    route: [{ destination: { host: "b" }, headers: { request: { set: { host: "dest" } } } }],
  }, "rule"],
];
for (const [name, rule, expected] of authorities) {
  Deno.test(`the authority is rewritten by ${name}`, () => {
    assert.equal(one(rule).route?.host_rewrite_literal, expected);
  });
}

Deno.test("paths are rewritten by prefix or by expression", () => {
  assert.equal(one({ rewrite: { uri: "/b" } }).route?.prefix_rewrite, "/b");
  assert.deepEqual(one({ rewrite: { uriRegexRewrite: { match: "/a(.*)", rewrite: "\\1" } } }).route?.regex_rewrite, {
    pattern: { regex: "/a(.*)" },
    substitution: "\\1",
  });
});

Deno.test("a rule without a timeout has no timeout, unlike Envoy's default", () => {
  assert.deepEqual(one({}).route?.timeout, { seconds: 0 });
  assert.deepEqual(one({ timeout: 1500 }).route?.timeout, { seconds: 1, nanos: 500_000_000 });
});

Deno.test("retries: the mesh's by default, none by 0 attempts, status codes among the conditions", () => {
  const mesh = { defaultHttpRetryPolicy: { attempts: 7 } };
  assert.equal(one({}, { mesh }).route?.retry_policy?.num_retries?.value, 7);
  assert.equal(one({ retries: { attempts: 0 } }, { mesh }).route?.retry_policy, undefined);
  const own = one({ retries: { attempts: 1, retryOn: "5xx, 429,503" } }).route?.retry_policy;
  assert.equal(own?.retry_on, "5xx,retriable-status-codes");
  assert.deepEqual(own?.retriable_status_codes, [429, 503]);
  assert.equal(own?.retry_host_predicate?.length, 1);
});

const hashed = (spec: Partial<DestinationRuleSpec>): ReaderWorld["destinationRules"] => ({
  "single.example.com": rule(spec),
});
function rule(spec: Partial<DestinationRuleSpec>): EffectiveDestinationRule {
  const causes = ["DestinationRule/default/dr"];
  return { name: "dr", namespace: "default", spec: { host: "single.example.com", ...spec }, causes };
}

const header = { loadBalancer: { consistentHash: { httpHeaderName: "x" } } };
const source = { loadBalancer: { consistentHash: { useSourceIp: true } } };
const hashCases: [string, Partial<DestinationRuleSpec>, string | undefined, unknown][] = [
  ["a header", { trafficPolicy: header }, undefined, { header: { header_name: "x" } }],
  ["the source", { trafficPolicy: source }, undefined, { connection_properties: { source_ip: true } }],
  [
    "a query parameter",
    {
      trafficPolicy: { loadBalancer: { consistentHash: { httpQueryParameterName: "q" } } },
    },
    undefined,
    { query_parameter: { name: "q" } },
  ],
  [
    "a session cookie",
    {
      trafficPolicy: { loadBalancer: { consistentHash: { httpCookie: { name: "c", ttl: 0 } } } },
    },
    undefined,
    { cookie: { name: "c", ttl: { seconds: 0 } } },
  ],
  [
    "a port's own",
    {
      trafficPolicy: { ...header, portLevelSettings: [{ port: { number: 9090 }, ...source }] },
    },
    undefined,
    { connection_properties: { source_ip: true } },
  ],
  [
    "nothing where the port balances otherwise",
    {
      trafficPolicy: { ...header, portLevelSettings: [{ port: { number: 9090 }, loadBalancer: { simple: "RANDOM" } }] },
    },
    undefined,
    undefined,
  ],
  ["a subset's own", { trafficPolicy: header, subsets: [{ name: "v1", trafficPolicy: source }] }, "v1", {
    connection_properties: { source_ip: true },
  }],
  ["the rule's for a subset without", { trafficPolicy: header, subsets: [{ name: "v1" }] }, "v1", {
    header: { header_name: "x" },
  }],
];
for (const [name, spec, subset, expected] of hashCases) {
  Deno.test(`requests are hashed by ${name}`, () => {
    const route = [{ destination: { host: "single.example.com", ...(subset ? { subset } : {}) } }];
    const world = { services, destinationRules: hashed(spec)! };
    const action = one({ route }, world).route;
    assert.deepEqual(action?.hash_policy, expected ? [expected] : undefined);
    // A retried hashed request stays on its host.
    assert.equal(action?.retry_policy?.retry_host_predicate === undefined, expected !== undefined);
  });
}

Deno.test("a destination rule with a hash policy is a cause, a destination rule without is not", () => {
  const causes = (spec: Partial<DestinationRuleSpec>) =>
    translate([{ route: to("single.example.com") }], { services, destinationRules: hashed(spec)! }).causes;
  assert.deepEqual(causes({ trafficPolicy: header }), ["DestinationRule/default/dr"]);
  assert.deepEqual(causes({}), []);
});

const redirects: [string, HttpRoute["redirect"], Partial<RouteContext>, envoy.config.route.v3.RedirectAction][] = [
  ["moved", { uri: "/x", authority: "y" }, {}, { response_code: 0, path_redirect: "/x", host_redirect: "y" }],
  ["a code", { uri: "/x", redirectCode: 307 }, {}, { response_code: 3, path_redirect: "/x" }],
  ["a port", { port: 8443 }, {}, { response_code: 0, port_redirect: 8443 }],
  ["a scheme's own port", { port: 443, scheme: "https" }, {}, { response_code: 0, scheme_redirect: "https" }],
  ["the request's port", { derivePort: "FROM_REQUEST_PORT" }, { port: 8080 }, {
    response_code: 0,
    port_redirect: 8080,
  }],
  ["the request's port over TLS", { derivePort: "FROM_REQUEST_PORT" }, { port: 443, tls: true }, { response_code: 0 }],
  ["the protocol's port", { derivePort: "FROM_PROTOCOL_DEFAULT" }, { port: 8080 }, { response_code: 0 }],
];
for (const [name, redirect, context, expected] of redirects) {
  Deno.test(`redirect: ${name}`, () => {
    const { routes } = translate([{ redirect: redirect! }], {}, context);
    assert.deepEqual(routes[0]?.redirect, expected);
  });
}

Deno.test("a direct response carries text or bytes", () => {
  const body = (b: { string?: string; bytes?: string }) =>
    translate([{ directResponse: { status: 200, body: b } }]).routes[0]?.direct_response?.body;
  assert.deepEqual(body({ string: "hi" }), { inline_string: "hi" });
  assert.deepEqual(body({ bytes: "aGk=" }), { inline_bytes: new TextEncoder().encode("hi") });
});

Deno.test("an answer that Envoy could not give is left out and reported, and the rest stays", () => {
  const { routes, warnings } = translate([
    { match: [{ uri: { exact: "/a" } }], redirect: { uri: "/x", redirectCode: 304 } },
    { match: [{ uri: { exact: "/b" } }], directResponse: { status: 100 } },
    { route: to("b") },
  ]);
  assert.equal(routes.length, 1);
  assert.match(
    warnings.map(({ text }) => text).join("\n"),
    /http\[0\]: redirectCode 304.*\n.*http\[1\]: directResponse.status 100/,
  );
});

function perFilter<T>(rule: Partial<HttpRoute>, filter: string, type: string): T {
  return decode<T>(type, one(rule).typed_per_filter_config![filter]!.value!);
}

Deno.test("faults: shares to a millionth, absent shares are 0", () => {
  const fault = (f: HttpRoute["fault"]) =>
    perFilter({ fault: f! }, "envoy.filters.http.fault", "envoy.extensions.filters.http.fault.v3.HTTPFault");
  assert.deepEqual(fault({ delay: { fixedDelay: 7000, percentage: { value: 0.0001 } } }), {
    delay: { fixed_delay: { seconds: 7 }, percentage: { numerator: 1, denominator: 2 } },
  });
  assert.deepEqual(fault({ abort: { httpStatus: 500 } }), { abort: { http_status: 500, percentage: {} } });
  assert.deepEqual(fault({ abort: { grpcStatus: "CANCELLED", percentage: { value: 100 } } }), {
    abort: { grpc_status: 1, percentage: { numerator: 100 } },
  });
});

Deno.test("a fault that Envoy has not is left out and reported; the route stays without it", () => {
  const { routes, warnings } = translate([{
    route: to("b"),
    fault: { abort: { http2Error: "X" }, delay: { exponentialDelay: 5 } },
  }]);
  assert.equal(routes[0]?.typed_per_filter_config, undefined);
  assert.equal(warnings.length, 2);
});

Deno.test("CORS: unmatched preflights are forwarded unless they are to be ignored", () => {
  const cors = (unmatchedPreflights: "UNSPECIFIED" | "FORWARD" | "IGNORE") =>
    perFilter<envoy.extensions.filters.http.cors.v3.CorsPolicy>(
      { corsPolicy: { allowOrigin: ["a"], unmatchedPreflights } },
      "envoy.filters.http.cors",
      "envoy.extensions.filters.http.cors.v3.CorsPolicy",
    );
  assert.deepEqual(cors("UNSPECIFIED").forward_not_matching_preflights, { value: true });
  assert.deepEqual(cors("FORWARD").forward_not_matching_preflights, { value: true });
  assert.notEqual(cors("IGNORE").forward_not_matching_preflights?.value, true);
  assert.deepEqual(cors("IGNORE").allow_origin_string_match, [{ exact: "a" }]);
});

const mirrors: [string, Partial<HttpRoute>, [string, number][]][] = [
  ["all", { mirror: { host: "m" } }, [["m", 100]]],
  ["a share", { mirror: { host: "m" }, mirrorPercentage: { value: 50 } }, [["m", 50]]],
  ["the old share", { mirror: { host: "m" }, mirrorPercent: 20 }, [["m", 20]]],
  ["nothing at 0", { mirror: { host: "m" }, mirrorPercentage: { value: 0 } }, []],
  ["several", { mirrors: [{ destination: { host: "m" }, percentage: { value: 1 } }, { destination: { host: "n" } }] }, [
    ["m", 1],
    ["n", 100],
  ]],
];
for (const [name, rule, expected] of mirrors) {
  Deno.test(`mirror: ${name}`, () => {
    const policies = one(rule).route?.request_mirror_policies ?? [];
    const found = policies.map((p) => [p.cluster, p.runtime_fraction?.default_value?.numerator]);
    assert.deepEqual(found, expected.map(([host, share]) => [`outbound|80||${host}`, share]));
  });
}

Deno.test("a route names its rule and match, the object behind it, and its operation", () => {
  const named = one({
    name: "rule",
    match: [{ name: "m", uri: { prefix: "/p" }, statPrefix: "s" }],
    route: to("single.example.com"),
  }, { services });
  assert.equal(named.name, "rule.m");
  assert.equal(named.stat_prefix, "s");
  assert.equal(named.decorator?.operation, "single.example.com:9090/p*");
  const config = named.metadata?.filter_metadata?.istio?.fields?.config?.stringValue;
  assert.equal(config, "/apis/networking.mesh.io/v1/namespaces/default/virtual-service/vs");
  const weighted = [{ destination: { host: "a" }, weight: 1 }, { destination: { host: "b" }, weight: 1 }];
  assert.equal(one({ route: weighted }).decorator?.operation, "vs:80/*");
});

Deno.test("a service's session label keeps sessions on its routes, when the setting allows it", () => {
  const labels = { "mesh.io/persistent-session": "cookie:/path" };
  const world = { services: [service({ hostname: "single.example.com", labels })] };
  const rule = { route: to("single.example.com") };
  assert.equal(one(rule, world).typed_per_filter_config, undefined);
  const on = one(rule, { ...world, settings: { enablePersistentSessionFilter: true } });
  assert.deepEqual(Object.keys(on.typed_per_filter_config ?? {}), ["envoy.filters.http.stateful_session"]);
});
