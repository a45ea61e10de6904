/** The status of Gateways and routes in an orchestrator's API: what it says about proxies, and how often it is written. */
import assert from "node:assert/strict";
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import type { SettingsOf } from "../../../lib/kernel/settings/catalogue.ts";
import { struct } from "../../../lib/pb/wellknown.ts";
import { LISTENER } from "../../../lib/xds/protocol/types.ts";
import { TestProxy } from "../../debug/proxy.ts";
import { PATIENCE } from "../../patience.ts";
import { MemoryApi } from "./memory_api.ts";
import { until, withOrch } from "./with_orch.ts";

const GROUP = "gateway.networking.k8s.io";
const GATEWAYS = `/apis/${GROUP}/v1/gateways`;
const ROUTES = `/apis/${GROUP}/v1/httproutes`;
const LABEL = "gateway.networking.k8s.io/gateway-name";

/** An API with a Gateway `shop/door`, its Service with an endpoint, and a Service `shop/web`. */
function newApi(labels: Readonly<Record<string, string>> = {}): MemoryApi {
  const api = new MemoryApi();
  for (
    const [plural, kind] of [["gateways", "Gateway"], ["gatewayclasses", "GatewayClass"], ["httproutes", "HTTPRoute"]]
  ) {
    api.define(plural!, GROUP, kind!, ["v1"]);
  }
  api.put("/api/v1/namespaces", { metadata: { name: "shop" } });
  putGateway(api, "door", labels);
  service(api, "web", 8080);
  return api;
}

function putGateway(api: MemoryApi, name: string, labels: Readonly<Record<string, string>> = {}): void {
  api.put(GATEWAYS, {
    metadata: { name, namespace: "shop", labels, generation: 1 },
    spec: {
      gatewayClassName: "mesh",
      listeners: [{ name: "http", port: 80, protocol: "HTTP", allowedRoutes: { namespaces: { from: "All" } } }],
    },
  });
  service(api, `${name}-mesh`, 80, { [LABEL]: name });
}

function service(api: MemoryApi, name: string, port: number, selector: object = { app: name }): void {
  const metadata = { name, namespace: "shop" };
  const spec = {
    type: "ClusterIP",
    clusterIP: "10.0.0.9",
    selector,
    ports: [{ name: "http", port, targetPort: port }],
  };
  api.put("/api/v1/services", { metadata, spec });
  api.put("/apis/discovery.k8s.io/v1/endpointslices", {
    metadata: { ...metadata, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    ports: [{ name: "http", port, protocol: "TCP" }],
    endpoints: [{ addresses: ["10.1.0.1"], conditions: { ready: true } }],
  });
}

function route(name: string, gateway = "door") {
  return {
    metadata: { name, namespace: "shop", generation: 1 },
    spec: {
      parentRefs: [{ group: GROUP, kind: "Gateway", name: gateway }],
      hostnames: [`${name}.example.com`],
      rules: [{ backendRefs: [{ group: "", kind: "Service", name: "web", port: 8080 }] }],
    },
  };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
}

/** A condition in words: `Programmed True: message`. */
function said(conditions: readonly Condition[] | undefined, type: string): string {
  const found = conditions?.find((one) => one.type === type);
  return found === undefined ? "nothing" : `${found.reason} ${found.observedGeneration}: ${found.message}`;
}

function gatewaySays(api: MemoryApi, type: string, name = "door"): string {
  const status = api.get(GATEWAYS, name, "shop")?.["status"] as { conditions?: Condition[] } | undefined;
  return said(status?.conditions, type);
}

function routeSays(api: MemoryApi, type: string, name: string): string {
  const status = api.get(ROUTES, name, "shop")?.["status"] as { parents?: { conditions: Condition[] }[] } | undefined;
  return said(status?.parents?.[0]?.conditions, type);
}

const statusWrites = (api: MemoryApi, plural = "") =>
  api.writes.filter((one) => one.includes("/status") && one.includes(`/${plural}`));

async function becomes(api: MemoryApi, what: string, holds: () => boolean): Promise<void> {
  const timer = Promise.withResolvers<never>();
  const late = setTimeout(() => timer.reject(new Error(what)), PATIENCE);
  await Promise.race([api.becomes(holds), timer.promise]).finally(() => clearTimeout(late));
}

/** Runs a server that leads at once and deploys nothing. */
async function serving(
  api: MemoryApi,
  run: (grpcPort: number, server: DiscoveryServer) => Promise<void>,
  { start = true, ...settings }: Partial<SettingsOf<"pilot-discovery">> & { readonly start?: boolean } = {},
): Promise<void> {
  await withOrch(api, (server) => run(server.ports.grpc!, server), {
    start,
    settings: {
      ...{ ENABLE_LEADER_ELECTION: false, PILOT_ENABLE_GATEWAY_API_DEPLOYMENT_CONTROLLER: false },
      ...{ PILOT_STATUS_QPS: 0, PILOT_STATUS_UPDATE_INTERVAL: 50, ...settings },
    },
  });
}

/** With so much time for proxies that also on a slow machine an edit is one write. */
const PATIENT = { MESH_GATEWAY_STATUS_PATIENCE: PATIENCE };

/** Connects a proxy of a Gateway, which takes everything. */
async function connect(port: number, gateway = "door", number = 1): Promise<TestProxy> {
  const proxy = await TestProxy.attach(port, {
    id: `router~10.1.0.${number}~${gateway}-${number}.shop~shop.svc.cluster.local`,
    metadata: struct({ NAMESPACE: "shop", LABELS: { [LABEL]: gateway } }),
  });
  await proxy.ask(LISTENER);
  return proxy;
}

const PROGRAMMED = "Programmed 1: served at door-mesh.shop.svc.cluster.local:80";

Deno.test("a Gateway is programmed when a proxy has its listeners, and says how many proxies have it in force", async () => {
  const api = newApi();
  await serving(api, async (port) => {
    await becomes(api, "a status", () => gatewaySays(api, "Programmed") !== "nothing");
    assert.equal(gatewaySays(api, "Programmed"), "Pending 1: no proxy of the Gateway is connected");
    assert.equal(gatewaySays(api, "mesh.io/Live"), "NoProxy 1: no proxy for this object is connected");
    using _first = await connect(port);
    await becomes(api, "a programmed Gateway", () => gatewaySays(api, "Programmed") === PROGRAMMED);
    assert.equal(gatewaySays(api, "mesh.io/Live"), "Live 1: 1 of 1 proxies have this version in force");
    assert.equal(statusWrites(api, "gateways").length, 2);
  }, PATIENT);
});

Deno.test("a waypoint is programmed when a waypoint of its Gateway has connected, with a host name and an address", async () => {
  const api = newApi();
  api.put(GATEWAYS, {
    metadata: { name: "way", namespace: "shop", generation: 1 },
    spec: { gatewayClassName: "mesh-waypoint", listeners: [{ name: "mesh", port: 15008, protocol: "HBONE" }] },
  });
  service(api, "way", 15008, { [LABEL]: "way" });
  await serving(api, async (port) => {
    await becomes(api, "a status", () => gatewaySays(api, "Programmed", "way") !== "nothing");
    assert.equal(gatewaySays(api, "Programmed", "way"), "Pending 1: no proxy of the Gateway is connected");
    using waypoint = await TestProxy.attach(port, {
      id: "waypoint~10.1.0.1~way-1.shop~shop.svc.cluster.local",
      metadata: struct({ NAMESPACE: "shop", LABELS: { [LABEL]: "way" }, PROXY_CONFIG: "{}" }),
    });
    await waypoint.ask(LISTENER);
    await becomes(api, "a programmed Gateway", () => gatewaySays(api, "Programmed", "way").startsWith("Programmed"));
    assert.equal(gatewaySays(api, "mesh.io/Live", "way"), "Live 1: 1 of 1 proxies have this version in force");
    const status = api.get(GATEWAYS, "way", "shop")!["status"] as {
      readonly addresses: readonly object[];
      readonly listeners: readonly { readonly attachedRoutes: number; readonly conditions: Condition[] }[];
    };
    assert.deepEqual(status.addresses, [
      { type: "IPAddress", value: "10.0.0.9" },
      { type: "Hostname", value: "way.shop.svc.cluster.local" },
    ]);
    assert.equal(status.listeners[0]!.attachedRoutes, 0);
    assert.equal(said(status.listeners[0]!.conditions, "Accepted").split(":")[0], "Accepted 1");
  }, { PILOT_ENABLE_AMBIENT: true, PILOT_ENABLE_AMBIENT_WAYPOINTS: true });
});

/** The listeners of a second version of the Gateway. */
const SECOND = {
  metadata: { generation: 2 },
  spec: { listeners: [{ name: "http", port: 80, protocol: "HTTP" }, { name: "b", port: 90, protocol: "HTTP" }] },
};
Deno.test("a gateway between networks is accepted, programmed by its proxies, and has the addresses of its balancer", async () => {
  const api = newApi();
  api.put(GATEWAYS, {
    metadata: { name: "way", namespace: "shop", generation: 1, labels: { "topology.mesh.io/network": "n1" } },
    spec: {
      gatewayClassName: "mesh-east-west",
      listeners: [{ name: "mesh", port: 15008, protocol: "HBONE" }],
    },
  });
  service(api, "way", 15008, { [LABEL]: "way" });
  api.edit("/api/v1/services", "way", "shop", {
    spec: {
      ...{ type: "LoadBalancer", clusterIP: "10.0.0.9", selector: { [LABEL]: "way" } },
      ports: [{ name: "http", port: 15008, targetPort: 15008 }],
    },
    status: { loadBalancer: { ingress: [{ ip: "192.0.2.8" }] } },
  });
  await serving(api, async (port) => {
    using way = await TestProxy.attach(port, {
      id: "waypoint~10.1.0.1~way-1.shop~shop.svc.cluster.local",
      metadata: struct({
        NAMESPACE: "shop",
        LABELS: { [LABEL]: "way", "gateway.mesh.io/managed": "mesh.io-eastwest-controller" },
        PROXY_CONFIG: "{}",
      }),
    });
    await way.ask(LISTENER);
    await becomes(api, "a programmed Gateway", () => gatewaySays(api, "Programmed", "way").startsWith("Programmed"));
    assert.equal(gatewaySays(api, "Accepted", "way").split(" ")[0], "Accepted");
    const status = api.get(GATEWAYS, "way", "shop")!["status"] as {
      readonly addresses: readonly object[];
      readonly listeners: readonly { readonly conditions: Condition[] }[];
    };
    assert.deepEqual(status.addresses, [{ type: "IPAddress", value: "192.0.2.8" }]);
    assert.equal(said(status.listeners[0]!.conditions, "Accepted").split(":")[0], "Accepted 1");
  }, { PILOT_ENABLE_AMBIENT: true, PILOT_ENABLE_AMBIENT_WAYPOINTS: true, AMBIENT_ENABLE_MULTI_NETWORK: true });
});

Deno.test("a new version that proxies take is one write", async () => {
  const api = newApi();
  await serving(api, async (port) => {
    using proxy = await connect(port);
    await becomes(api, "a programmed Gateway", () => gatewaySays(api, "Programmed") === PROGRAMMED);
    const before = statusWrites(api, "gateways").length;
    proxy.hold();
    api.edit(GATEWAYS, "door", "shop", SECOND);
    await proxy.received();
    assert.equal(statusWrites(api, "gateways").length, before, "nobody has the version");
    proxy.release();
    await becomes(api, "the second version", () => gatewaySays(api, "Accepted").includes(" 2:"));
    assert.equal(gatewaySays(api, "mesh.io/Live"), "Live 2: 1 of 1 proxies have this version in force");
    assert.equal(statusWrites(api, "gateways").length, before + 1);
  }, PATIENT);
});

Deno.test("a version that no proxy takes is accepted in a moment, and programmed when a proxy has it", async () => {
  const api = newApi();
  api.put(ROUTES, route("a"));
  await serving(api, async (port) => {
    using proxy = await connect(port);
    await becomes(api, "a programmed Gateway", () => gatewaySays(api, "Programmed") === PROGRAMMED);
    await becomes(api, "a live route", () => routeSays(api, "mesh.io/Live", "a").startsWith("Live 1:"));
    proxy.hold();
    const more = { name: "b", port: 80, protocol: "HTTP", hostname: "b.example.com" };
    const listeners = [{ name: "http", port: 80, protocol: "HTTP" }, more];
    api.edit(GATEWAYS, "door", "shop", { metadata: { generation: 2 }, spec: { listeners } });
    api.edit(ROUTES, "a", "shop", { metadata: { generation: 2 }, spec: { hostnames: ["c.example.com"] } });
    const before = statusWrites(api).length;
    await becomes(api, "an accepted Gateway", () => gatewaySays(api, "Accepted").includes(" 2:"));
    await becomes(api, "an accepted route", () => routeSays(api, "Accepted", "a").includes(" 2:"));
    assert.ok(routeSays(api, "ResolvedRefs", "a").includes(" 2:"));
    assert.equal(gatewaySays(api, "Programmed"), PROGRAMMED, "the claim about the first version stays");
    const said = JSON.stringify(api.get(GATEWAYS, "door", "shop")!["status"]);
    assert.doesNotMatch(said, /"type":"Programmed"[^}]*"observedGeneration":2/, "also of the listeners");
    assert.ok(routeSays(api, "mesh.io/Live", "a").startsWith("Live 1:"));
    proxy.release();
    await becomes(api, "a programmed Gateway", () => gatewaySays(api, "Programmed").startsWith("Programmed 2:"));
    await becomes(api, "a live route", () => routeSays(api, "mesh.io/Live", "a").startsWith("Live 2:"));
    const written = statusWrites(api).slice(before);
    for (const plural of ["gateways", "httproutes"]) {
      assert.equal(written.filter((one) => one.includes(`/${plural}/`)).length, 2, plural);
    }
  });
});

Deno.test("a route that is edited without a pause gets few writes, and the status of its last version", async () => {
  const api = newApi();
  api.put(ROUTES, route("a"));
  await serving(api, async (port, server) => {
    using _proxy = await connect(port);
    await becomes(api, "a live route", () => routeSays(api, "mesh.io/Live", "a").startsWith("Live 1:"));
    const before = statusWrites(api, "httproutes").length;
    const began = performance.now();
    const isRead = (generation: number) => server.store.get("HTTPRoute", "shop", "a")?.meta.generation === generation;
    for (let generation = 2; generation <= 100; generation++) {
      const metadata = { generation };
      api.edit(ROUTES, "a", "shop", { metadata, spec: { hostnames: [`v${generation}.example.com`] } });
      await until(server, () => isRead(generation));
    }
    await becomes(api, "the last version", () => routeSays(api, "mesh.io/Live", "a").startsWith("Live 100:"));
    assert.ok(routeSays(api, "Accepted", "a").includes(" 100:"));
    const writes = statusWrites(api, "httproutes").length - before;
    // The changed objects are looked at four times a second at most.
    const looks = (performance.now() - began) / 250;
    assert.ok(writes <= looks + 1, `${writes} writes in ${looks} looks`);
  });
});

Deno.test("a route that comes after the status of its Gateway is served and counted", async () => {
  const api = newApi();
  await serving(api, async (port, server) => {
    using _proxy = await connect(port);
    await becomes(api, "a programmed Gateway", () => gatewaySays(api, "Programmed") === PROGRAMMED);
    for (const name of ["a", "b"]) {
      api.put(ROUTES, route(name));
      await becomes(api, "the status", () => routeSays(api, "mesh.io/Live", name).startsWith("Live"));
      const hosts = server.store.list("VirtualService").flatMap(({ spec }) => spec.hosts ?? []);
      assert.ok(hosts.includes(`${name}.example.com`), hosts.join());
    }
    const counted = () => JSON.stringify(api.get(GATEWAYS, "door", "shop")!["status"]).includes('"attachedRoutes":2');
    await becomes(api, "the count", counted);
  });
});

Deno.test("routes that a new leader finds without a status are one request each", async () => {
  const api = newApi();
  const names = Array.from({ length: 300 }, (_, at) => `r${at}`);
  for (const name of names) api.put(ROUTES, route(name));
  await serving(api, async () => {
    await becomes(api, "all routes", () => names.every((name) => routeSays(api, "Accepted", name) !== "nothing"));
    // A later Gateway is looked at after all others.
    putGateway(api, "late");
    await becomes(api, "a status of the later Gateway", () => gatewaySays(api, "Programmed", "late") !== "nothing");
  });
  const asked = api.asked.filter((one) => one.includes("/httproutes/")).map((one) => one.split(" ")[0]);
  assert.deepEqual(asked, names.map(() => "PATCH"));
});

Deno.test("a thousand routes at once are a thousand writes of routes and a few of the Gateway; a restart is none", async () => {
  const api = newApi();
  const names = Array.from({ length: 1000 }, (_, at) => `r${at}`);
  const isLive = (name: string) =>
    routeSays(api, "mesh.io/Live", name) === "Live 1: 1 of 1 proxies have this version in force";
  await serving(api, async (port) => {
    using _proxy = await connect(port);
    await becomes(api, "a programmed Gateway", () => gatewaySays(api, "Programmed") === PROGRAMMED);
    const before = statusWrites(api, "gateways").length;
    const began = performance.now();
    for (const name of names) api.put(ROUTES, route(name));
    await becomes(api, "all routes", () => names.every(isLive));
    await becomes(api, "the count", () => JSON.stringify(api.get(GATEWAYS, "door", "shop")).includes("1000"));
    assert.equal(statusWrites(api, "httproutes").length, 1000);
    assert.deepEqual(api.asked.filter((one) => one.startsWith("GET ") && one.includes("/httproutes/")), []);
    const ofGateway = statusWrites(api, "gateways").length - before;
    const seconds = (performance.now() - began) / 1000;
    assert.ok(ofGateway <= seconds + 1, `${ofGateway} writes of the Gateway in ${seconds} s`);
  }, PATIENT);
  const before = statusWrites(api).length;
  await serving(api, async (port) => {
    using _proxy = await connect(port);
    // A later Gateway is looked at after all others.
    putGateway(api, "late");
    await becomes(api, "a status of the later Gateway", () => gatewaySays(api, "Programmed", "late") !== "nothing");
    using _late = await connect(port, "late", 2);
    await becomes(api, "the later Gateway", () => gatewaySays(api, "Programmed", "late").startsWith("Programmed"));
  });
  assert.deepEqual(statusWrites(api).slice(before).filter((one) => !one.includes("/late/")), []);
});

Deno.test("statuses go out at once up to MESH_GATEWAY_STATUS_BURST, and then PILOT_STATUS_QPS a second", async () => {
  const api = newApi();
  const names = Array.from({ length: 10 }, (_, at) => `r${at}`);
  for (const name of names) api.put(ROUTES, route(name));
  const [burst, qps] = [5, 3];
  const began = performance.now();
  await serving(api, async () => {
    await becomes(api, "all routes", () => names.every((name) => routeSays(api, "Accepted", name) !== "nothing"));
  }, { MESH_GATEWAY_STATUS_BURST: burst, PILOT_STATUS_QPS: qps });
  const [writes, seconds] = [statusWrites(api).length, (performance.now() - began) / 1000];
  assert.ok(writes <= burst + qps * seconds, `${writes} writes in ${seconds} s`);
});

/** A route at two Gateways. */
const SHARED = {
  ...route("shared"),
  spec: {
    ...route("shared").spec,
    parentRefs: ["door", "canary"].map((name) => ({ group: GROUP, kind: "Gateway", name })),
  },
};

Deno.test("two servers of different revisions write each their own Gateways and entries, by label and by tag, and never again", async () => {
  const api = newApi();
  api.put("/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", {
    metadata: { name: "mesh-revision-tag-prod", labels: { "mesh.io/tag": "prod", "mesh.io/rev": "blue" } },
  });
  putGateway(api, "canary", { "istio.io/rev": "blue" });
  putGateway(api, "tagged", { "mesh.io/rev": "prod" });
  putGateway(api, "nobody", { "mesh.io/rev": "gone" });
  api.put(ROUTES, SHARED);
  const all = ["door", "canary", "tagged"];
  const isProgrammed = () => all.every((name) => gatewaySays(api, "Programmed", name).startsWith("Programmed 1"));
  const parents = () =>
    ((api.get(ROUTES, "shared", "shop")?.["status"] as { parents?: { parentRef: { name: string } }[] })?.parents ?? [])
      .map(({ parentRef }) => parentRef.name).sort().join();
  await serving(api, async (first) => {
    await serving(api, async (second) => {
      using _door = await connect(first, "door", 1);
      using _canary = await connect(second, "canary", 2);
      // A proxy of a Gateway may be at a server of another revision, which reports it.
      using _tagged = await connect(first, "tagged", 3);
      await becomes(api, "all Gateways", isProgrammed);
      await becomes(api, "both parents of the route", () => parents() === "canary,door");
      const before = statusWrites(api).length;
      putGateway(api, "late");
      putGateway(api, "late-blue", { "mesh.io/rev": "blue" });
      await becomes(
        api,
        "later Gateways",
        () => ["late", "late-blue"].every((name) => gatewaySays(api, "Programmed", name) !== "nothing"),
      );
      assert.deepEqual(statusWrites(api).slice(before).filter((one) => !one.includes("/late")), []);
      assert.equal(parents(), "canary,door");
      assert.equal(gatewaySays(api, "Accepted", "nobody"), "nothing");
    }, { start: false, REVISION: "blue" });
  });
});

Deno.test("a version that this server does not take says so in its status, until a version that it takes", async () => {
  const api = newApi();
  const odd = { matches: [{ path: { type: "Odd", value: "/" } }] };
  api.put(ROUTES, { ...route("odd"), spec: { ...route("odd").spec, rules: [odd] } });
  api.put(GATEWAYS, {
    metadata: { name: "bad", namespace: "shop", generation: 1 },
    spec: { gatewayClassName: "mesh", listeners: [{ name: "http", port: 70_000, protocol: "HTTP" }] },
  });
  api.put(GATEWAYS, {
    metadata: { name: "other", namespace: "shop", generation: 1 },
    spec: { gatewayClassName: "example", listeners: [{ name: "http", port: 70_000, protocol: "HTTP" }] },
  });
  await serving(api, async () => {
    await becomes(api, "the Gateway", () => gatewaySays(api, "Accepted", "bad") !== "nothing");
    assert.match(gatewaySays(api, "Accepted", "bad"), /^Invalid 1: .*70000.*; no version is in force$/);
    assert.match(gatewaySays(api, "Programmed", "bad"), /^Invalid 1: /);
    await becomes(api, "the route", () => routeSays(api, "Accepted", "odd") !== "nothing");
    assert.match(routeSays(api, "Accepted", "odd"), /^UnsupportedValue 1: .*Odd.*; no version is in force$/);
    api.put(ROUTES, { ...route("odd"), metadata: { ...route("odd").metadata, generation: 2 } });
    await becomes(
      api,
      "the good version",
      () => routeSays(api, "Accepted", "odd") === "Accepted 2: a listener takes the route",
    );
    api.edit(ROUTES, "odd", "shop", { metadata: { generation: 3 }, spec: { rules: [odd] } });
    await becomes(api, "the refusal", () => routeSays(api, "Accepted", "odd").includes(" 3:"));
    assert.match(routeSays(api, "Accepted", "odd"), /; the earlier version is in force$/);
    assert.equal(gatewaySays(api, "Accepted", "other"), "nothing", "the class of another implementation");
  });
});

Deno.test("a route at a Service says on how many clients it is in force, in one write", async () => {
  const api = newApi();
  await serving(api, async (port) => {
    using sidecar = await TestProxy.attach(port, {
      id: "sidecar~10.1.0.7~client.shop~shop.svc.cluster.local",
      metadata: struct({ NAMESPACE: "shop", LABELS: { app: "client" } }),
    });
    await sidecar.ask(LISTENER);
    const atService = { group: "", kind: "Service", name: "web" };
    const spec = { ...route("m").spec, hostnames: undefined, parentRefs: [atService] };
    api.put(ROUTES, { ...route("m"), spec });
    await becomes(api, "the status", () => routeSays(api, "Accepted", "m") !== "nothing");
    assert.equal(routeSays(api, "mesh.io/Live", "m"), "Live 1: 1 of 1 proxies have this version in force");
    assert.equal(statusWrites(api, "httproutes").length, 1);
  }, PATIENT);
});
