/**
 * Tests of a gateway between networks, in a separate network: see `network_gateway_test.ts`.
 *
 *     sidecar in network near ── HBONE ──> gateway of network far [::1]:15008 ── bytes ──> 127.0.0.1:15008
 *                    └────────── HBONE in the bytes ─────────────────────────────────────────┘
 *
 * Permissions: run (envoy, openssl), net (loopback), read, write (temporary folders), env (ENVOY).
 *
 * @module
 */
import assert from "node:assert/strict";
import { withPorts } from "../../../scripts/ports.ts";
import { HBONE_PORT } from "../../../lib/translate/hbone/names.ts";
import { askByHbone } from "./hbone_client.ts";
import { type Guarded, withGuarded } from "./guarded.ts";
import { envoyPath, type TestEnvoy } from "./mesh.ts";
import { requestHost } from "./request.ts";
import { until } from "../../patience.ts";

/** The label of everything that is deployed for a gateway between networks. */
const MANAGED = { "gateway.istio.io/managed": "istio.io-eastwest-controller" };
const HOST = "web.demo.svc.cluster.local";

function service(name: string, address: string, port: number, target: number, labels: object = {}): object {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "demo", labels },
    spec: {
      clusterIP: address,
      selector: { app: name },
      ports: [{ name: "http", port, targetPort: target }],
    },
  };
}

function workload(app: string, address: string, labels: object, serviceAccount = "server"): object {
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "WorkloadEntry",
    metadata: { name: app, namespace: "demo" },
    spec: { address, network: "far", serviceAccount, labels: { app, ...labels } },
  };
}

const TUNNEL = { "networking.istio.io/tunnel": "http", "security.istio.io/tlsMode": "disabled" };

/** The Service of the gateway, as it is deployed. */
const GATEWAY = {
  apiVersion: "v1",
  kind: "Service",
  metadata: {
    name: "border",
    namespace: "demo",
    labels: { ...MANAGED, "topology.istio.io/network": "far" },
    // The client captures nothing, so its listener for this service would bind the port of HBONE.
    annotations: { "networking.istio.io/exportTo": "~" },
  },
  spec: { clusterIP: "10.96.0.9", externalIPs: ["::1"], ports: [{ name: "hbone", port: HBONE_PORT }] },
};

/** Address of a server without a proxy. */
const PLAIN = "127.0.0.9";

/** The Gateway. The Service is not derived from it: nothing is deployed here. */
const BORDER = {
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "Gateway",
  metadata: { name: "border", namespace: "demo", labels: { "topology.istio.io/network": "far" } },
  spec: { gatewayClassName: "istio-east-west", listeners: [{ name: "mesh", port: HBONE_PORT, protocol: "HBONE" }] },
};

const USES_DOOR = { "istio.io/use-waypoint": "door" };

/** A waypoint in the other network. */
const DOOR = [
  {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: { name: "door", namespace: "demo" },
    spec: { gatewayClassName: "istio-waypoint", listeners: [{ name: "mesh", port: HBONE_PORT, protocol: "HBONE" }] },
    status: { addresses: [{ type: "Hostname", value: "door.demo.svc.cluster.local" }] },
  },
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "door", namespace: "demo", annotations: { "networking.istio.io/exportTo": "~" } },
    spec: { clusterIP: "10.96.0.13", selector: { app: "door" }, ports: [{ name: "hbone", port: HBONE_PORT }] },
  },
  workload("door", "127.0.0.1", TUNNEL, "keeper"),
];

const text = (...all: readonly object[]) => all.map((one) => JSON.stringify(one)).join("\n---\n");

interface Networks extends Guarded {
  readonly client: TestEnvoy;
  readonly gateway: TestEnvoy;
  /** Port of the services. */
  readonly port: number;
  /** The status of a request to a service by the client's sidecar. */
  get(host: string): Promise<string>;
}

/** @param door Whether the service has a waypoint in the other network, and workloads without a proxy. */
function withNetworks(run: (networks: Networks) => Promise<void>, door = false): Promise<void> {
  return withPorts(1, ([port = 0]) =>
    withGuarded({
      ...door ? { callsNobody: true } : { hbone: true },
      manifestServices: true,
      settings: { PILOT_ENABLE_AMBIENT: true, AMBIENT_ENABLE_MULTI_NETWORK: true },
      meshConfig: () => ({
        defaultProviders: { metrics: ["prometheus"] },
        extensionProviders: [{ name: "prometheus", prometheus: {} }],
        serviceScopeConfigs: [{
          servicesSelector: { matchExpressions: [{ key: "istio.io/global", operator: "In", values: ["true"] }] },
          scope: "GLOBAL",
        }],
      }),
      files: (_, { http }) => ({
        "services.yaml": text(
          BORDER,
          service("web", "10.96.0.10", port, http, { "istio.io/global": "true", ...door ? USES_DOOR : {} }),
          service("local", "10.96.0.11", port, http),
          service("other", "10.96.0.12", port, http, { "istio.io/global": "true" }),
          ...door ? [workload("web", PLAIN, {}, ""), ...DOOR] : [workload("web", "127.0.0.1", TUNNEL)],
          workload("local", "127.0.0.1", TUNNEL),
          workload("other", "127.0.0.1", TUNNEL, "other"),
        ),
        "gateway.yaml": text(GATEWAY),
      }),
    }, async (guarded) => {
      const border = await guarded.identify("border", "cluster.local/ns/demo/sa/border");
      const gateway = await guarded.mesh.attach(envoyPath()!, {
        ...{ type: "waypoint", name: "border-1", namespace: "demo", address: "::1" },
        labels: { ...MANAGED, "gateway.networking.k8s.io/gateway-name": "border" },
        metadata: { ...border("SERVER"), ...border("CLIENT"), ENABLE_HBONE: "true", NETWORK: "far" },
      }, true);
      await gateway.ready(HBONE_PORT, "[::1]");
      const friend = await guarded.identify("client", "cluster.local/ns/demo/sa/friend");
      const client = await guarded.mesh.attach(envoyPath()!, {
        ...{ type: "sidecar", name: "client", namespace: "demo", address: "127.0.0.1", labels: {} },
        metadata: { ...friend("CLIENT"), ENABLE_HBONE: "true", NETWORK: "near" },
      }, true);
      await client.ready(port);
      const get = async (host: string) => {
        const answer = await requestHost(port, host);
        return typeof answer === "string" ? answer : `${answer.status}`;
      };
      await run({ ...guarded, port, client, gateway, get });
    }));
}

const policy = (spec: object) =>
  JSON.stringify({
    apiVersion: "security.istio.io/v1",
    kind: "AuthorizationPolicy",
    metadata: { name: "policy", namespace: "demo" },
    spec,
  });

const FRIEND = "cluster.local/ns/demo/sa/friend";

Deno.test("a sidecar reaches a global service in another network through the network's gateway, as itself", () =>
  withNetworks(async ({ mesh, client, gateway, get }) => {
    await until("an answer", async () => await get(HOST) === "200");
    const stat = async (envoy: TestEnvoy, name: string) =>
      Number(/: (\d+)/.exec((await envoy.admin(`stats?filter=${name}$`))!)?.[1] ?? 0);
    for (const cluster of ["inner_connect_originate", "outer_connect_originate"]) {
      assert.ok(await stat(client, `cluster\\.${cluster};?\\.ssl\\.handshake`) > 0, cluster);
    }
    assert.ok(await stat(gateway, "forward_inner_connect.*web.*upstream_cx_total") > 0);
    // The workload sees the client, not the gateway.
    const by = (...principals: string[]) => ({ rules: [{ from: [{ source: { principals } }] }] });
    await mesh.write(
      "policy.yaml",
      policy({ action: "DENY", selector: { matchLabels: { app: "server" } }, ...by(FRIEND) }),
    );
    await until("refused", async () => await get(HOST) === "403");
    await mesh.write(
      "policy.yaml",
      policy({
        action: "DENY",
        selector: { matchLabels: { app: "server" } },
        ...by("cluster.local/ns/demo/sa/border"),
      }),
    );
    await until("admitted", async () => await get(HOST) === "200");
    // Another workload cannot answer for the service, although the gateway leads to it.
    assert.equal(await get("other.demo.svc.cluster.local"), "503");
    assert.ok(await stat(client, "cluster\\.inner_connect_originate;?\\.ssl\\.fail_verify_san") > 0);
  }));

Deno.test("without a gateway, or without the scope GLOBAL, workloads of another network are never dialled", () =>
  withNetworks(async ({ mesh, client, envoy, get }) => {
    await until("an answer", async () => await get(HOST) === "200");
    assert.equal(await get("local.demo.svc.cluster.local"), "503");
    await mesh.write("gateway.yaml");
    await until("no way", async () => await get(HOST) === "503");
    await mesh.write("gateway.yaml", text(GATEWAY));
    await until("an answer again", async () => await get(HOST) === "200");
    // The workload's port for HBONE is within reach here: only the configuration keeps the client away.
    assert.doesNotMatch((await client.admin("clusters"))!, /connect_originate\/127\.0\.0\.1|::127\.0\.0\.1:15008/);
    assert.match((await envoy.admin("listeners"))!, /connect_terminate::0\.0\.0\.0:15008/);
  }));

Deno.test("the gateway forwards to ports of global services, for certificates of the mesh, and nowhere else", () =>
  withNetworks(async ({ mesh, sign, ports, get, port }) => {
    await until("an answer", async () => await get(HOST) === "200");
    const call = async (to: string, ...ids: string[]) => {
      const { certificate: cert, key } = await sign(...ids);
      return (await askByHbone({ to, proxy: "::1", cert, key }, "hello")).connected;
    };
    const own = `spiffe://${FRIEND}`;
    assert.equal(await call(`${HOST}:${port}`, own), 200);
    const others = [
      `local.demo.svc.cluster.local:${port}`,
      `${HOST}:${port + 1}`,
      HOST,
      `web.demo:${port}`,
      `127.0.0.1:${ports.http}`,
      `127.0.0.1:${HBONE_PORT}`,
      `[::1]:${HBONE_PORT}`,
      `10.96.0.10:${port}`,
    ];
    for (const to of others) assert.equal(await call(to, own), 404, to);
    assert.equal(await call(`${HOST}:${port}`, own, `${own}2`), 403, "two names");
    assert.equal(await call(`${HOST}:${port}`, "spiffe://other.example/ns/demo/sa/friend"), 0, "another trust domain");
    assert.equal((await askByHbone({ to: `${HOST}:${port}`, proxy: "::1" }, "hello")).connected, 0, "no certificate");
    // A policy of the Gateway sees the client and the port.
    await mesh.write(
      "policy.yaml",
      policy({
        action: "DENY",
        targetRefs: [{ kind: "Gateway", group: "gateway.networking.k8s.io", name: "border" }],
        rules: [{ from: [{ source: { principals: [FRIEND] } }], to: [{ operation: { ports: [`${port}`] } }] }],
      }),
    );
    await until("refused by the policy", async () => await call(`${HOST}:${port}`, own) === 403);
    assert.equal(await call(`${HOST}:${port}`, "spiffe://cluster.local/ns/demo/sa/guest"), 200);
  }));

Deno.test("behind the gateway the waypoint of a service takes the connections, and its policies hold for the client", () =>
  withNetworks(async ({ mesh, identify, ports, get }) => {
    await using _plain = Deno.serve({ hostname: PLAIN, port: ports.http, onListen() {} }, () => new Response("plain"));
    const files = await identify("door", "cluster.local/ns/demo/sa/keeper");
    const waypoint = await mesh.attach(envoyPath()!, {
      ...{ type: "waypoint", name: "door-1", namespace: "demo", address: "127.0.0.1" },
      labels: { "gateway.networking.k8s.io/gateway-name": "door" },
      metadata: { ...files("SERVER"), ...files("CLIENT"), ENABLE_HBONE: "true", NETWORK: "far" },
    }, true);
    await waypoint.ready(HBONE_PORT);
    await until("an answer", async () => await get(HOST) === "200");
    assert.match((await waypoint.admin("stats?filter=requests_total.*sa/friend"))!, /reporter\.waypoint/);
    await mesh.write(
      "policy.yaml",
      policy({
        action: "DENY",
        targetRefs: [{ kind: "Service", group: "", name: "web" }],
        rules: [{ from: [{ source: { principals: [FRIEND] } }] }],
      }),
    );
    await until("refused", async () => await get(HOST) === "403");
  }, true));
