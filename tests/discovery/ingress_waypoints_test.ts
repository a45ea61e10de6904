/** Gateways reach services through their waypoint: by which endpoints, which labels ask, and what a change costs. */
import assert from "node:assert/strict";
import { parseObject } from "../../lib/config/object.ts";
import { ConfigStore } from "../../lib/config/store.ts";
import { followWaypointAddresses } from "../../lib/discovery/sources/waypoint_addresses.ts";
import type { WaypointAddress } from "../../lib/mesh/waypoints/address.ts";
import { TYPE } from "../../lib/translate/encode/encode.ts";
import type { ProxyState } from "../../lib/translate/machine/per_proxy/proxy_state.ts";
import { inFile } from "../config/origins.ts";
import { contents, Fixture, type FixtureOptions, texts } from "./fixture.ts";

const AGENT = { PROXY_CONFIG: { stringValue: "{}" } };
const WEB = "outbound|80||web.test";
const ASKS = { "istio.io/use-waypoint": "door", "istio.io/ingress-use-waypoint": "true" };
const DOOR: ReadonlyMap<string, WaypointAddress> = new Map([["shop/door", { hostname: "door.test" }]]);

function gateway(namespaces: object = { from: "Same" }): object {
  return {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: { namespace: "shop", name: "door" },
    spec: {
      gatewayClassName: "istio-waypoint",
      listeners: [{ name: "mesh", port: 15008, protocol: "HBONE", allowedRoutes: { namespaces } }],
    },
  };
}

function entry(name: string, labels: object, spec: object = {}): object {
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "ServiceEntry",
    metadata: { namespace: "shop", name, labels },
    spec: {
      ...{ hosts: [`${name}.test`], addresses: ["10.96.0.1"], location: "MESH_INTERNAL", resolution: "STATIC" },
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      endpoints: [{ address: "10.1.0.1", serviceAccount: "web" }],
      ...spec,
    },
  };
}

/** The Service of the waypoint, with pods. */
function door(...pods: readonly string[]): object {
  return entry("door", {}, {
    addresses: ["10.96.0.9"],
    ports: [{ number: 15008, name: "hbone", protocol: "TCP" }],
    endpoints: pods.map((address) => ({ address, serviceAccount: "keeper" })),
    exportTo: ["."],
  });
}

const deny = {
  apiVersion: "security.istio.io/v1",
  kind: "AuthorizationPolicy",
  metadata: { namespace: "shop", name: "admin" },
  spec: {
    targetRefs: [{ group: "networking.istio.io", kind: "ServiceEntry", name: "web" }],
    action: "DENY",
    rules: [{ to: [{ operation: { paths: ["/admin"] } }] }],
  },
};

function world(web: object = entry("web", ASKS), settings: FixtureOptions["settings"] = {}): Fixture {
  const fixture = new Fixture({
    settings: {
      PILOT_ENABLE_AMBIENT: true,
      PILOT_ENABLE_AMBIENT_WAYPOINTS: true,
      PILOT_ENABLE_SENDING_HBONE: true,
      ENABLE_INGRESS_WAYPOINT_ROUTING: true,
      ...settings,
    },
  });
  fixture.put(gateway(), door("10.2.0.1", "10.2.0.2"), web);
  fixture.setWaypointAddresses(DOOR);
  fixture.pipeline.flush();
  return fixture;
}

const join = (fixture: Fixture, type: "router" | "sidecar" = "router") =>
  fixture.join({ namespace: "edge", address: "10.0.0.1", type, metadata: AGENT });

interface Endpoint {
  endpoint: { address: unknown };
  metadata?: { filter_metadata: Record<string, unknown> };
}
interface Cluster {
  type?: string;
  transport_socket?: { name: string };
  metadata?: { filter_metadata: Record<string, Record<string, string>> };
  original_dst_lb_config?: object;
}

/** Wrapped values and objects without their wrapping. */
const unwrapped = (_: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null || Object.keys(value).length !== 1) return value;
  const { value: wrapped, fields, stringValue } = value as Record<string, unknown>;
  return wrapped ?? fields ?? stringValue ?? value;
};
const json = <T>(state: ProxyState, name: string) => JSON.parse(texts(state)[name] ?? "null", unwrapped) as T;
const cluster = (state: ProxyState, name = WEB) => json<Cluster>(state, `cluster/${name}`);
const endpoints = (state: ProxyState, name = WEB) =>
  (json<{ endpoints?: { lb_endpoints: Endpoint[] }[] }>(state, `assignment/${name}`)?.endpoints ?? [])
    .flatMap(({ lb_endpoints }) => lb_endpoints);

/** The pods behind the cluster: of the waypoint, or of the service. */
const reached = (state: ProxyState, name = WEB): string[] => {
  if (cluster(state, name).type === "STATIC") return ["closed"];
  return endpoints(state, name).map(({ endpoint }) => /10\.[12]\.0\.\d/.exec(JSON.stringify(endpoint))![0]);
};
const THROUGH = ["10.2.0.1", "10.2.0.2"];
const DIRECT = ["10.1.0.1"];

const said = (fixture: Fixture) =>
  fixture.pipeline.translator.warnings().map(({ message }) => message).filter((text) => text.includes("waypoint"));

Deno.test("a gateway opens tunnels to the pods of the waypoint, for the service's address, and verifies the waypoint", () => {
  const fixture = world();
  const state = join(fixture);
  assert.deepEqual(
    endpoints(state).map(({ endpoint, metadata }) => [endpoint.address, metadata!.filter_metadata]),
    THROUGH.map((pod) => [
      { envoy_internal_address: { server_listener_name: "connect_originate", endpoint_id: `${pod}:15008` } },
      {
        "envoy.filters.listener.original_dst": { local: "10.96.0.1:80", waypoint: `${pod}:15008` },
        "envoy.transport_socket_match": { tunnel: "http" },
        ...telemetry(endpoints(state)[0]!),
      },
    ]),
  );
  const { type, transport_socket, metadata } = cluster(state);
  assert.deepEqual([type, transport_socket!.name], ["EDS", "envoy.transport_sockets.internal_upstream"]);
  assert.deepEqual(metadata!.filter_metadata["mesh.hbone"], { names: "spiffe://cluster.local/ns/shop/sa/keeper" });
  assert.deepEqual(cluster(state, "connect_originate").original_dst_lb_config, {
    upstream_port_override: 15008,
    metadata_key: { key: "envoy.filters.listener.original_dst", path: [{ key: "waypoint" }] },
  });
  assert.deepEqual([fixture.failures, said(fixture)], [[], []]);
});

const telemetry = ({ metadata }: Endpoint) => {
  const { istio } = metadata!.filter_metadata;
  return istio === undefined ? {} : { istio };
};

Deno.test("a sidecar does not use the waypoint, and without the setting a gateway does not either", () => {
  assert.deepEqual(reached(join(world(), "sidecar")), DIRECT);
  const off = join(world(undefined, { ENABLE_INGRESS_WAYPOINT_ROUTING: false }));
  assert.deepEqual(reached(off), DIRECT);
  assert.deepEqual(cluster(off, "connect_originate").original_dst_lb_config, { upstream_port_override: 15008 });
});

Deno.test("the service's label wins over its namespace's label, and gateways use only a waypoint that is asked for", () => {
  const use = { "istio.io/use-waypoint": "door" };
  const labels = (ingress?: string) => ({ ...use, ...ingress && { "istio.io/ingress-use-waypoint": ingress } });
  const rows: [service: object, namespace: Record<string, string>, expected: readonly string[]][] = [
    [labels(), {}, DIRECT],
    [labels("true"), {}, THROUGH],
    [{ "mesh.io/use-waypoint": "door", "mesh.io/ingress-use-waypoint": "true" }, {}, THROUGH],
    [labels(), { "mesh.io/ingress-use-waypoint": "true" }, THROUGH],
    [labels("false"), { "mesh.io/ingress-use-waypoint": "true" }, DIRECT],
    [{}, { "mesh.io/ingress-use-waypoint": "true", "mesh.io/use-waypoint": "door" }, THROUGH],
    [{ "istio.io/ingress-use-waypoint": "true" }, {}, DIRECT],
    [{ ...ASKS, "istio.io/use-waypoint": "none" }, {}, DIRECT],
  ];
  for (const [service, namespace, expected] of rows) {
    const fixture = world(entry("web", service));
    const state = join(fixture);
    fixture.setNamespaces(new Map([["shop", namespace]]));
    fixture.pipeline.flush();
    assert.deepEqual(reached(state), expected, JSON.stringify([service, namespace]));
  }
});

Deno.test("subsets, TLS and PROXY headers of a rule are the waypoint's matter", () => {
  const fixture = world();
  fixture.put({
    apiVersion: "networking.istio.io/v1",
    kind: "DestinationRule",
    metadata: { namespace: "shop", name: "web" },
    spec: {
      host: "web.test",
      trafficPolicy: { tls: { mode: "SIMPLE", sni: "web.test" }, proxyProtocol: { version: "V2" } },
      subsets: [{ name: "v1", labels: { version: "v1" } }],
    },
  });
  fixture.pipeline.flush();
  const state = join(fixture);
  for (const name of [WEB, "outbound|80|v1|web.test"]) {
    assert.deepEqual(reached(state, name), THROUGH);
    const text = texts(state)[`cluster/${name}`]!;
    assert.ok(!text.includes("UpstreamTlsContext") && !text.includes("proxy_protocol"), text);
  }
});

Deno.test("endpoints that a gateway resolves by name are reached past the waypoint, and a finding says so", () => {
  const fixture = world(entry("web", ASKS, { resolution: "DNS", endpoints: [{ address: "web.example.com" }] }));
  const state = join(fixture);
  assert.deepEqual(JSON.stringify(cluster(state)).match(/10\.2\.|web\.example\.com/g), ["web.example.com"]);
  assert.deepEqual(said(fixture), [
    "gateways reach web.test past its waypoint shop/door: they resolve names of endpoints themselves",
  ]);
});

Deno.test("a waypoint that cannot be used closes the service, if a policy needs it; else the gateway goes direct, and says so", () => {
  const unready: Record<string, (fixture: Fixture) => void> = {
    "does not exist": (fixture) => fixture.remove("ApiGateway/shop/door"),
    "has no address in its status": (fixture) => fixture.setWaypointAddresses(new Map()),
    "admits the namespace shop": (fixture) =>
      fixture.put(gateway({ from: "Selector", selector: { matchLabels: { of: "nobody" } } })),
    "the service has no address of its own": (fixture) =>
      fixture.put(entry("web", ASKS, { addresses: ["10.96.0.0/24"] })),
  };
  for (const [why, make] of Object.entries(unready)) {
    const [fixture, opened] = [world(), world(undefined, { MESH_WAYPOINT_FAIL_OPEN: true })];
    const [state, open] = [join(fixture), join(opened)];
    const both = (act: (fixture: Fixture) => void) => {
      for (const one of [fixture, opened]) {
        act(one);
        one.pipeline.flush();
      }
    };
    both(make);
    assert.deepEqual(reached(state), DIRECT, why);
    assert.ok(said(fixture).some((text) => text.includes(why) && text.includes("directly")), said(fixture).join());
    both((one) => one.put(deny));
    assert.deepEqual([reached(state), endpoints(state)], [["closed"], []], why);
    assert.ok(said(fixture).some((text) => text.includes("AuthorizationPolicy shop/admin needs the waypoint")), why);
    assert.deepEqual(reached(open), DIRECT, why);
    assert.ok(said(opened).some((text) => text.includes("nothing enforces AuthorizationPolicy shop/admin")), why);
    both((one) => one.remove("AuthorizationPolicy/shop/admin"));
    assert.deepEqual(reached(state), DIRECT, why);
  }
  const unable = world(undefined, { PILOT_ENABLE_SENDING_HBONE: false });
  unable.put(deny);
  unable.pipeline.flush();
  assert.deepEqual(reached(join(unable)), ["closed"]);
});

Deno.test("a policy that refuses nothing closes no service", () => {
  const { targetRefs } = deny.spec;
  const tokens = [{ issuer: "shop", jwks: '{"keys":[]}' }];
  const rows: readonly [kind: string, spec: object, isClosed: boolean][] = [
    ["RequestAuthentication", { targetRefs }, false],
    ["RequestAuthentication", { targetRefs, jwtRules: [] }, false],
    ["RequestAuthentication", { targetRefs, jwtRules: tokens }, true],
    ["AuthorizationPolicy", { targetRefs, action: "AUDIT", rules: [{}] }, false],
  ];
  for (const [kind, spec, isClosed] of rows) {
    const fixture = world();
    fixture.remove("ApiGateway/shop/door");
    fixture.put({ ...deny, kind, spec });
    fixture.pipeline.flush();
    assert.deepEqual(reached(join(fixture)), isClosed ? ["closed"] : DIRECT, JSON.stringify(spec));
  }
});

Deno.test("a waypoint without pods, or at an unknown address, leaves the cluster without endpoints: nothing goes around it", () => {
  const fixture = world();
  const state = join(fixture);
  fixture.put(door());
  fixture.pipeline.flush();
  assert.deepEqual(reached(state), []);
  fixture.put(door("10.2.0.5"));
  const at = (address: WaypointAddress) => {
    fixture.setWaypointAddresses(new Map([["shop/door", address]]));
    fixture.pipeline.flush();
    return reached(state);
  };
  assert.deepEqual(at({ hostname: "nowhere.test" }), []);
  assert.deepEqual(at({ ip: "10.96.0.99" }), []);
  assert.deepEqual(at({ ip: "10.96.0.9" }), ["10.2.0.5"], "the address of the waypoint's service");
});

Deno.test("a change reaches the gateways that use the service alone, and gives what a fresh start gives", () => {
  const fixture = world();
  fixture.put(entry("far", ASKS, { exportTo: ["."], addresses: ["10.96.0.3"] }), entry("plain", {}));
  fixture.pipeline.flush();
  const state = join(fixture);
  const changes: Readonly<Record<string, [act: () => void, changed: readonly string[]]>> = {
    "a pod comes": [() => fixture.put(door("10.2.0.1", "10.2.0.2", "10.2.0.3")), [`assignment/${WEB}`]],
    "the label goes": [
      () => fixture.put(entry("web", { "istio.io/use-waypoint": "door" })),
      [`assignment/${WEB}`, `cluster/${WEB}`],
    ],
    "a pod goes, nobody asks": [() => fixture.put(door("10.2.0.1")), []],
    "the namespace asks": [
      () => fixture.setNamespaces(new Map([["shop", { "mesh.io/ingress-use-waypoint": "true" }]])),
      [`assignment/${WEB}`, `cluster/${WEB}`],
    ],
    "a policy is bound, the waypoint is used": [() => fixture.put(deny), []],
    "the waypoint loses its address": [
      () => fixture.setWaypointAddresses(new Map()),
      [`assignment/${WEB}`, `cluster/${WEB}`],
    ],
    "the waypoint comes back": [() => fixture.setWaypointAddresses(DOOR), [`assignment/${WEB}`, `cluster/${WEB}`]],
    "a service that the gateway does not see": [
      () => fixture.put(entry("far", {}, { exportTo: ["."], addresses: ["10.96.0.3"] })),
      [],
    ],
  };
  for (const [what, [act, changed]] of Object.entries(changes)) {
    const before = contents(state);
    const unrelated = state.resourceSets(TYPE.listener);
    act();
    fixture.pipeline.flush();
    const now = contents(state);
    const differing = Object.keys({ ...before, ...now }).filter((name) => before[name] !== now[name]).sort();
    assert.deepEqual(differing, changed, what);
    assert.deepEqual(state.resourceSets(TYPE.listener), unrelated, what);
    const fresh = world();
    for (const key of fresh.objects.keys()) fresh.remove(key);
    fresh.setNamespaces(fixture.namespaces);
    fresh.setWaypointAddresses(fixture.waypointAddresses);
    for (const object of fixture.objects.values()) fresh.pipeline.configChanged([], [object]);
    fresh.pipeline.flush();
    assert.deepEqual(contents(join(fresh)), now, what);
  }
  assert.deepEqual(fixture.failures, []);
});

Deno.test("a new status alone moves the address of a waypoint, and other changes of Gateways move none", () => {
  const store = new ConfigStore();
  const source = store.addSource("test", 0);
  const seen: string[] = [];
  const put = (name: string, ...addresses: readonly object[]) => {
    const tree = { ...gateway(), metadata: { namespace: "shop", name }, status: { addresses } };
    const { object } = parseObject(tree, inFile("test"), { defaultNamespace: "default" });
    source.apply({ upserted: [object!], removed: [] });
  };
  put("door", { type: "Hostname", value: "door.test" });
  followWaypointAddresses(store, {
    waypointAddressesChanged: (all) => seen.push(JSON.stringify([...all])),
  });
  put("door", { value: "10.96.0.9" }, { type: "Hostname", value: "door.test" });
  put("gate");
  put("door", { value: "10.96.0.9" });
  put("door");
  put("gate", { value: "10.96.0.8" });
  source.apply({ upserted: [], removed: ["ApiGateway/shop/gate"] });
  assert.deepEqual(seen, [
    '[["shop/door",{"hostname":"door.test"}]]',
    '[["shop/door",{"ip":"10.96.0.9"}]]',
    "[]",
    '[["shop/gate",{"ip":"10.96.0.8"}]]',
    "[]",
  ]);
});
