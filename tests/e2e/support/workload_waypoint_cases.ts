/**
 * Tests of a waypoint of workloads, in a separate network: see `waypoint_test.ts`.
 *
 *     client ── HBONE ──> waypoint [::1]:15008 ─┬─ HBONE ──> 10.1.0.1:15008, a workload's proxy with the mode STRICT
 *                                               └─ plain ──> 10.1.0.2, ::6
 *
 * Permissions: run (envoy, openssl), net (loopback), read, write (temporary folders), env (ENVOY).
 *
 * @module
 */
import assert from "node:assert/strict";
import { HBONE_PORT } from "../../../lib/translate/hbone/names.ts";
import { askByHbone } from "./hbone_client.ts";
import { type Guarded, withGuarded } from "./guarded.ts";
import { envoyPath, type TestEnvoy } from "./mesh.ts";
import { until } from "../../patience.ts";

/** Addresses of workloads: with a proxy, without, and a server that is not behind the waypoint. */
const TUNNELLED = "10.1.0.1", PLAIN = "10.1.0.2", PLAIN_SIX = "::6", APART = "10.1.0.3";
/** Address of a service. Nobody listens there. */
const WEB = "10.96.0.10";

const GATEWAY_LABEL = "gateway.networking.k8s.io/gateway-name";

function workload(name: string, address: string, serviceAccount: string, labels: object): object {
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "WorkloadEntry",
    metadata: { name, namespace: "demo", labels: { "istio.io/use-waypoint": "door", ...labels } },
    spec: { address, serviceAccount },
  };
}

function tunnelled(account: string, waypoint = "door"): string {
  const marks = { "networking.istio.io/tunnel": "http", "security.istio.io/tlsMode": "disabled", app: "server" };
  return JSON.stringify(workload("tunnelled", TUNNELLED, account, { ...marks, "istio.io/use-waypoint": waypoint }));
}

function objects(http: number): string {
  return [
    {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "Gateway",
      metadata: { name: "door", namespace: "demo", labels: { "istio.io/waypoint-for": "all" } },
      spec: { gatewayClassName: "istio-waypoint", listeners: [{ name: "mesh", port: HBONE_PORT, protocol: "HBONE" }] },
    },
    workload("plain", PLAIN, "plain", {}),
    workload("six", PLAIN_SIX, "plain", {}),
    // Loopback addresses of the waypoint's own machine are nobody's.
    workload("loop", "127.0.0.1", "plain", {}),
    workload("apart", APART, "plain", { "istio.io/use-waypoint": "none" }),
    {
      apiVersion: "networking.istio.io/v1",
      kind: "ServiceEntry",
      metadata: { name: "web", namespace: "demo", labels: { "istio.io/use-waypoint": "door" } },
      spec: {
        ...{ hosts: ["web.test"], addresses: [WEB], location: "MESH_INTERNAL", resolution: "STATIC" },
        ports: [{ number: 80, name: "one", protocol: "HTTP" }],
        endpoints: [{ address: PLAIN, ports: { one: http } }],
      },
    },
  ].map((one) => JSON.stringify(one)).join("\n---\n");
}

function policy(name: string, spec: object): object {
  return {
    apiVersion: "security.istio.io/v1",
    kind: "AuthorizationPolicy",
    metadata: { name, namespace: "demo" },
    spec: { action: "DENY", ...spec },
  };
}

const OF_GATEWAY = { targetRefs: [{ kind: "Gateway", name: "door", group: "gateway.networking.k8s.io" }] };
const OF_SERVICE = { targetRefs: [{ kind: "ServiceEntry", name: "web", group: "networking.istio.io" }] };
const ADMIN = { rules: [{ to: [{ operation: { paths: ["/admin"] } }] }] };

interface Walled extends Guarded {
  readonly waypoint: TestEnvoy;
  /** The status of a request to an address; text "closed": no answer. */
  get(path: string, to?: string): Promise<string>;
  policies(...all: readonly object[]): Promise<void>;
}

function withWaypoint(run: (walled: Walled) => Promise<void>): Promise<void> {
  return withGuarded({
    hbone: true,
    address: TUNNELLED,
    settings: { PILOT_ENABLE_AMBIENT: true },
    meshConfig: () => ({
      defaultProviders: { metrics: ["prometheus"] },
      extensionProviders: [{ name: "prometheus", prometheus: {} }],
    }),
    files: (_, { http }) => ({ "objects.yaml": objects(http), "tunnelled.yaml": tunnelled("server") }),
  }, async (guarded) => {
    const { http } = guarded.ports;
    const serve = (hostname: string) =>
      Deno.serve({ hostname, port: http, onListen() {} }, () => new Response("", { headers: { "x-at": hostname } }));
    await using _plain = serve(PLAIN);
    await using _six = serve(PLAIN_SIX);
    await using _apart = serve(APART);
    await using _loop = serve("127.0.0.1");
    const files = await guarded.identify("door", "cluster.local/ns/demo/sa/keeper");
    const waypoint = await guarded.mesh.attach(envoyPath()!, {
      ...{ type: "waypoint", name: "door-1", namespace: "demo", address: "::1" },
      labels: { [GATEWAY_LABEL]: "door" },
      metadata: { ...files("SERVER"), ...files("CLIENT"), ENABLE_HBONE: "true" },
    }, true);
    await waypoint.ready(HBONE_PORT, "[::1]");
    const { certificate: cert, key } = await guarded.sign("spiffe://cluster.local/ns/demo/sa/friend");
    const get = async (path: string, to = `${TUNNELLED}:${http}`) => {
      const said = await askByHbone({ to, proxy: "::1", cert, key }, `GET ${path} HTTP/1.1\r\nHost: web.test\r\n\r\n`);
      const status = /^HTTP\/1.1 (\d+)/.exec(said.text)?.[1];
      if (status === undefined) return "closed";
      const at = /x-at: (\S+)/.exec(said.text)?.[1];
      return at === undefined ? status : `${status} ${at}`;
    };
    const policies = (...all: readonly object[]) =>
      guarded.mesh.write("policies.yaml", all.map((one) => JSON.stringify(one)).join("\n---\n"));
    await run({ ...guarded, waypoint, get, policies });
  });
}

Deno.test("connections to addresses of workloads go on by HBONE or in plain text, requests and bytes, over IPv4 and IPv6", () =>
  withWaypoint(async ({ ports: { http, tcp }, waypoint, get }) => {
    await until("an answer by HBONE", async () => await get("/") === "200");
    assert.equal(await get("/", `${TUNNELLED}:${tcp}`), "200", "a port that carries bytes");
    assert.equal(await get("/", `${PLAIN}:${http}`), `200 ${PLAIN}`);
    assert.equal(await get("/", `[${PLAIN_SIX}]:${http}`), `200 ${PLAIN_SIX}`);
    assert.equal(await get("/", `${WEB}:80`), `200 ${PLAIN}`, "the service");
    const carried = (await waypoint.admin("stats?filter=^cluster\\.connect_originate;?\\.upstream_cx_total$"))!;
    assert.match(carried, /: [1-9]/);
    const measured = (await waypoint.admin("stats?filter=requests_total.*reporter"))!;
    for (const part of [/reporter\.waypoint/, /source_principal\.spiffe:\/\/cluster\.local\/ns\/demo\/sa\/friend/]) {
      assert.match(measured, part);
    }
  }));

Deno.test("any other address is refused: other workloads, the waypoint's own machine and names; and an address without a port", () =>
  withWaypoint(async ({ ports: { http }, get }) => {
    await until("an answer", async () => await get("/") === "200");
    const own = [`[::1]:${HBONE_PORT}`, `127.0.0.1:${http}`, `localhost:${http}`];
    for (const to of [`${APART}:${http}`, `10.1.0.9:${http}`, `web.test:80`, ...own]) {
      assert.equal(await get("/", to), "closed", to);
    }
    for (const to of [TUNNELLED, PLAIN]) assert.equal(await get("/", to), "503", to);
    assert.equal(await get("/"), "200");
  }));

Deno.test("a workload must show the identity of its account", () =>
  withWaypoint(async ({ mesh, get }) => {
    await until("an answer", async () => await get("/") === "200");
    await mesh.write("tunnelled.yaml", tunnelled("another"));
    await until("refused", async () => await get("/") === "503");
    await mesh.write("tunnelled.yaml", tunnelled("server"));
    await until("an answer again", async () => await get("/") === "200");
  }));

Deno.test("policies of the Gateway hold for requests and bytes to workloads; policies of a service hold at its address", () =>
  withWaypoint(async ({ ports: { http, tcp }, get, policies }) => {
    const plain = `${PLAIN}:${http}`;
    await until("an answer", async () => await get("/") === "200");
    await policies(policy("admin", { ...OF_GATEWAY, ...ADMIN }));
    await until("refused", async () => await get("/admin") === "403" && await get("/admin", plain) === "403");
    assert.deepEqual([await get("/"), await get("/", plain)], ["200", `200 ${PLAIN}`]);
    await policies(policy("admin", { ...OF_SERVICE, ...ADMIN }));
    await until("admitted", async () => await get("/admin") === "200");
    await until("refused at the service", async () => await get("/admin", `${WEB}:80`) === "403");
    assert.equal(await get("/admin", plain), `200 ${PLAIN}`);
    await policies(policy("port", { ...OF_GATEWAY, rules: [{ to: [{ operation: { ports: [`${tcp}`] } }] }] }));
    await until("refused by port", async () => await get("/", `${TUNNELLED}:${tcp}`) === "403");
    assert.equal(await get("/"), "200");
    const friend = { from: [{ source: { principals: ["cluster.local/ns/demo/sa/friend"] } }] };
    await policies(policy("friend", { ...OF_GATEWAY, rules: [friend] }));
    await until("refused by name", async () => await get("/") === "403" && await get("/", plain) === "403");
  }));

Deno.test("a workload that leaves the waypoint is refused there, and no listener changes", () =>
  withWaypoint(async ({ ports: { http }, mesh, waypoint, get }) => {
    await until("an answer", async () => await get("/") === "200");
    const updates = () => waypoint.admin("stats?filter=^listener_manager\\.listener_(modified|added|removed|in_place)");
    const before = await updates();
    await mesh.write("tunnelled.yaml", tunnelled("server", "none"));
    await until("refused", async () => await get("/") === "closed");
    assert.equal(await get("/", `${PLAIN}:${http}`), `200 ${PLAIN}`);
    await mesh.write("tunnelled.yaml", tunnelled("server"));
    await until("an answer again", async () => await get("/") === "200");
    assert.equal(await updates(), before);
  }));
