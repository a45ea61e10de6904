import assert from "node:assert/strict";
import { explain, resourcesFrom, simulate, type SimulatedRequest } from "../../lib/simulate/mod.ts";
import { any, encode, TYPE_URL_PREFIX } from "../../lib/pb/codec.ts";
import { struct, wrap } from "../../lib/pb/wellknown.ts";
import { TrafficDirection } from "../../proto/gen/enums.ts";
import type { envoy } from "../../proto/gen/types.ts";
import { type Messages, resourcesOf } from "./resources.ts";

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;
type VirtualHost = envoy.config.route.v3.VirtualHost;
type Route = envoy.config.route.v3.Route;

const TLS_INSPECTOR = listenerFilter("tls_inspector.v3.TlsInspector");
const HTTP_INSPECTOR = listenerFilter("http_inspector.v3.HttpInspector");

/** A sidecar with an HTTP service, a TCP service with an address, and a fallthrough for everything else. */
const SIDECAR: Messages = {
  listeners: [
    {
      name: "virtualOutbound",
      address: socket("0.0.0.0", 15001),
      use_original_dst: wrap(true),
      traffic_direction: TrafficDirection.OUTBOUND,
      filter_chains: [{ name: "fallthrough", filters: [tcp("PassthroughCluster")] }],
    },
    {
      name: "0.0.0.0_80",
      address: socket("0.0.0.0", 80),
      bind_to_port: wrap(false),
      listener_filters: [HTTP_INSPECTOR],
      filter_chains: [{
        filter_chain_match: { transport_protocol: "raw_buffer", application_protocols: ["http/1.1", "h2c"] },
        filters: [http("80")],
      }],
      default_filter_chain: { name: "PassthroughFilterChain", filters: [tcp("PassthroughCluster")] },
    },
    {
      name: "10.0.0.5_3306",
      address: socket("10.0.0.5", 3306),
      bind_to_port: wrap(false),
      filter_chains: [{
        filters: [tcp([["db-v1", 90], ["db-v2", 10]])],
        metadata: causedBy("/apis/networking.mesh.io/v1/namespaces/default/virtual-service/db"),
      }],
    },
  ],
  routes: [{
    name: "80",
    vhds: {},
    virtual_hosts: [virtualHost("allow_any", ["*"], [{ match: { prefix: "/" }, ...to("PassthroughCluster") }])],
  }],
  virtualHosts: {
    "80/reviews:80": virtualHost("reviews:80", ["reviews", "reviews.default"], [
      {
        name: "test",
        match: { prefix: "/", headers: [{ name: "end-user", string_match: { exact: "jason" } }] },
        ...to("v2"),
        metadata: causedBy("/apis/networking.mesh.io/v1/namespaces/default/virtual-service/reviews"),
      },
      {
        match: { prefix: "/old" },
        redirect: { path_redirect: "/new", response_code: 1 },
      },
      {
        match: { prefix: "/" },
        route: { weighted_clusters: { clusters: [{ name: "v1", weight: wrap(9) }, { name: "v2", weight: wrap(1) }] } },
      },
    ]),
  },
  clusters: [
    { name: "PassthroughCluster", type: 4 },
    eds("v1"),
    { ...eds("v2"), metadata: causedBy("/apis/networking.mesh.io/v1/namespaces/default/destination-rule/reviews") },
    eds("db-v1"),
    eds("db-v2"),
  ],
  assignments: [
    assignment("v1", ["10.1.0.1", 0, 1], ["10.1.0.2", 1, 1]),
    assignment("v2", ["10.1.0.3", 0, 3]),
    assignment("db-v1", ["10.1.0.4", 0, 1]),
  ],
};

function outbound(more: Partial<SimulatedRequest> = {}): SimulatedRequest {
  return {
    direction: "outbound",
    destination: { ip: "10.0.0.1", port: 80 },
    protocol: "http",
    host: "reviews",
    ...more,
  };
}

function run(messages: Messages, request: SimulatedRequest) {
  const { steps, outcome } = simulate(resourcesOf(messages), request);
  const find = <K extends (typeof steps)[number]["step"]>(kind: K) =>
    steps.find((step) => step.step === kind) as Extract<(typeof steps)[number], { step: K }> | undefined;
  return { steps, outcome, find };
}

Deno.test("a request for a service goes through its virtual host to its clusters by weight", () => {
  const { outcome, find } = run(SIDECAR, outbound());
  assert.deepEqual(outcome, { kind: "forwarded", clusters: [{ name: "v1", weight: 9 }, { name: "v2", weight: 1 }] });
  assert.deepEqual(find("virtualHost"), { step: "virtualHost", name: "reviews:80", domain: "reviews", source: "VHDS" });
  assert.deepEqual(find("cluster")?.endpoints.map((e) => [e.address, e.priority]), [["10.1.0.1", 0], ["10.1.0.2", 1]]);
});

Deno.test("every step names the object that caused it, where the configuration has it", () => {
  const { find, steps } = run(SIDECAR, outbound({ headers: { "End-User": "jason" } }));
  assert.equal(find("route")?.cause, "/apis/networking.mesh.io/v1/namespaces/default/virtual-service/reviews");
  assert.equal(find("cluster")?.cause, "/apis/networking.mesh.io/v1/namespaces/default/destination-rule/reviews");
  assert.equal(steps.filter((step) => "cause" in step).length, 2);
});

Deno.test("a redirected connection is handed to the exact address, else to any address of the port, else kept", () => {
  const chosen = (ip: string, port: number) => run(SIDECAR, outbound({ destination: { ip, port } })).find("listener");
  assert.deepEqual(chosen("10.0.0.5", 3306), {
    step: "listener",
    name: "10.0.0.5_3306",
    via: "virtualOutbound",
    why: "exact address",
  });
  assert.deepEqual(chosen("10.9.9.9", 80)?.why, "wildcard address");
  assert.deepEqual(chosen("10.9.9.9", 3306), {
    step: "listener",
    name: "virtualOutbound",
    why: "no listener for the original destination",
  });
  assert.equal(chosen("2001:db8::1", 80)?.name, "virtualOutbound", "0.0.0.0 takes no IPv6");
});

Deno.test("bytes that are not HTTP do not match the HTTP chain; bytes of a TCP service are split by weight", () => {
  const other = run(SIDECAR, outbound({ protocol: "tcp" }));
  assert.equal(other.find("filterChain")?.name, "PassthroughFilterChain");
  assert.deepEqual(other.find("cluster")?.endpoints[0]?.address, "10.0.0.1");
  const db = run(SIDECAR, outbound({ protocol: "tcp", destination: { ip: "10.0.0.5", port: 3306 } }));
  assert.deepEqual(db.outcome, {
    kind: "forwarded",
    clusters: [{ name: "db-v1", weight: 90 }, { name: "db-v2", weight: 10 }],
  });
  assert.equal(db.find("filterChain")?.cause, "/apis/networking.mesh.io/v1/namespaces/default/virtual-service/db");
});

Deno.test("unknown hosts, redirects, missing clusters and missing endpoints end as Envoy ends them", () => {
  assert.deepEqual(run(SIDECAR, outbound({ host: "other" })).outcome, {
    kind: "forwarded",
    clusters: [{ name: "PassthroughCluster", weight: 1 }],
  });
  assert.deepEqual(run(SIDECAR, outbound({ path: "/old/x?y=1" })).outcome, {
    kind: "answered",
    status: 302,
    location: "http://reviews/new?y=1",
    why: "the route redirects",
  });
  const without = (more: Messages) => run({ ...SIDECAR, ...more }, outbound()).outcome;
  assert.deepEqual(without({ clusters: [] }), { kind: "answered", status: 503, why: "the cluster does not exist" });
  assert.deepEqual(without({ assignments: [] }), { kind: "answered", status: 503, why: "no healthy endpoint" });
  assert.deepEqual(without({ routes: [] }), {
    kind: "answered",
    status: 404,
    why: "the route configuration is missing",
  });
  assert.deepEqual(run(SIDECAR, { ...outbound(), host: "" }).outcome.kind, "answered");
  assert.deepEqual(run({}, outbound()).outcome, { kind: "closed", why: "no listener has that address" });
  assert.deepEqual(run({}, outbound({ direction: "direct" })).outcome, {
    kind: "closed",
    why: "no listener has that address",
  });
});

/** A gateway with a single TLS port: two servers that end TLS, and a passed-through server. */
const GATEWAY: Messages = {
  listeners: [
    {
      name: "0.0.0.0_443",
      address: socket("0.0.0.0", 443),
      listener_filters: [TLS_INSPECTOR],
      filter_chains: [
        ended("shop", ["shop.com", "*.shop.com"], "https.443.shop"),
        { filter_chain_match: { server_names: ["pay.shop.com"] }, filters: [tcp("pay")] },
      ],
    },
    { name: "0.0.0.0_80", address: socket("0.0.0.0", 80), filter_chains: [{ filters: [http("http.80")] }] },
  ],
  routes: [
    {
      name: "https.443.shop",
      virtual_hosts: [virtualHost("shop", ["*.shop.com"], [{ match: { prefix: "/" }, ...to("shop") }])],
    },
    {
      name: "http.80",
      virtual_hosts: [{
        ...virtualHost("shop", ["*.shop.com"], [{ match: { prefix: "/" }, ...to("shop") }]),
        require_tls: 2,
      }],
    },
  ],
  clusters: [
    {
      ...eds("shop"),
      transport_socket: {
        name: "tls",
        typed_config: any("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext"),
      },
    },
    eds("pay"),
  ],
  assignments: [assignment("shop", ["10.2.0.1", 0, 1]), assignment("pay", ["10.2.0.2", 0, 1])],
};

function gateway(more: Partial<SimulatedRequest>): SimulatedRequest {
  return { direction: "direct", destination: { ip: "192.0.2.1", port: 443 }, protocol: "tls", ...more };
}

Deno.test("a gateway chooses by server name: the whole name before the wildcard, TLS ended or passed through", () => {
  const inside = run(GATEWAY, gateway({ sni: "www.shop.com", host: "www.shop.com" }));
  assert.deepEqual([inside.find("filterChain")?.matched, inside.find("filterChain")?.terminatesTls], [
    ["server name *.shop.com"],
    true,
  ]);
  assert.equal(inside.find("cluster")?.transport, "tls");
  const through = run(GATEWAY, gateway({ sni: "pay.shop.com" }));
  assert.deepEqual(through.outcome, { kind: "forwarded", clusters: [{ name: "pay", weight: 1 }] });
  assert.deepEqual(run(GATEWAY, gateway({ sni: "other.com" })).outcome, {
    kind: "closed",
    why: "no filter chain matches",
  });
  assert.deepEqual(run(GATEWAY, gateway({ sni: "www.shop.com" })).outcome.kind, "closed", "no HTTP inside");
  assert.equal(run(GATEWAY, gateway({ protocol: "http", host: "www.shop.com" })).outcome.kind, "closed");
});

Deno.test("a virtual host that requires TLS redirects to https", () => {
  const request = gateway({
    destination: { ip: "192.0.2.1", port: 80 },
    protocol: "http",
    host: "a.shop.com",
    path: "/x",
  });
  assert.deepEqual(run(GATEWAY, request).outcome, {
    kind: "answered",
    status: 301,
    location: "https://a.shop.com/x",
    why: "the virtual host requires TLS",
  });
});

Deno.test("inbound connections stay at the virtual listener, whose chains match the destination port", () => {
  const inbound: Messages = {
    listeners: [{
      name: "virtualInbound",
      address: socket("0.0.0.0", 15006),
      traffic_direction: TrafficDirection.INBOUND,
      filter_chains: [
        {
          name: "0.0.0.0_8080",
          filter_chain_match: { destination_port: wrap(8080) },
          filters: [tcp("inbound|8080||")],
        },
        { name: "virtualInbound", filters: [tcp("InboundPassthroughCluster")] },
      ],
    }],
    clusters: [{ name: "inbound|8080||", type: 4 }, { name: "InboundPassthroughCluster", type: 4 }],
  };
  const chain = (port: number) =>
    run(inbound, { direction: "inbound", destination: { ip: "10.1.0.1", port }, protocol: "tcp" }).find("filterChain");
  assert.deepEqual([chain(8080)?.name, chain(8080)?.matched], ["0.0.0.0_8080", ["destination port 8080"]]);
  assert.equal(chain(9)?.name, "virtualInbound");
});

Deno.test("a chain that is more specific in an earlier criterion wins, even if it fails a later criterion", () => {
  const chains: FilterChain[] = [
    { name: "port", filter_chain_match: { destination_port: wrap(80), source_ports: [1] }, filters: [tcp("x")] },
    {
      name: "range",
      filter_chain_match: { prefix_ranges: [{ address_prefix: "10.0.0.0", prefix_len: wrap(8) }] },
      filters: [tcp("x")],
    },
  ];
  const listeners = (rest?: FilterChain): Listener[] => [{
    name: "l",
    address: socket("0.0.0.0", 80),
    filter_chains: chains,
    ...(rest ? { default_filter_chain: rest } : {}),
  }];
  const request: SimulatedRequest = { direction: "direct", destination: { ip: "10.0.0.1", port: 80 }, protocol: "tcp" };
  assert.equal(run({ listeners: listeners() }, request).outcome.kind, "closed");
  const rest = run({ listeners: listeners({ name: "rest", filters: [tcp("x")] }) }, request).find("filterChain");
  assert.deepEqual([rest?.name, rest?.index], ["rest", -1]);
});

Deno.test("an inspector that is switched off for a port finds nothing there", () => {
  const disabled = { destination_port_range: { start: 3306, end: 3307 } };
  const listener = (port: number): Listener => ({
    name: "l",
    address: socket("0.0.0.0", port),
    listener_filters: [{ ...TLS_INSPECTOR, filter_disabled: disabled }],
    filter_chains: [{ filters: [tcp("x")] }],
  });
  const transport = (port: number) =>
    run({ listeners: [listener(port)] }, {
      direction: "direct",
      destination: { ip: "10.0.0.1", port },
      protocol: "tls",
      sni: "a.com",
    }).find("detection")?.transport;
  assert.deepEqual([transport(3306), transport(3307)], ["raw_buffer", "tls"]);
});

Deno.test("the stand-in for a plugin denies connections, and a module lets them pass", () => {
  const type = "envoy.extensions.filters.network.rbac.v3.RBAC";
  const config_discovery = { config_source: { ads: {} }, type_urls: [TYPE_URL_PREFIX + type] };
  const chain = { filters: [{ name: "plugin", config_discovery }, tcp("x")] };
  const listeners = [{ name: "l", address: socket("0.0.0.0", 80), filter_chains: [chain] }];
  const end = (config: object, of = type) => {
    const extensions = [{ name: "plugin", typed_config: any(of, config) }];
    const destination = { ip: "10.0.0.1", port: 80 };
    const { outcome } = run({ listeners, extensions }, { direction: "direct", destination, protocol: "tcp" });
    return outcome.kind === "closed" ? outcome.why : outcome.kind;
  };
  assert.equal(end({ rules: {} }), "what stands in for plugin denies it");
  const passes = end({});
  assert.equal(passes, end({}, "envoy.extensions.filters.network.wasm.v3.Wasm"));
  assert.notEqual(passes, end({ rules: {} }));
});

Deno.test("claims in the request's metadata decide routes that ask for them", () => {
  const value = {
    or_match: {
      value_matchers: [{ string_match: { exact: "admin" } }, {
        list_match: { one_of: { string_match: { exact: "admin" } } },
      }],
    },
  };
  const dynamic_metadata = [{
    filter: "envoy.filters.http.jwt_authn",
    path: [{ key: "payload" }, { key: "groups" }],
    value,
  }];
  const messages: Messages = {
    ...SIDECAR,
    virtualHosts: {
      "80/a": virtualHost("a", ["a"], [{ name: "admin", match: { prefix: "/", dynamic_metadata }, ...to("v1") }, {
        name: "rest",
        match: { prefix: "/" },
        ...to("v2"),
      }]),
    },
  };
  const route = (groups: unknown) =>
    run(messages, outbound({ host: "a", metadata: { "envoy.filters.http.jwt_authn": { payload: { groups } } } }))
      .find("route")?.name;
  assert.deepEqual([route("admin"), route(["user", "admin"]), route(["user"]), route(undefined)], [
    "admin",
    "admin",
    "rest",
    "rest",
  ]);
});

Deno.test("a route for a share of the requests is taken, with its share reported; a route for no requests is passed by", () => {
  const fraction = (numerator: number) => ({
    runtime_fraction: { default_value: { numerator, denominator: 0 as const } },
  });
  const routes: Route[] = [
    { name: "none", match: { prefix: "/", ...fraction(0) }, ...to("v1") },
    { name: "some", match: { prefix: "/", ...fraction(25) }, ...to("v1") },
  ];
  const { find } = run(
    { ...SIDECAR, virtualHosts: { "80/a": virtualHost("a", ["a"], routes) } },
    outbound({ host: "a" }),
  );
  assert.deepEqual([find("route")?.name, find("route")?.share], ["some", 0.25]);
});

Deno.test("a feature that the simulator does not judge ends as unknown, by name", () => {
  const matcher: Messages = { listeners: [{ name: "l", address: socket("0.0.0.0", 80), filter_chain_matcher: {} }] };
  assert.deepEqual(run(matcher, outbound({ direction: "direct" })).outcome, {
    kind: "unknown",
    why: "a listener with a matcher tree",
  });
  const filter: Messages = {
    listeners: [{ name: "l", address: socket("0.0.0.0", 80), filter_chains: [{ filters: [{ name: "mongo" }] }] }],
  };
  assert.deepEqual(run(filter, outbound({ direction: "direct" })).outcome, {
    kind: "unknown",
    why: "what the filter mongo does with the connection",
  });
});

Deno.test("the explanation has one line a step and one for the end", () => {
  const result = simulate(resourcesOf(SIDECAR), outbound({ path: "/a", headers: { "end-user": "jason" } }));
  assert.deepEqual(explain(result).split("\n"), [
    "listener 0.0.0.0_80 (from virtualOutbound): wildcard address",
    "first bytes: raw_buffer, http/1.1",
    "filter chain #0: transport raw_buffer, application protocol http/1.1",
    "handled by envoy.filters.network.http_connection_manager",
    "route configuration 80 (RDS)",
    "virtual host reviews:80: domain reviews (VHDS)",
    "route #0 test  <- /apis/networking.mesh.io/v1/namespaces/default/virtual-service/reviews",
    "action: one cluster, path /a, host reviews",
    "cluster v2 (EDS, plaintext, weight 1): 10.1.0.3:8080  <- /apis/networking.mesh.io/v1/namespaces/default/destination-rule/reviews",
    "=> forwarded to v2",
  ]);
  const split = explain(simulate(resourcesOf(SIDECAR), outbound())).split("\n");
  assert.equal(split.at(-1), "=> forwarded to 90% v1, 10% v2");
});

Deno.test("resources as the wire has them give the same answer, and name the objects that made them", () => {
  const message = (type: string, name: string, value: object, causes: string[] = []) => ({
    name,
    typeUrl: TYPE_URL_PREFIX + type,
    value: encode(type, value),
    causes,
  });
  const encoded = [
    ...SIDECAR.listeners!.map((one) =>
      message("envoy.config.listener.v3.Listener", one.name!, one, ["ServiceEntry/x/y"])
    ),
    ...SIDECAR.routes!.map((one) => message("envoy.config.route.v3.RouteConfiguration", one.name!, one)),
    ...Object.entries(SIDECAR.virtualHosts!).map(([name, one]) =>
      message("envoy.config.route.v3.VirtualHost", name, one)
    ),
    ...SIDECAR.clusters!.map((one) => message("envoy.config.cluster.v3.Cluster", one.name!, one)),
    ...SIDECAR.assignments!.map((one) =>
      message("envoy.config.endpoint.v3.ClusterLoadAssignment", one.cluster_name!, one)
    ),
    message("envoy.config.core.v3.Address", "passed over", {}),
  ];
  const [wire, plain] = [simulate(resourcesFrom(encoded), outbound()), simulate(resourcesOf(SIDECAR), outbound())];
  assert.deepEqual(wire.outcome, plain.outcome);
  assert.equal(wire.steps.length, plain.steps.length);
  assert.deepEqual(wire.steps[0], { ...plain.steps[0], causes: ["ServiceEntry/x/y"] });
});

function socket(address: string, port_value: number): envoy.config.core.v3.Address {
  return { socket_address: { address, port_value } };
}

function listenerFilter(type: string): envoy.config.listener.v3.ListenerFilter {
  return { name: type, typed_config: any(`envoy.extensions.filters.listener.${type}`) };
}

function tcp(to: string | [string, number][]): envoy.config.listener.v3.Filter {
  const specifier = typeof to === "string"
    ? { cluster: to }
    : { weighted_clusters: { clusters: to.map(([name, weight]) => ({ name, weight })) } };
  return {
    name: "envoy.filters.network.tcp_proxy",
    typed_config: any("envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", { stat_prefix: "x", ...specifier }),
  };
}

function http(route_config_name: string): envoy.config.listener.v3.Filter {
  const config = { stat_prefix: "x", rds: { route_config_name } };
  return {
    name: "envoy.filters.network.http_connection_manager",
    typed_config: any("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", config),
  };
}

function ended(name: string, server_names: string[], routes: string): FilterChain {
  return {
    name,
    filter_chain_match: { server_names },
    transport_socket: {
      name: "tls",
      typed_config: any("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext"),
    },
    filters: [http(routes)],
  };
}

function virtualHost(name: string, domains: string[], routes: Route[]): VirtualHost {
  return { name, domains, routes };
}

function to(cluster: string): Route {
  return { route: { cluster } };
}

function eds(name: string): envoy.config.cluster.v3.Cluster {
  return { name, type: 3, eds_cluster_config: { service_name: name } };
}

function assignment(
  cluster_name: string,
  ...list: [string, number, number][]
): envoy.config.endpoint.v3.ClusterLoadAssignment {
  return {
    cluster_name,
    endpoints: list.map(([address, priority, weight]) => ({
      priority,
      lb_endpoints: [{ endpoint: { address: socket(address, 8080) }, load_balancing_weight: wrap(weight) }],
    })),
  };
}

function causedBy(config: string): envoy.config.core.v3.Metadata {
  return { filter_metadata: { istio: struct({ config }) } };
}
