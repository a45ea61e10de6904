/**
 * Tests of a waypoint, in a separate network: see `waypoint_test.ts`.
 *
 *     gateway 127.0.0.1 ─┐
 *     client ── HBONE ───┴> waypoint [::1]:15008 ─┬─ HBONE ──> 127.0.0.1:15008, a workload's proxy with the mode STRICT
 *                                               └─ plain ──> 127.0.0.9
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

/** Addresses of the services. Nobody listens there. */
const WEB = "10.96.0.10", BYTES = "10.96.0.11", APART = "10.96.0.12";
/** Address of a server without a proxy. */
const PLAIN = "127.0.0.9";

const GATEWAY_LABEL = "gateway.networking.k8s.io/gateway-name";

function entry(name: string, address: string, port: object, endpoints: readonly object[], waypoint?: string): object {
  const asks = waypoint && { "istio.io/use-waypoint": waypoint, "istio.io/ingress-use-waypoint": "true" };
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "ServiceEntry",
    metadata: { name, namespace: "demo", labels: { ...asks } },
    spec: {
      ...{ hosts: [`${name}.test`], addresses: [address], location: "MESH_INTERNAL", resolution: "STATIC" },
      ports: [port],
      endpoints,
    },
  };
}

/** The objects, but for policies. */
function objects({ http, tcp }: Guarded["ports"], edge: number): object[] {
  const tunnelled = (target: number) => ({
    address: "127.0.0.1",
    ports: { one: target },
    serviceAccount: "server",
    labels: { "networking.istio.io/tunnel": "http", "security.istio.io/tlsMode": "disabled", form: "tunnel" },
  });
  const plain = { address: PLAIN, ports: { one: http }, labels: { form: "plain" } };
  const web = { number: 80, name: "one", protocol: "HTTP" };
  const route = (subset: string) => [{ destination: { host: "web.test", subset } }];
  return [
    {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "Gateway",
      metadata: { name: "door", namespace: "demo" },
      spec: { gatewayClassName: "istio-waypoint", listeners: [{ name: "mesh", port: HBONE_PORT, protocol: "HBONE" }] },
      status: { addresses: [{ type: "Hostname", value: "door.test" }] },
    },
    ...edgeObjects(edge),
    entry("web", WEB, web, [tunnelled(http), plain], "door"),
    entry("bytes", BYTES, { number: 90, name: "one", protocol: "TCP" }, [tunnelled(tcp)], "door"),
    entry("apart", APART, web, [plain], "none"),
    {
      apiVersion: "networking.istio.io/v1",
      kind: "DestinationRule",
      metadata: { name: "web", namespace: "demo" },
      spec: {
        host: "web.test",
        subsets: ["tunnel", "plain"].map((form) => ({ name: form, labels: { form } })),
      },
    },
    {
      apiVersion: "networking.istio.io/v1",
      kind: "VirtualService",
      metadata: { name: "web", namespace: "demo" },
      spec: {
        hosts: ["web.test"],
        http: [{ match: [{ uri: { prefix: "/plain" } }], route: route("plain") }, { route: route("tunnel") }],
      },
    },
  ];
}

/** A gateway with routes of its own. */
function edgeObjects(number: number): object[] {
  return [
    {
      apiVersion: "networking.istio.io/v1",
      kind: "Gateway",
      metadata: { name: "edge", namespace: "demo" },
      spec: {
        selector: { app: "edge" },
        servers: [{ port: { number, name: "http", protocol: "HTTP" }, hosts: ["*"] }],
      },
    },
    {
      apiVersion: "networking.istio.io/v1",
      kind: "VirtualService",
      metadata: { name: "edge", namespace: "demo" },
      spec: {
        hosts: ["*"],
        gateways: ["edge"],
        http: [{
          match: [{ uri: { prefix: "/old" } }],
          rewrite: { uri: "/plain" },
          route: [{ destination: { host: "web.test" } }],
        }, { route: [{ destination: { host: "web.test" } }] }],
      },
    },
  ];
}

/** The Service of the waypoint. */
function door(serviceAccount: string): string {
  const port = { number: HBONE_PORT, name: "hbone", protocol: "TCP" };
  return JSON.stringify(entry("door", "10.96.0.13", port, [{ address: "::1", serviceAccount }]));
}

function policy(name: string, spec: object): object {
  return {
    apiVersion: "security.istio.io/v1",
    kind: "AuthorizationPolicy",
    metadata: { name, namespace: "demo" },
    spec: { action: "DENY", ...spec },
  };
}

const target = (kind: string, name: string, group: string) => ({ targetRefs: [{ kind, name, group }] });

interface Walled extends Guarded {
  readonly waypoint: TestEnvoy;
  /** Port of the gateway. */
  readonly edge: number;
  /** The status of a request to an address; text "closed": no answer. */
  get(path: string, to?: string): Promise<string>;
  /** The status of the CONNECT. */
  connect(to?: string): Promise<number>;
  /** Writes policies. */
  policies(...all: readonly object[]): Promise<void>;
}

function withWaypoint(
  run: (walled: Walled) => Promise<void>,
  settings: Readonly<Record<string, boolean>> = {},
): Promise<void> {
  let edge = 0;
  return withGuarded({
    hbone: true,
    settings: { PILOT_ENABLE_AMBIENT: true, ...settings },
    meshConfig: () => ({
      defaultProviders: { metrics: ["prometheus"] },
      extensionProviders: [{ name: "prometheus", prometheus: {} }],
    }),
    files: (spare, ports) => {
      edge = spare;
      const all = objects(ports, edge).map((one) => JSON.stringify(one)).join("\n---\n");
      return { "objects.yaml": all, "door.yaml": door("keeper") };
    },
  }, async (guarded) => {
    await using _plain = Deno.serve(
      { hostname: PLAIN, port: guarded.ports.http, onListen() {} },
      () => new Response("", { headers: { "x-form": "plain" } }),
    );
    const files = await guarded.identify("door", "cluster.local/ns/demo/sa/keeper");
    const waypoint = await guarded.mesh.attach(envoyPath()!, {
      ...{ type: "waypoint", name: "door-1", namespace: "demo", address: "::1" },
      labels: { [GATEWAY_LABEL]: "door" },
      metadata: { ...files("SERVER"), ...files("CLIENT"), ENABLE_HBONE: "true" },
    }, true);
    await waypoint.ready(HBONE_PORT, "[::1]");
    const { certificate: cert, key } = await guarded.sign("spiffe://cluster.local/ns/demo/sa/friend");
    const ask = (path: string, to: string) =>
      // The connection stays open: its end by the server would reach the caller as a reset, before the answer.
      askByHbone({ to, proxy: "::1", cert, key }, `GET ${path} HTTP/1.1\r\nHost: web.test\r\n\r\n`);
    const connect = async (to = `${WEB}:80`) => (await ask("/", to)).connected;
    const get = async (path: string, to = `${WEB}:80`) => {
      const said = await ask(path, to);
      const status = /^HTTP\/1.1 (\d+)/.exec(said.text)?.[1];
      if (status === undefined) return "closed";
      return said.text.includes("x-form: plain") ? `${status} plain` : status;
    };
    const policies = (...all: readonly object[]) =>
      guarded.mesh.write("policies.yaml", all.map((one) => JSON.stringify(one)).join("\n---\n"));
    await run({ ...guarded, waypoint, edge, get, connect, policies });
  });
}

Deno.test("requests are routed by path, to endpoints with HBONE by HBONE and to others in plain text", () =>
  withWaypoint(async ({ waypoint, get }) => {
    await until("an answer by HBONE", async () => await get("/") === "200");
    assert.equal(await get("/plain"), "200 plain");
    assert.equal(await get("/", `${BYTES}:90`), "200", "bytes");
    const carried = (await waypoint.admin("stats?filter=^cluster\\.connect_originate;?\\.upstream_cx_total$"))!;
    assert.match(carried, /: [1-9]/);
    const measured = (await waypoint.admin("stats?filter=requests_total.*reporter"))!;
    for (
      const part of [
        /reporter\.waypoint/,
        /source_principal\.spiffe:\/\/cluster\.local\/ns\/demo\/sa\/friend/,
        /source_workload_namespace\.demo/,
        /destination_workload_namespace\.demo/,
        /destination_service\.web\.test/,
        /connection_security_policy\.mutual_tls/,
      ]
    ) assert.match(measured, part);
  }));

Deno.test("any other address is refused: other services, other ports, and the waypoint's own machine", () =>
  withWaypoint(async ({ ports, get }) => {
    await until("an answer", async () => await get("/") === "200");
    const others = [`${APART}:80`, "10.96.0.99:80", `${WEB}:81`, `${BYTES}:80`, `${PLAIN}:${ports.http}`];
    const own = [`[::1]:${HBONE_PORT}`, `127.0.0.1:${ports.http}`, "web.test:80", WEB, `${WEB}:${HBONE_PORT}`];
    for (const to of [...others, ...own]) assert.equal(await get("/", to), "closed", to);
    assert.equal(await get("/"), "200");
  }));

Deno.test("policies that name a service or the waypoint's Gateway hold in the chains of that service, and others nowhere", () =>
  withWaypoint(async ({ get, policies }) => {
    await until("an answer", async () => await get("/") === "200");
    const admin = { rules: [{ to: [{ operation: { paths: ["/admin"] } }] }] };
    await policies(policy("web", { ...target("ServiceEntry", "web", "networking.istio.io"), ...admin }));
    await until("refused", async () => await get("/admin") === "403");
    assert.deepEqual([await get("/"), await get("/admin", `${BYTES}:90`)], ["200", "200"]);
    const friends = { rules: [{ from: [{ source: { principals: ["cluster.local/ns/demo/sa/friend"] } }] }] };
    await policies(policy("door", { ...target("Gateway", "door", "gateway.networking.k8s.io"), ...friends }));
    await until("all refused", async () => await get("/") === "403" && await get("/", `${BYTES}:90`) === "closed");
    await policies(
      policy("web", { ...target("ServiceEntry", "web", "networking.istio.io"), ...admin }),
      policy("by-label", { selector: { matchLabels: { [GATEWAY_LABEL]: "door" } }, ...friends }),
    );
    await until("admitted", async () => await get("/") === "200");
    assert.deepEqual([await get("/admin"), await get("/", `${BYTES}:90`)], ["403", "200"]);
  }));

Deno.test("a gateway reaches the service through the waypoint: routes of both, policies at the waypoint, the identities of both", () =>
  withWaypoint(async ({ mesh, edge, identify, waypoint, policies }) => {
    const files = await identify("edge", "cluster.local/ns/demo/sa/border");
    const gateway = await mesh.attach(envoyPath()!, {
      ...{ type: "router", name: "edge-1", namespace: "demo", address: "127.0.0.1", labels: { app: "edge" } },
      metadata: { ...files("CLIENT"), ENABLE_HBONE: "true" },
    }, true);
    await gateway.ready(edge);
    const ask = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${edge}${path}`);
      await answer.body?.cancel();
      return [answer.status, answer.headers.get("x-form")];
    };
    const answers = async (path: string, status: number, form: string | null = null) =>
      await until(`${path}: ${status}`, async () => JSON.stringify(await ask(path)) === JSON.stringify([status, form]));
    await answers("/", 200);
    await answers("/old", 200, "plain");
    assert.match((await waypoint.admin("stats?filter=requests_total.*sa/border"))!, /reporter\.waypoint/);
    await policies(policy("web", {
      ...target("ServiceEntry", "web", "networking.istio.io"),
      rules: [{
        from: [{ source: { principals: ["cluster.local/ns/demo/sa/border"] } }],
        to: [{ operation: { paths: ["/admin"] } }],
      }],
    }));
    await answers("/admin", 403);
    assert.deepEqual(await ask("/"), [200, null]);
    await mesh.write("door.yaml", door("another"));
    await answers("/", 503);
    await mesh.write("door.yaml", door("keeper"));
    await answers("/", 200);
  }));

Deno.test("layered policies without targets refuse the CONNECT with 403, by the client itself and the port of the service", () =>
  withWaypoint(async ({ connect, get, policies }) => {
    await until("an answer", async () => await get("/") === "200");
    const from = (account: string) => ({ from: [{ source: { principals: [`cluster.local/ns/demo/sa/${account}`] } }] });
    const to = (operation: object) => ({ to: [{ operation }] });
    const both = async () => [await connect(), await connect(`${BYTES}:90`)].join(" ");
    const cases: readonly [string, object, string][] = [
      ["the client's identity", { rules: [from("friend")] }, "403 403"],
      ["another client", { rules: [from("other")] }, "200 200"],
      ["by label", { selector: { matchLabels: { [GATEWAY_LABEL]: "door" } }, rules: [from("friend")] }, "403 403"],
      ["by another label", { selector: { matchLabels: { app: "other" } }, rules: [{}] }, "200 200"],
      ["a port", { rules: [to({ ports: ["90"] })] }, "200 403"],
      ["requests, which nothing here compares", { rules: [to({ paths: ["/admin"], ports: ["80"] })] }, "403 200"],
      ["an allow-list", { action: "ALLOW", rules: [{ ...from("friend"), ...to({ ports: ["80"] }) }] }, "200 403"],
      [
        "an allow-list of addresses",
        { action: "ALLOW", rules: [{ from: [{ source: { ipBlocks: ["::1"] } }] }] },
        "200 200",
      ],
      ["an allow-list of requests", { action: "ALLOW", rules: [to({ methods: ["GET"] })] }, "403 403"],
    ];
    for (const [name, spec, wanted] of cases) {
      await policies(policy("layered", spec));
      await until(`${name}: ${wanted}`, async () => await both() === wanted);
    }
    await policies(policy("layered", { rules: [to({ ports: ["80"] })] }));
    await until("refused", async () => await connect() === 403);
    for (const port of ["080", "+80", " 80"]) {
      const status = await connect(`${WEB}:${port}`);
      assert.notEqual(status, 200, `${port}: another text of the port is no way around`);
    }
  }, { ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES: true }));
