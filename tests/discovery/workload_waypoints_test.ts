/** Waypoints of workloads: which addresses lead where, and whose resources a change of a workload changes. */
import assert from "node:assert/strict";
import { TYPE } from "../../lib/translate/encode/encode.ts";
import type { ProxyState } from "../../lib/translate/machine/per_proxy/proxy_state.ts";
import { MockRegistry } from "../../lib/registry/mock.ts";
import type { Workload } from "../../lib/registry/types.ts";
import { contents, Fixture, texts } from "./fixture.ts";

const AGENT = { PROXY_CONFIG: { stringValue: "{}" } };
const TYPES = [TYPE.cluster, TYPE.assignment, TYPE.listener, TYPE.route, TYPE.extension];

function gateway(name: string, traffic?: string, from = "Same"): object {
  return {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: { namespace: "shop", name, labels: { ...traffic && { "istio.io/waypoint-for": traffic } } },
    spec: {
      gatewayClassName: "istio-waypoint",
      listeners: [{ name: "mesh", port: 15008, protocol: "HBONE", allowedRoutes: { namespaces: { from } } }],
    },
  };
}

interface Written {
  readonly waypoint?: string;
  readonly hbone?: true;
  readonly account?: string;
  readonly namespace?: string;
  readonly network?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

function workload(
  name: string,
  address: string,
  { waypoint, hbone, account = "web", namespace = "shop", network, labels }: Written = {},
): object {
  const own = {
    ...waypoint && { "istio.io/use-waypoint": waypoint },
    ...hbone && { "networking.istio.io/tunnel": "http" },
    ...labels,
  };
  const spec = { address, ...account && { serviceAccount: account }, ...network && { network } };
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "WorkloadEntry",
    metadata: { namespace, name, labels: own },
    spec,
  };
}

function entry(name: string, address: string, endpoint: string, waypoint: string): object {
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "ServiceEntry",
    metadata: { namespace: "shop", name, labels: { ...waypoint && { "istio.io/use-waypoint": waypoint } } },
    spec: {
      ...{ hosts: [`${name}.test`], addresses: [address], location: "MESH_INTERNAL", resolution: "STATIC" },
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      endpoints: [{ address: endpoint, labels: { "networking.istio.io/tunnel": "http" } }],
    },
  };
}

function world(...trees: readonly object[]): { fixture: Fixture; join: (name: string, address: string) => ProxyState } {
  const fixture = new Fixture({ settings: { PILOT_ENABLE_AMBIENT: true, PILOT_ENABLE_AMBIENT_WAYPOINTS: true } });
  fixture.put(gateway("door", "workload"), gateway("gate", "all"), gateway("wall"), ...trees);
  fixture.pipeline.flush();
  const join = (name: string, address: string) =>
    fixture.join({
      ...{ namespace: "shop", address, name: `${name}-1`, type: "waypoint", metadata: AGENT },
      labels: { "gateway.networking.k8s.io/gateway-name": name },
    });
  return { fixture, join };
}

interface Names {
  readonly names: { readonly stringValue: string };
}

interface Routes {
  readonly virtual_hosts: readonly {
    readonly domains: readonly string[];
    readonly routes: readonly [{
      readonly route: { readonly cluster: string };
      readonly metadata?: { readonly filter_metadata: { readonly "mesh.hbone": { readonly fields: Names } } };
    }];
  }[];
}

/** The way of each address: cluster, and the expected names. */
function ways(state: ProxyState): Record<string, string> {
  const text = texts(state)["route/connect_terminate"];
  if (text === undefined) return {};
  return Object.fromEntries(
    (JSON.parse(text) as Routes).virtual_hosts.flatMap(({ domains, routes: [{ route, metadata }] }) => {
      const names = metadata?.filter_metadata["mesh.hbone"].fields.names.stringValue;
      return domains.map((one) => [one, names === undefined ? route.cluster : `${route.cluster} ${names}`]);
    }),
  );
}

const OTHERS = { "*": "main_internal" };
const WEB = "direct spiffe://cluster.local/ns/shop/sa/web";

Deno.test("addresses of workloads with HBONE lead into tunnels with the names of their account, others to the address", () => {
  const { fixture, join } = world(
    workload("one", "10.1.0.1", { waypoint: "door", hbone: true }),
    workload("two", "10.1.0.2", { waypoint: "door", hbone: true, account: "pay" }),
    workload("three", "10.1.0.3", { waypoint: "door" }),
    workload("six", "fd00::6", { waypoint: "door", hbone: true }),
    workload("nobody", "10.1.0.4", { waypoint: "door", hbone: true, account: "" }),
  );
  assert.deepEqual(ways(join("door", "10.0.0.1")), {
    "10.1.0.1": WEB,
    "[fd00::6]": WEB,
    "10.1.0.2": "direct spiffe://cluster.local/ns/shop/sa/pay",
    "10.1.0.3": "direct_plain",
    "10.1.0.4": "direct",
    ...OTHERS,
  });
  assert.deepEqual(fixture.failures, []);
});

Deno.test("nothing else has a way: other waypoints, foreign namespaces, the proxy's own machine, names, addresses of services", () => {
  const { join } = world(
    workload("one", "10.1.0.1", { waypoint: "gate" }),
    workload("far", "10.1.0.2", {
      waypoint: "door",
      namespace: "bank",
      labels: { "istio.io/use-waypoint-namespace": "shop" },
    }),
    workload("loop", "127.0.0.1", { waypoint: "door" }),
    workload("any", "0.0.0.0", { waypoint: "door" }),
    workload("link", "169.254.169.254", { waypoint: "door" }),
    workload("named", "db.test", { waypoint: "door" }),
    workload("out", "10.1.0.5", { waypoint: "none" }),
    workload("unasked", "10.1.0.6"),
    workload("part", "10.1.0.7", {
      waypoint: "door",
      labels: { "gateway.istio.io/managed": "istio.io-mesh-controller" },
    }),
    entry("web", "10.96.0.1", "10.1.0.8", "gate"),
    workload("same", "10.96.0.1", { waypoint: "gate" }),
  );
  assert.deepEqual(ways(join("door", "10.0.0.1")), OTHERS);
  assert.deepEqual(ways(join("gate", "10.0.0.2")), { "10.1.0.1": "direct_plain", "10.1.0.8": "direct", ...OTHERS });
});

Deno.test("a waypoint for services alone has neither listeners nor routes for workloads", () => {
  const { join } = world(workload("one", "10.1.0.1", { waypoint: "wall" }));
  const names = Object.keys(texts(join("wall", "10.0.0.1")));
  assert.deepEqual(names.filter((name) => /direct|encap|route\/connect/.test(name)), []);
});

Deno.test("the label of a namespace asks for its workloads, and a workload's own label comes first", () => {
  const listed = entry("db", "10.96.0.3", "10.1.0.3", "");
  const { fixture, join } = world(
    workload("one", "10.1.0.1"),
    workload("two", "10.1.0.2", { waypoint: "none" }),
    listed,
  );
  const door = join("door", "10.0.0.1");
  assert.deepEqual(ways(door), OTHERS);
  fixture.setNamespaces(new Map([["shop", { "mesh.io/use-waypoint": "door" }]]));
  fixture.pipeline.flush();
  assert.deepEqual(ways(door), { "10.1.0.1": "direct_plain", "10.1.0.3": "direct", ...OTHERS });
  fixture.setNamespaces(new Map([["shop", {}]]));
  fixture.pipeline.flush();
  assert.deepEqual(ways(door), OTHERS);
});

Deno.test("a workload that comes, changes or goes changes one route configuration of its waypoint, and nothing of others", () => {
  const one = (more: Written = {}) => workload("one", "10.1.0.1", { waypoint: "door", ...more });
  const { fixture, join } = world(workload("other", "10.1.0.9", { waypoint: "gate" }));
  const [door, gate, wall] = [join("door", "10.0.0.1"), join("gate", "10.0.0.2"), join("wall", "10.0.0.3")];
  const sets = () => [gate, wall].map((state) => TYPES.map((type) => state.resourceSets(type)));
  const steps: readonly (readonly [what: string, change: () => void])[] = [
    ["comes", () => fixture.put(one())],
    ["takes HBONE", () => fixture.put(one({ hbone: true }))],
    ["has another account", () => fixture.put(one({ hbone: true, account: "pay" }))],
    ["goes", () => fixture.remove("WorkloadEntry/shop/one")],
  ];
  for (const [what, change] of steps) {
    const [before, others] = [contents(door), sets()];
    change();
    fixture.pipeline.flush();
    const now = contents(door);
    const names = new Set([...Object.keys(before), ...Object.keys(now)]);
    assert.deepEqual([...names].filter((name) => before[name] !== now[name]), ["route/connect_terminate"], what);
    assert.deepEqual(sets().flat(2).map((set, at) => set === others.flat(2)[at]).filter((same) => !same), [], what);
  }
  assert.deepEqual(ways(door), OTHERS);
});

Deno.test("a change of a workload that its waypoint does not need changes nothing", () => {
  const one = (version: string) => workload("one", "10.1.0.1", { waypoint: "door", labels: { version } });
  const { fixture, join } = world(one("v1"));
  const door = join("door", "10.0.0.1");
  const before = TYPES.flatMap((type) => door.resourceSets(type) ?? []);
  fixture.put(one("v2"));
  fixture.pipeline.flush();
  assert.deepEqual(TYPES.flatMap((type) => door.resourceSets(type) ?? []).filter((set, at) => set !== before[at]), []);
});

Deno.test("a Gateway that serves other traffic, or is gone, has no workloads", () => {
  const { fixture, join } = world(workload("one", "10.1.0.1", { waypoint: "door" }));
  const door = join("door", "10.0.0.1");
  const has = () => ways(door)["10.1.0.1"] !== undefined;
  assert.ok(has());
  fixture.put(gateway("door", "service"));
  fixture.pipeline.flush();
  assert.deepEqual(ways(door), {});
  fixture.put(gateway("door", "all"));
  fixture.pipeline.flush();
  assert.ok(has());
  fixture.remove("ApiGateway/shop/door");
  fixture.pipeline.flush();
  assert.deepEqual(ways(door), {});
});

Deno.test("a policy that names the Gateway is in the chains of workloads; a policy of a service or by label is not", () => {
  const { fixture, join } = world(entry("web", "10.96.0.1", "10.1.0.8", "gate"));
  const gate = join("gate", "10.0.0.2");
  const changedBy = (spec: object) => {
    const before = contents(gate);
    fixture.put({
      apiVersion: "security.istio.io/v1",
      kind: "AuthorizationPolicy",
      metadata: { namespace: "shop", name: "deny" },
      spec: { action: "DENY", rules: [{ to: [{ operation: { paths: ["/admin"] } }] }], ...spec },
    });
    fixture.pipeline.flush();
    const now = contents(gate);
    return Object.keys(now).filter((name) => before[name] !== now[name]).sort();
  };
  const target = (kind: string, name: string, group: string) => ({ targetRefs: [{ group, kind, name }] });
  assert.deepEqual(changedBy(target("ServiceEntry", "web", "networking.istio.io")), ["listener/main_internal"]);
  // The service's chain had the policy before.
  const byGateway = changedBy(target("Gateway", "gate", "gateway.networking.k8s.io"));
  assert.deepEqual(byGateway, ["listener/direct", "listener/direct_plain"]);
  const byLabel = changedBy({ selector: { matchLabels: { "gateway.networking.k8s.io/gateway-name": "gate" } } });
  assert.deepEqual(byLabel, ["listener/direct", "listener/direct_plain", "listener/main_internal"], "the former goes");
});

function patch(configPatches: readonly object[]): object {
  return {
    apiVersion: "networking.istio.io/v1alpha3",
    kind: "EnvoyFilter",
    metadata: { namespace: "shop", name: "patch" },
    spec: { targetRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "gate" }], configPatches },
  };
}

Deno.test("a patch of the Gateway is in the chains and clusters of workloads, and one that finds nothing is told so", () => {
  const { fixture, join } = world(entry("web", "10.96.0.1", "10.1.0.8", "gate"));
  const gate = join("gate", "10.0.0.2");
  const manager = "envoy.filters.network.http_connection_manager";
  const inbound = { context: "SIDECAR_INBOUND" };
  const value = {
    name: "patched",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer",
      max_request_bytes: 1000,
    },
  };
  fixture.put(patch([
    {
      applyTo: "HTTP_FILTER",
      match: {
        ...inbound,
        listener: { name: "main_internal", filterChain: { name: "direct-http", filter: { name: manager } } },
      },
      patch: { operation: "INSERT_FIRST", value },
    },
    {
      applyTo: "CLUSTER",
      match: { ...inbound, cluster: { name: "encap" } },
      patch: { operation: "MERGE", value: { connect_timeout: "7s" } },
    },
    {
      applyTo: "CLUSTER",
      match: { context: "GATEWAY" },
      patch: { operation: "MERGE", value: { connect_timeout: "7s" } },
    },
    {
      applyTo: "NETWORK_FILTER",
      match: { ...inbound, listener: { name: "connect_terminate" } },
      patch: { operation: "INSERT_FIRST", value },
    },
    { applyTo: "LISTENER", match: inbound, patch: { operation: "MERGE", value: { transparent: true } } },
    {
      applyTo: "CLUSTER",
      match: { ...inbound, cluster: { name: "connect_originate" } },
      patch: { operation: "MERGE", value: { connect_timeout: "7s" } },
    },
  ]));
  fixture.pipeline.flush();
  const all = texts(gate);
  assert.ok(["direct", "direct_plain"].every((name) => all[`listener/${name}`]!.includes('"patched"')));
  assert.ok(!all["listener/main_internal"]!.includes('"patched"'), "chains of services have other names");
  assert.match(all["cluster/encap"]!, /"connect_timeout":\{"seconds":7\}/);
  const said = fixture.pipeline.warnings().map(({ message }) => message).filter((one) => one.includes("configPatches"));
  assert.deepEqual(
    said.map((one) => /configPatches\[(\d)\]/.exec(one)?.[1]).sort(),
    ["2", "3", "4", "5"],
    said.join("\n"),
  );
});

/** A captured pod of namespace `shop`. */
const pod = (name: string, address: string, labels: Workload["labels"] = {}, network = ""): Workload => ({
  ...{ id: `pod/shop/${name}`, name, namespace: "shop", kind: "pod", addresses: [address], labels, network },
  ...{ serviceAccount: "web", locality: "", clusterId: "Mock", weight: 1, health: "healthy", ports: {} },
  ...{ tlsMode: "disabled", isCaptured: true },
});
const FROM_EVIL = {
  namespace: "evil",
  labels: { "istio.io/use-waypoint": "open", "istio.io/use-waypoint-namespace": "shop" },
};

/** The world of a waypoint that takes workloads and services of all namespaces. */
async function openWorld(...trees: readonly object[]) {
  const { fixture, join } = world(gateway("open", "all", "All"), ...trees);
  const registry = new MockRegistry();
  await fixture.pipeline.addRegistry(registry);
  const state = join("open", "10.0.0.9");
  const now = () => {
    fixture.pipeline.flush();
    return ways(state);
  };
  const said = () => fixture.pipeline.translator.warnings().map(({ message }) => message);
  return { fixture, registry, now, said };
}

Deno.test("an entry with the address of a foreign pod opens no way to the pod, whichever comes first", async () => {
  const evil = workload("thief", "10.1.0.1", { ...FROM_EVIL, hbone: true, account: "thief" });
  const thief = { "10.1.0.1": "direct spiffe://cluster.local/ns/evil/sa/thief" };
  const { fixture, registry, now, said } = await openWorld(evil);
  assert.deepEqual(now(), { ...thief, ...OTHERS }, "no pod has the address");
  registry.addWorkload(pod("web", "10.1.0.1"));
  assert.deepEqual(now(), OTHERS, "the pod comes later");
  assert.deepEqual(said().filter((text) => /10\.1\.0\.1/.test(text)), [
    "entries name 1 addresses of workloads of other namespaces, such as 10.1.0.1: a waypoint does not take these " +
    "addresses for workloads of the entries",
  ]);
  registry.addWorkload(pod("web", "10.1.0.1", { "mesh.io/use-waypoint": "open" }));
  assert.deepEqual(now(), { "10.1.0.1": WEB, ...OTHERS }, "the pod asks for the waypoint");
  fixture.remove("WorkloadEntry/evil/thief");
  assert.deepEqual(now(), { "10.1.0.1": WEB, ...OTHERS });
  registry.addWorkload(pod("web", "10.1.0.1"));
  fixture.put(evil);
  assert.deepEqual(now(), OTHERS, "the entry comes later");
  registry.addWorkload(pod("web", "10.1.0.2"));
  assert.deepEqual(now(), { ...thief, ...OTHERS }, "the pod has another address");
  registry.addWorkload(pod("web", "10.1.0.1"));
  assert.deepEqual(now(), OTHERS);
  registry.removeWorkload("pod/shop/web");
  assert.deepEqual(now(), { ...thief, ...OTHERS }, "the pod is gone");
  assert.deepEqual(fixture.failures, []);
});

Deno.test("a network that an entry names makes the address of a foreign pod no other address", async () => {
  const { registry, now } = await openWorld(workload("thief", "10.1.0.1", { ...FROM_EVIL, network: "nowhere" }));
  registry.addWorkload(pod("web", "10.1.0.1"));
  assert.deepEqual(now(), OTHERS);
});

Deno.test("endpoints that a foreign ServiceEntry lists open no way to a pod, and its addresses do not take a pod's address", async () => {
  const foreign = (address: string, endpoint: string) => {
    const written = entry("thief", address, endpoint, "open") as { metadata: object };
    return { ...written, metadata: { name: "thief", ...FROM_EVIL } };
  };
  const { fixture, registry, now } = await openWorld(foreign("10.97.0.1", "10.1.0.1"));
  registry.addWorkload(pod("web", "10.1.0.1"));
  assert.deepEqual(now(), OTHERS);
  fixture.put(foreign("10.1.0.1", "10.1.0.66"));
  registry.addWorkload(pod("web", "10.1.0.1", { "mesh.io/use-waypoint": "open" }));
  assert.deepEqual(now(), { "10.1.0.1": WEB, "10.1.0.66": "direct", ...OTHERS });
});

Deno.test("of entries of several namespaces with one address, those of the waypoint's namespace have it alone", async () => {
  const { now } = await openWorld(
    workload("machine", "10.1.0.1", { waypoint: "open" }),
    workload("thief", "10.1.0.1", { ...FROM_EVIL, hbone: true, account: "thief" }),
  );
  assert.deepEqual(now(), { "10.1.0.1": "direct_plain", ...OTHERS });
});
