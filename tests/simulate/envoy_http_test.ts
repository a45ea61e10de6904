import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { type RequestHeaders, simulate, type SimulatedRequest } from "../../lib/simulate/mod.ts";
import { any } from "../../lib/pb/codec.ts";
import type { envoy } from "../../proto/gen/types.ts";
import { envoyPath } from "../envoy/path.ts";
import { resourcesOf } from "./resources.ts";
import { httpExchange } from "../envoy/requests.ts";
import { startStatic } from "../envoy/static.ts";
import { seedOr } from "../properties.ts";

type Route = envoy.config.route.v3.Route;
type RouteMatch = envoy.config.route.v3.RouteMatch;
type HeaderMatcher = envoy.config.route.v3.HeaderMatcher;
type StringMatcher = envoy.type.matcher.v3.StringMatcher;
type VirtualHost = envoy.config.route.v3.VirtualHost;
type Hcm = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;

const DOMAINS = ["a.com", "b.a.com", "*.a.com", "*-x.a.com", "*.com", "a.*", "b.a.*", "*", "a.com:81", "A.org"];
const HOSTS = [
  "a.com",
  "A.com",
  "b.a.com",
  "c.a.com",
  "y-x.a.com",
  ".a.com",
  "a.com:81",
  "a.org",
  "a.de",
  "b.a.de",
  "z",
];
const PATHS = [
  "/",
  "/a",
  "/A",
  "/a/",
  "/a/b",
  "/ab",
  "/b/c?x=1",
  "/a?x=",
  "/a/../b",
  "/%61/b",
  "/a//b",
  "/a%2Fb",
  "/a?y=2&x=v",
  "/a?x=w&x=v",
];

const anyString: fc.Arbitrary<StringMatcher> = fc.oneof(
  fc.constantFrom<StringMatcher>(
    { exact: "v" },
    { prefix: "v" },
    { suffix: "w" },
    { contains: "v" },
    { safe_regex: { regex: "v+" } },
    { safe_regex: { regex: "v*" } },
    { exact: "V", ignore_case: true },
  ),
);
const anyHeader: fc.Arbitrary<HeaderMatcher> = fc.record({
  name: fc.constantFrom("x-h", ":method", ":authority"),
  how: fc.oneof(
    anyString.map((string_match) => ({ string_match })),
    fc.constantFrom<Partial<HeaderMatcher>>({ present_match: true }, { present_match: false }, {
      range_match: { start: 1, end: 5 },
    }, {}),
  ),
  invert_match: fc.boolean(),
  treat_missing_header_as_empty: fc.boolean(),
}).map(({ name, how, ...rest }) => ({ name, ...how, ...rest }));
const anyMatch: fc.Arbitrary<RouteMatch> = fc.record({
  path: fc.constantFrom<RouteMatch>(
    { prefix: "/" },
    { prefix: "/a" },
    { prefix: "/a/" },
    { path: "/a" },
    { path: "/a/b" },
    { path_separated_prefix: "/a" },
    { safe_regex: { regex: "/a.*" } },
    { safe_regex: { regex: "/(a|b)/." } },
  ),
  caseless: fc.boolean(),
  headers: fc.array(anyHeader, { maxLength: 1 }),
  query: fc.option(
    fc.oneof(
      anyString.map((string_match) => ({ name: "x", string_match })),
      fc.constantFrom({ name: "x", present_match: true }, { name: "x", present_match: false }, { name: "x" }),
    ),
  ),
}).map(({ path, caseless, headers, query }) => ({
  ...path,
  ...(caseless && !path.safe_regex ? { case_sensitive: { value: false } } : {}),
  ...(headers.length > 0 ? { headers } : {}),
  ...(query ? { query_parameters: [query] } : {}),
}));
const anyAction: fc.Arbitrary<Partial<Route>> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Partial<Route>>({ direct_response: { status: 203 } }) },
  fc.record({
    https_redirect: fc.boolean(),
    host_redirect: fc.constantFrom("", "new.com"),
    port_redirect: fc.constantFrom(0, 8443),
    path: fc.constantFrom({}, { path_redirect: "/new" }, { path_redirect: "/new?n=1" }, { prefix_rewrite: "/pre" }),
    response_code: fc.constantFrom(0, 1, 2, 3, 4),
    strip_query: fc.boolean(),
  }).map(({ path, ...redirect }) => ({ redirect: { ...redirect, ...path } as envoy.config.route.v3.RedirectAction })),
  fc.constantFrom<Partial<envoy.config.route.v3.RouteAction>>(
    {},
    { prefix_rewrite: "/pre" },
    { host_rewrite_literal: "rewritten.com" },
    { regex_rewrite: { pattern: { regex: "/([a-z]+)" }, substitution: "/-\\1-" } },
  ).map((rewrite) => ({ route: { cluster: "echo", ...rewrite } as envoy.config.route.v3.RouteAction })),
  fc.constant<Partial<Route>>({ route: { cluster: "missing" } as envoy.config.route.v3.RouteAction }),
  fc.constant<Partial<Route>>({ route: { cluster: "empty" } as envoy.config.route.v3.RouteAction }),
);
const anyRoute: fc.Arbitrary<Route> = fc.tuple(anyMatch, anyAction).map(([match, action]) =>
  ({ match, ...action }) as Route
);
const anyHosts: fc.Arbitrary<VirtualHost[]> = fc.tuple(
  fc.subarray(DOMAINS, { minLength: 1 }),
  fc.array(fc.array(anyRoute, { minLength: 1, maxLength: 4 }), {
    minLength: DOMAINS.length,
    maxLength: DOMAINS.length,
  }),
).map(([domains, routes]) =>
  domains.map((domain, i) => ({
    name: `h${i}`,
    domains: [domain],
    routes: routes[i]!.map((route, j) => ({
      ...route,
      name: `h${i}#${j}`,
      response_headers_to_add: [{ header: { key: "x-route", value: `h${i}#${j}` } }],
    })),
  }))
);
const anyHcm: fc.Arbitrary<Partial<Hcm>> = fc.record({
  normalize_path: fc.boolean().map((value) => ({ value })),
  merge_slashes: fc.boolean(),
  strip_any_host_port: fc.boolean(),
  path_with_escaped_slashes_action: fc.constantFrom(1, 2, 4) as fc.Arbitrary<
    NonNullable<Hcm["path_with_escaped_slashes_action"]>
  >,
});
const anyRequest = fc.record({
  host: fc.constantFrom(...HOSTS),
  path: fc.constantFrom(...PATHS),
  method: fc.constantFrom("GET", "POST"),
  headers: fc.constantFrom<RequestHeaders>(
    ...[{}, { "x-h": "" }, { "x-h": "v" }, { "x-h": "vw" }, { "x-h": "V" }, { "X-H": "3" }, { "x-h": "-7" }],
    ...[{ "x-h": ["w", "v"] }, { "x-h": ["v", "w"], "X-H": "3" }, { "x-h": ["", "V"] }],
  ),
});

const path = envoyPath();

Deno.test({
  name: "requests through random routes: the simulator gives the route, answer, redirect and rewrite of a real Envoy",
  ignore: path === undefined,
  fn: async () => {
    const seed = seedOr(20261);
    const configurations = fc.sample(fc.tuple(anyHosts, anyHcm, fc.boolean()), { numRuns: 30, seed });
    const requests = fc.sample(anyRequest, { numRuns: 30 * 40, seed });
    await using upstream = await echoServer();
    const listeners = configurations.map(([virtual_hosts, hcm, ignorePort], i) =>
      listener(`l${i}`, virtual_hosts, hcm, ignorePort)
    );
    const clusters = [cluster("echo", upstream.port), cluster("empty")];
    const resources = resourcesOf({ listeners, clusters });
    const envoy = await startStatic(path!, { listeners, clusters });
    try {
      const differences: unknown[] = [];
      const routes = new Set<string>();
      for (const [i, request] of requests.entries()) {
        const name = `l${i % listeners.length}`;
        const real = await httpExchange(envoy.port(name), request);
        const reported = verdict(
          { ...resources, listeners: new Map([[name, resources.listeners.get(name)!]]) },
          request,
        );
        const seen = {
          route: real.headers.get("x-route") ?? "",
          status: real.status,
          location: real.headers.get("location") ?? "",
          ...(real.status === 200 ? { echo: JSON.parse(real.body) } : {}),
        };
        routes.add(seen.route);
        try {
          assert.deepEqual(reported, seen);
        } catch {
          differences.push({
            request,
            reported,
            seen,
            config: JSON.stringify(listenerConfig(configurations[i % listeners.length]!, reported.route, seen.route)),
          });
        }
      }
      assert.deepEqual(differences.slice(0, 5), []);
      assert.ok(routes.size > 15, `the comparison saw only ${[...routes]}`);
    } finally {
      await envoy.stop();
    }
  },
});

function verdict(
  resources: ReturnType<typeof resourcesOf>,
  request: Omit<SimulatedRequest, "direction" | "destination" | "protocol">,
) {
  const { steps, outcome } = simulate(resources, {
    direction: "direct",
    destination: { ip: "127.0.0.1", port: 0 },
    protocol: "http",
    ...request,
  });
  const action = steps.find((step) => step.step === "action");
  const route = steps.find((step) => step.step === "route")?.name ?? "";
  if (outcome.kind !== "forwarded") {
    assert.equal(outcome.kind, "answered", JSON.stringify(outcome));
    return {
      route,
      status: outcome.kind === "answered" ? outcome.status : 0,
      location: outcome.kind === "answered" ? outcome.location ?? "" : "",
    };
  }
  return { route, status: 200, location: "", echo: { path: action?.path, host: action?.authority } };
}

function listenerConfig([hosts]: [VirtualHost[], Partial<Hcm>, boolean], ...names: string[]) {
  return hosts.flatMap((host) =>
    (host.routes ?? []).filter((route) => names.includes(route.name ?? "")).map((route) => [host.domains, route])
  );
}

function listener(
  name: string,
  virtual_hosts: VirtualHost[],
  hcm: Partial<Hcm>,
  ignorePort: boolean,
): envoy.config.listener.v3.Listener {
  const config: Hcm = {
    stat_prefix: name,
    route_config: {
      name,
      virtual_hosts,
      ignore_port_in_host_matching: ignorePort,
      validate_clusters: { value: false },
    },
    http_filters: [{
      name: "envoy.filters.http.router",
      typed_config: any("envoy.extensions.filters.http.router.v3.Router"),
    }],
    ...hcm,
  };
  return {
    name,
    address: { socket_address: { address: "127.0.0.1", port_value: 0 } },
    filter_chains: [{
      filters: [{
        name: "envoy.filters.network.http_connection_manager",
        typed_config: any("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", config),
      }],
    }],
  };
}

function cluster(name: string, port?: number): envoy.config.cluster.v3.Cluster {
  const lb_endpoints = port === undefined
    ? []
    : [{ endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: port } } } }];
  return { name, type: 0, load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints }] } };
}

/** Reports path and host unchanged; a request with a parsed URL would change them. */
async function echoServer() {
  const server = createServer((request, response) => {
    response.end(JSON.stringify({ path: request.url, host: request.headers.host }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
