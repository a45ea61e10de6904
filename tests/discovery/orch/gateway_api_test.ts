/** The kinds of the Gateway API in an orchestrator's API: versions, definitions that come and go, switches. */
import assert from "node:assert/strict";
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import { until as eventually } from "../../patience.ts";
import { MemoryApi } from "./memory_api.ts";
import { openLog, until, withOrch } from "./with_orch.ts";

const GROUP = "gateway.networking.k8s.io";

const ROUTE = { metadata: { name: "web", namespace: "shop" }, spec: { parentRefs: [{ name: "door" }] } };
const BYTES = {
  metadata: { name: "db", namespace: "shop" },
  spec: { parentRefs: [{ name: "door" }], rules: [{ backendRefs: [{ name: "db", port: 5432 }] }] },
};
const CLASS = { metadata: { name: "mesh" }, spec: { controllerName: "mesh.io/gateway-controller" } };

/** Findings about definitions. */
const unread = (server: DiscoveryServer) =>
  [...server.findings()].filter(({ name }) => name === "unread-definition")
    .map(({ severity, message, effect }) => `${severity}: ${message}: ${effect}`);

Deno.test("kinds of the Gateway API are read in the newest version that is served and known, with or without namespace", async () => {
  const api = new MemoryApi();
  api.define("gatewayclasses", GROUP, "GatewayClass", ["v1", "v1beta1"]);
  api.define("httproutes", GROUP, "HTTPRoute", ["v1beta1", "v1gamma"]);
  api.put(`/apis/${GROUP}/v1/gatewayclasses`, CLASS);
  api.put(`/apis/${GROUP}/v1beta1/httproutes`, ROUTE);
  const { log, line } = openLog();
  await withOrch(api, async (server) => {
    assert.equal(server.store.get("GatewayClass", "", "mesh")?.key, "GatewayClass//mesh");
    const route = server.store.get("HTTPRoute", "shop", "web");
    assert.ok(route?.origin.from === "api");
    assert.deepEqual(route.origin.written, { apiVersion: `${GROUP}/v1beta1`, kind: "HTTPRoute" });
    assert.match(await line(/definitions of the kinds/), /httproutes\.gateway\.networking\.k8s\.io v1beta1/);
    assert.deepEqual(unread(server), []);
  }, { log });
});

Deno.test("a definition that appears later is followed at once, and takes its objects along when it goes", async () => {
  const api = new MemoryApi();
  await withOrch(api, async (server) => {
    api.put(`/apis/${GROUP}/v1/tcproutes`, BYTES);
    api.define("tcproutes", GROUP, "TCPRoute", ["v1"]);
    await until(server, () => server.store.list("TCPRoute").length === 1);
    api.undefine("tcproutes", GROUP);
    await until(server, () => server.store.list("TCPRoute").length === 0);
  });
});

Deno.test("a version that the API serves only after the definition's change is found by a second look", async () => {
  const api = new MemoryApi();
  api.define("tcproutes", GROUP, "TCPRoute", ["v1alpha2"]);
  await withOrch(api, async (server) => {
    assert.equal(unread(server).length, 1);
    // The change is announced before discovery knows of it, and not announced again.
    api.slip("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      metadata: { name: `tcproutes.${GROUP}` },
      spec: { group: GROUP, names: { plural: "tcproutes", kind: "TCPRoute" }, versions: ["v1"] },
    });
    api.put(`/apis/${GROUP}/v1/tcproutes`, BYTES);
    await until(server, () => server.store.list("TCPRoute").length === 1);
    assert.deepEqual(unread(server), []);
  });
});

Deno.test("alpha versions are read only with their switch; without it the definition is a finding", async () => {
  const api = new MemoryApi();
  api.define("tcproutes", GROUP, "TCPRoute", ["v1alpha2"]);
  api.put(`/apis/${GROUP}/v1alpha2/tcproutes`, BYTES);
  const { log, line } = openLog();
  await withOrch(api, async (server) => {
    assert.deepEqual(server.store.list("TCPRoute"), []);
    assert.deepEqual(unread(server), [
      'info: spec.versions: "v1alpha2", expected v1; alpha versions are read only with PILOT_ENABLE_ALPHA_GATEWAY_API: ' +
      "No TCPRoute is read.",
    ]);
    assert.match(
      await line(/definitions of the kinds/),
      /alpha=\["tcproutes\.gateway\.networking\.k8s\.io v1alpha2"\]/,
    );
  }, { log });
  const again = new MemoryApi();
  again.define("tcproutes", GROUP, "TCPRoute", ["v1alpha2"]);
  again.put(`/apis/${GROUP}/v1alpha2/tcproutes`, BYTES);
  await withOrch(again, (server) => {
    assert.deepEqual(server.store.list("TCPRoute").map(({ key }) => key), ["TCPRoute/shop/db"]);
    assert.deepEqual(unread(server), []);
    return Promise.resolve();
  }, { settings: { PILOT_ENABLE_ALPHA_GATEWAY_API: true } });
});

Deno.test("experimental kinds are read, and their status is written, only with the switch of alpha versions", async () => {
  const experimental = "gateway.networking.x-k8s.io";
  const meshes = () => {
    const api = new MemoryApi();
    api.define("xmeshes", experimental, "XMesh", ["v1alpha1"]);
    const metadata = { name: "mesh", generation: 1 };
    const spec = { controllerName: "mesh.io/gateway-controller" };
    api.put(`/apis/${experimental}/v1alpha1/xmeshes`, { metadata, spec });
    return api;
  };
  await withOrch(meshes(), (server) => {
    assert.deepEqual(server.store.list("XMesh"), []);
    assert.deepEqual(unread(server), [
      'info: spec.versions: "v1alpha1", expected a stable version; alpha versions are read only with PILOT_ENABLE_ALPHA_GATEWAY_API: ' +
      "No XMesh is read.",
    ]);
    return Promise.resolve();
  });
  const api = meshes();
  await withOrch(api, async (server) => {
    assert.deepEqual(server.store.list("XMesh").map(({ key }) => key), ["XMesh//mesh"]);
    const status = () =>
      api.get(`/apis/${experimental}/v1alpha1/xmeshes`, "mesh", "")?.["status"] as {
        readonly conditions: readonly { readonly type: string; readonly status: string }[];
        readonly supportedFeatures: readonly { readonly name: string }[];
      } | undefined;
    await api.becomes(() => status() !== undefined);
    assert.deepEqual(status()?.conditions.map(({ type, status }) => `${type} ${status}`), ["Accepted True"]);
    assert.ok(status()?.supportedFeatures.some(({ name }) => name === "Mesh"));
  }, { settings: { PILOT_ENABLE_ALPHA_GATEWAY_API: true } });
});

Deno.test("a definition in unread versions is a finding that ends with a newer definition", async () => {
  const api = new MemoryApi();
  const policies = (version: string, bundle: string) =>
    api.put("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      metadata: {
        name: `backendtlspolicies.${GROUP}`,
        annotations: { "gateway.networking.k8s.io/bundle-version": bundle },
      },
      spec: { group: GROUP, names: { plural: "backendtlspolicies", kind: "BackendTLSPolicy" }, versions: [version] },
    });
  policies("v1alpha2", "v1.0.0");
  const { log, line } = openLog();
  await withOrch(api, async (server) => {
    const found = await line(/MSH1120/);
    assert.match(found, /v1alpha2 of the Gateway API v1\.0\.0", expected one of v1, v1alpha3/);
    assert.match(found, /No BackendTLSPolicy is read\./);
    assert.deepEqual(unread(server).length, 1);
    policies("v1", "v1.6.1");
    await eventually("the finding ends", () => unread(server).length === 0);
  }, { log });
});

Deno.test("PILOT_ENABLE_GATEWAY_API=false reads no kind of the Gateway API, and asks for none", async () => {
  const api = new MemoryApi();
  api.define("httproutes", GROUP, "HTTPRoute", ["v1"]);
  api.put(`/apis/${GROUP}/v1/httproutes`, ROUTE);
  await withOrch(api, (server) => {
    assert.deepEqual(server.store.list("HTTPRoute"), []);
    assert.deepEqual(api.asked.filter((one) => one.includes(GROUP)), []);
    return Promise.resolve();
  }, { settings: { PILOT_ENABLE_GATEWAY_API: false } });
});

Deno.test("another revision's routes are passed over, and Gateways of all revisions are read", async () => {
  const api = new MemoryApi();
  const labels = { "istio.io/rev": "canary" };
  api.define("httproutes", GROUP, "HTTPRoute", ["v1"]);
  api.define("gateways", GROUP, "Gateway", ["v1"]);
  api.put(`/apis/${GROUP}/v1/httproutes`, { ...ROUTE, metadata: { ...ROUTE.metadata, labels } });
  api.put(`/apis/${GROUP}/v1/gateways`, {
    metadata: { name: "door", namespace: "shop", labels },
    spec: { gatewayClassName: "mesh", listeners: [{ name: "http", port: 80, protocol: "HTTP" }] },
  });
  await withOrch(api, (server) => {
    assert.deepEqual(server.store.list("HTTPRoute"), []);
    assert.deepEqual(server.store.list("ApiGateway").map(({ key }) => key), ["ApiGateway/shop/door"]);
    return Promise.resolve();
  }, { settings: { REVISION: "stable" } });
});
