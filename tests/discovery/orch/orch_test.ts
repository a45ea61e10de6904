/** A server whose configuration comes from an orchestrator's API. */
import assert from "node:assert/strict";
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import { MemoryApi } from "./memory_api.ts";
import { openLog, until, withOrch } from "./with_orch.ts";
import { until as eventually } from "../../patience.ts";

const OURS = "/apis/networking.mesh.io/v1/serviceentries";
const THEIRS = "/apis/networking.istio.io/v1/serviceentries";
const MAPS = "/api/v1/configmaps";
const SLICES = "/apis/discovery.k8s.io/v1/endpointslices";

const entry = (host: string, more: Readonly<Record<string, unknown>> = {}) => ({
  metadata: { name: "se", namespace: "shop" },
  spec: { hosts: [host], ports: [{ number: 80, name: "http" }], resolution: "DNS", ...more },
});

const hostsOf = (server: DiscoveryServer) => server.store.list("ServiceEntry").map(({ spec }) => spec.hosts[0]);

Deno.test("kinds of the mesh are read, followed, and know the object that they are", async () => {
  const api = new MemoryApi();
  api.define("serviceentries", "networking.mesh.io", "ServiceEntry", ["v1beta1", "v1"]);
  api.put(OURS, entry("one.example"));
  await withOrch(api, async (server) => {
    assert.deepEqual(hostsOf(server), ["one.example"]);
    assert.equal(
      server.pipeline.aggregate.keys()[Symbol.iterator]().next().done,
      false,
      "it is a service at the start",
    );
    const origin = server.store.get("ServiceEntry", "shop", "se")?.origin;
    assert.match(origin?.from === "api" ? origin.uid : "", /^[0-9a-f-]{36}$/);
    api.put(OURS, entry("two.example"));
    await until(server, () => hostsOf(server)[0] === "two.example");
    api.drop(OURS, "se", "shop");
    await until(server, () => hostsOf(server).length === 0);
  });
});

Deno.test("pilot_k8s_cfg_events counts events of mesh objects, and pilot_k8s_reg_events events of service objects", async () => {
  const api = new MemoryApi();
  api.define("serviceentries", "networking.mesh.io", "ServiceEntry", ["v1"]);
  api.put(OURS, entry("one.example"));
  api.put("/api/v1/services", { metadata: { name: "cart", namespace: "shop" }, spec: { ports: [{ port: 80 }] } });
  await withOrch(api, async (server, kernel) => {
    api.put(OURS, entry("two.example"));
    await until(server, () => hostsOf(server)[0] === "two.example");
    api.drop(OURS, "se", "shop");
    await until(server, () => hostsOf(server).length === 0);
    api.drop("/api/v1/services", "cart", "shop");
    await until(server, () => server.configuration.facts.list("Service").length === 0);
    const { body } = await kernel.metrics.scrape();
    const counted = (metric: string, type: string) =>
      [...body.matchAll(new RegExp(`^${metric}\\{(.*)\\} (\\d+)$`, "gm"))].filter(([, labels]) =>
        labels!.includes(`type="${type}"`)
      ).map(([, labels, count]) => `${/event="(\w+)"/.exec(labels!)?.[1]} ${count}`).sort();
    assert.deepEqual(counted("pilot_k8s_cfg_events", "ServiceEntry"), ["add 1", "delete 1", "update 1"]);
    assert.deepEqual(counted("pilot_k8s_reg_events", "Services"), ["add 1", "delete 1"]);
  });
});

Deno.test("an edit of one slice among 300 costs one list of endpoints and one push, no service, and no list of the API", async () => {
  const api = new MemoryApi();
  const slice = (i: number, address: string) => ({
    metadata: { name: `s${i}-1`, namespace: "shop", labels: { "kubernetes.io/service-name": `s${i}` } },
    addressType: "IPv4",
    ports: [{ name: "http", port: 8080 }],
    endpoints: [{ addresses: [address] }],
  });
  for (let i = 0; i < 300; i++) {
    const ports = [{ name: "http", port: 80 }];
    api.put("/api/v1/services", { metadata: { name: `s${i}`, namespace: "shop" }, spec: { ports } });
    api.put(SLICES, slice(i, "10.0.0.1"));
  }
  await withOrch(api, async (server) => {
    const { updates } = server.pipeline;
    const [before, pushes] = [{ ...updates }, server.pipeline.pushes];
    const pushed = new Promise<void>((resolve) => server.pipeline.onPush(() => resolve()));
    // Locks of duties are read meanwhile.
    const lists = () => api.asked.filter((one) => /^list \S*\/(services|endpointslices)\b/.test(one)).length;
    const listed = lists();
    api.put(SLICES, slice(7, "10.0.0.2"));
    await pushed;
    assert.deepEqual(updates, { ...before, eds: before.eds + 1 });
    assert.equal(server.pipeline.pushes, pushes + 1);
    assert.equal(lists(), listed);
  });
});

Deno.test("known objects are compared with lists of the API at each MESH_SELF_CHECK_INTERVAL", async () => {
  const api = new MemoryApi();
  const ports = [{ name: "http", port: 80 }];
  api.put("/api/v1/services", { metadata: { name: "cart", namespace: "shop" }, spec: { ports } });
  const lists = () => api.asked.filter((one) => /^list \S*\/services\b/.test(one)).length;
  await withOrch(api, async () => {
    const before = lists();
    await eventually("two further lists", () => lists() >= before + 2);
  }, { checks: 20 });
});

Deno.test("of one name in both groups ours is in force, the other is reported, and comes when ours goes", async () => {
  const api = new MemoryApi();
  api.define("serviceentries", "networking.mesh.io", "ServiceEntry", ["v1"]);
  api.define("serviceentries", "networking.istio.io", "ServiceEntry", ["v1"]);
  api.put(OURS, entry("ours.example"));
  api.put(THEIRS, entry("theirs.example"));
  await withOrch(api, async (server) => {
    assert.deepEqual(hostsOf(server), ["ours.example"]);
    const found = [...server.findings()].filter(({ name }) => name === "hidden-object");
    assert.match(found[0]?.message ?? "", /ServiceEntry shop\/se is hidden by the object in Orch \(uid /);
    api.drop(OURS, "se", "shop");
    await until(server, () => hostsOf(server)[0] === "theirs.example");
  });
});

Deno.test("an object that is refused keeps its last good version, and is reported with its place in the API", async () => {
  const api = new MemoryApi();
  api.define("serviceentries", "networking.mesh.io", "ServiceEntry", ["v1"]);
  api.put(OURS, entry("good.example"));
  const { log, line } = openLog();
  await withOrch(api, async (server) => {
    api.put(OURS, entry("good.example", { resolution: "NONSENSE" }));
    assert.match(await line(/refused: .*resolution/), /NONSENSE/);
    assert.deepEqual(hostsOf(server), ["good.example"]);
    const object = server.store.get("ServiceEntry", "shop", "se");
    assert.equal(object && server.configuration.isStale(object), true);
    api.put(OURS, entry("better.example"));
    await until(server, () => hostsOf(server)[0] === "better.example");
    assert.deepEqual([...server.findings()].filter(({ severity }) => severity === "error"), []);
  }, { log });
});

Deno.test("definitions that are missing, too old, added later or removed are reported, and delay nothing", async () => {
  const api = new MemoryApi();
  api.define("serviceentries", "networking.mesh.io", "ServiceEntry", ["v1"]);
  api.define("sidecars", "networking.istio.io", "Sidecar", ["v1alpha0"]);
  api.put(OURS, entry("one.example"));
  const { log, line } = openLog();
  await withOrch(api, async (server) => {
    const table = await line(/definitions of the kinds/);
    assert.match(table, /serviceentries\.networking\.mesh\.io v1/);
    assert.match(table, /otherVersion=\["sidecars\.networking\.istio\.io v1alpha0"\]/);
    assert.match(table, /without=\["VirtualService"/);
    api.put("/apis/networking.istio.io/v1/destinationrules", {
      metadata: { name: "dr", namespace: "shop" },
      spec: { host: "one.example" },
    });
    api.define("destinationrules", "networking.istio.io", "DestinationRule", ["v1"]);
    await until(server, () => server.store.list("DestinationRule").length === 1);
    api.undefine("serviceentries", "networking.mesh.io");
    await until(server, () => hostsOf(server).length === 0);
  }, { log });
});

Deno.test("objects of a defined kind stay while the API does not serve the kind", async () => {
  const api = new MemoryApi();
  api.define("serviceentries", "networking.mesh.io", "ServiceEntry", ["v1"]);
  api.put(OURS, entry("one.example"));
  await withOrch(api, async (server) => {
    api.silentGroups.add("networking.mesh.io");
    api.define("gateways", "networking.istio.io", "Gateway", ["v1"]);
    api.put("/apis/networking.istio.io/v1/gateways", {
      metadata: { name: "g", namespace: "shop" },
      spec: { servers: [{ port: { number: 80, name: "http", protocol: "HTTP" }, hosts: ["*"] }] },
    });
    await until(server, () => server.store.list("Gateway").length === 1);
    assert.deepEqual(hostsOf(server), ["one.example"]);
  });
});

Deno.test("facts come from the API: only some types of secrets, and only metadata where metadata is enough", async () => {
  const api = new MemoryApi();
  api.put("/api/v1/namespaces", { metadata: { name: "shop" } });
  api.put("/api/v1/services", { metadata: { name: "cart", namespace: "shop" }, spec: { ports: [{ port: 80 }] } });
  api.put(MAPS, { metadata: { name: "ca", namespace: "shop" }, data: { "ca.crt": "PEM", "dashboard.json": "large" } });
  await withOrch(api, async (server) => {
    const { facts } = server.configuration;
    assert.equal(facts.list("Namespace").length, 1);
    assert.equal(facts.get("Service", "shop", "cart")?.spec.ports[0]?.port, 80);
    assert.deepEqual({ ...facts.get("ConfigMap", "shop", "ca")?.spec.data }, { "ca.crt": "PEM", "dashboard.json": "" });
    assert.ok(
      api.asked.some((one) =>
        one.startsWith("list /api/v1/secrets") && decodeURIComponent(one).includes("type!=helm.sh/release.v1")
      ),
    );
    api.put("/api/v1/namespaces", { metadata: { name: "other" } });
    await until(server, () => facts.list("Namespace").length === 2);
  });
});

Deno.test("for kinds with namespaces only one namespace is asked for", async () => {
  const api = new MemoryApi();
  api.define("serviceentries", "networking.mesh.io", "ServiceEntry", ["v1"]);
  await withOrch(api, () => {
    const paths = api.asked.filter((one) => one.startsWith("list ")).map((one) => one.slice(5).replace(/\?.*/, ""));
    assert.ok(paths.includes("/apis/networking.mesh.io/v1/namespaces/shop/serviceentries"));
    assert.ok(paths.includes("/api/v1/namespaces/shop/services"));
    assert.ok(paths.includes("/api/v1/namespaces"));
    assert.ok(!paths.includes("/api/v1/services"));
    return Promise.resolve();
  }, { namespace: "shop" });
});

Deno.test("mesh configuration and networks of config maps hold, the shared one under the standard one, and are followed", async () => {
  const api = new MemoryApi();
  const map = (name: string, data: Readonly<Record<string, string>>) =>
    api.put(MAPS, { metadata: { name, namespace: "mesh-system" }, data });
  map("mesh", {
    mesh: "trustDomain: own.example",
    meshNetworks: "networks: {n1: {endpoints: [{fromCidr: 10.0.0.0/8}]}}",
  });
  map("shared", { mesh: "trustDomain: shared.example\nconnectTimeout: 3s" });
  await withOrch(api, async (server) => {
    const state = () => server.mesh.state;
    assert.deepEqual([state().mesh.trustDomain, state().mesh.connectTimeout], ["own.example", 3000]);
    assert.deepEqual(Object.keys(state().networks.networks ?? {}), ["n1"]);
    map("shared", { mesh: "connectTimeout: 4s" });
    await until(server, () => state().mesh.connectTimeout === 4000);
    map("mesh", { mesh: "trustDomain: 5" + "\nconnectTimeout: never" });
    map("mesh", { mesh: "connectTimeout: 7s" });
    await until(server, () => state().mesh.connectTimeout === 7000);
    api.drop(MAPS, "mesh", "mesh-system");
    map("shared", { mesh: "protocolDetectionTimeout: 1s" });
    await until(server, () => state().mesh.protocolDetectionTimeout === 1000);
    assert.equal(state().mesh.connectTimeout, 7000, "what is gone keeps its last settings in force");
  }, { shared: "shared" });
});

Deno.test("a server is not ready, and serves no defaults, before the API was heard of", async () => {
  const api = new MemoryApi();
  api.define("serviceentries", "networking.mesh.io", "ServiceEntry", ["v1"]);
  api.put(OURS, entry("one.example"));
  api.put(MAPS, { metadata: { name: "mesh", namespace: "mesh-system" }, data: { mesh: "trustDomain: own.example" } });
  const { log, line } = openLog();
  let ready = false;
  const running = withOrch(api, (server) => {
    ready = true;
    assert.deepEqual([hostsOf(server), server.mesh.state.mesh.trustDomain], [["one.example"], "own.example"]);
    return Promise.resolve();
  }, { start: false, log });
  await line(/the orchestrator does not answer/);
  assert.equal(ready, false);
  api.start();
  await running;
  assert.equal(ready, true);
});

Deno.test("services of the API are part of the mesh, also beside a folder, and then the folder's manifests are not", async () => {
  const api = new MemoryApi();
  const meta = { name: "cart", namespace: "shop" };
  api.put("/api/v1/services", { metadata: meta, spec: { clusterIP: "10.0.0.1", ports: [{ name: "http", port: 80 }] } });
  const slice = (address: string) =>
    api.put("/apis/discovery.k8s.io/v1/endpointslices", {
      metadata: { ...meta, labels: { "kubernetes.io/service-name": "cart" } },
      addressType: "IPv4",
      ports: [{ name: "http", port: 8080, protocol: "TCP" }],
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
    });
  slice("10.1.0.1");
  await withOrch(api, async (server) => {
    const [key] = [...server.pipeline.aggregate.keys()];
    assert.match(key ?? "", /cart\.shop\.svc\.cluster\.local/);
    const addresses = () => server.pipeline.endpoints.endpoints(key!).map(({ address }) => address);
    assert.deepEqual(addresses(), ["10.1.0.1"]);
    slice("10.1.0.2");
    await until(server, () => addresses()[0] === "10.1.0.2");
    assert.ok(!api.asked.some((one) => one.includes("customresourcedefinitions")), "a folder has the kinds");
  }, { kinds: false });
});

Deno.test("without the registry neither pods nor nodes are asked for", async () => {
  const api = new MemoryApi();
  await withOrch(api, () => {
    assert.deepEqual(api.asked.filter((one) => /\/(pods|nodes)\b/.test(one)), []);
    return Promise.resolve();
  }, { services: false });
});
