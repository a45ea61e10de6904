/**
 * Open connections during changes of configuration: a real Envoy keeps and ends the connections that `diff` predicts.
 */
import assert from "node:assert/strict";
import http from "node:http";
import net from "node:net";
import tls from "node:tls";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { compareVersions } from "../../lib/offline/diff/compare.ts";
import { withPorts } from "../../scripts/ports.ts";
import { meshOf, readsOf } from "../offline/mesh_of.ts";
import { DOOR } from "./support/door.ts";
import { envoyPath, type TestEnvoy, TestMesh } from "./support/mesh.ts";
import { until } from "../patience.ts";

const path = envoyPath();

/** A server that echoes bytes. */
class Echo implements AsyncDisposable {
  readonly #server: net.Server;
  readonly port: number;

  private constructor(server: net.Server) {
    this.#server = server;
    this.port = (server.address() as net.AddressInfo).port;
  }

  static async start(): Promise<Echo> {
    const server = net.createServer((socket) => socket.on("error", () => {}).pipe(socket));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new Echo(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** An HTTP server that counts its connections. */
class Application implements AsyncDisposable {
  connections = 0;
  readonly #server = http.createServer((_request, response) => void response.end("web"));

  private constructor() {
    this.#server.on("connection", () => this.connections++);
  }

  static async start(): Promise<Application> {
    const application = new Application();
    await new Promise<void>((resolve) => application.#server.listen(0, "127.0.0.1", resolve));
    return application;
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** A long-lived connection through the gateway. */
interface LongLived extends Disposable {
  /** Whether bytes or requests still travel both ways. */
  works(): Promise<boolean>;
}

/** A connection that carries bytes, with given first bytes. */
async function bytes(port: number, first: Uint8Array): Promise<LongLived> {
  const socket = net.connect(port, "127.0.0.1").on("error", () => {});
  let got = 0;
  socket.on("data", (data) => got += data.length);
  const carries = async (data: Uint8Array): Promise<boolean> => {
    if (socket.destroyed || socket.readableEnded) return false;
    const wanted = got + data.length;
    socket.write(data);
    await until("an echo, or the end", () => got >= wanted || socket.destroyed || socket.readableEnded);
    return got >= wanted;
  };
  assert.ok(await carries(first), `nothing comes back at ${port}`);
  return { works: () => carries(new Uint8Array([1])), [Symbol.dispose]: () => void socket.destroy() };
}

/** A connection shared by HTTP requests. It works until the gateway ends the connection. */
async function requests(port: number, host: string): Promise<LongLived> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const ask = () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const request = http.get({ host: "127.0.0.1", port, headers: { host }, agent }, (response) => {
      response.resume().on("end", () => {
        const ends = response.headers.connection === "close";
        resolve(
          ends || response.statusCode !== 200 ? `ended ${response.statusCode}` : String(request.socket?.localPort),
        );
      });
    });
    request.on("error", (error) => resolve(`ended ${error.message}`));
    return promise;
  };
  const first = await ask();
  assert.doesNotMatch(first, /^ended/);
  return { works: async () => await ask() === first, [Symbol.dispose]: () => agent.destroy() };
}

/** The first bytes of a TLS client with a server name. */
async function clientHello(servername: string): Promise<Uint8Array> {
  const { promise, resolve } = Promise.withResolvers<Uint8Array>();
  const server = net.createServer((socket) => socket.on("error", () => {}).once("data", resolve));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const client = tls.connect({ port: (server.address() as net.AddressInfo).port, host: "127.0.0.1", servername });
  client.on("error", () => {});
  const hello = await promise;
  client.destroy();
  await new Promise((closed) => server.close(closed));
  return new Uint8Array(hello);
}

interface Ports {
  readonly http: number;
  readonly tcp: number;
  readonly tls: number;
  readonly web: number;
  readonly echo: number;
  readonly other: number;
  /** Nothing listens there. */
  readonly spare: number;
}

const service = (name: string, protocol: string, port: number) => `
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: demo }
spec:
  hosts: [${name}.demo.svc.cluster.local]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: main, protocol: ${protocol} }]
  endpoints: [{ address: 127.0.0.1, ports: { main: ${port} } }]
`;

const destination = (name: string) => `destination: { host: ${name}.demo.svc.cluster.local }`;

function world(ports: Ports): Record<string, string> {
  const server = (port: number, protocol: string, host: string) =>
    `{ port: { number: ${port}, name: n${port}-${
      host[0] === "*" ? "all" : host[0]
    }, protocol: ${protocol} }, hosts: ["${host}"]${protocol === "TLS" ? ", tls: { mode: PASSTHROUGH }" : ""} }`;
  const route = (name: string, rules: string) => `
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: ${name}, namespace: demo }
spec: { hosts: [${name.includes(".") ? name : '"*"'}], gateways: [door], ${rules} }
`;
  const tlsRule = (name: string, to: string) =>
    route(name, `tls: [{ match: [{ sniHosts: [${name}] }], route: [{ ${destination(to)} }] }]`);
  return {
    "gateway.yaml": `
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: door, namespace: demo }
spec:
  selector: { app: door }
  servers:
    - ${server(ports.http, "HTTP", "*")}
    - ${server(ports.tcp, "TCP", "*")}
    - ${server(ports.tls, "TLS", "a.test")}
    - ${server(ports.tls, "TLS", "b.test")}
`,
    "services.yaml": [service("web", "HTTP", ports.web), service("echo", "TCP", ports.echo)].join("---"),
    "other.yaml": service("other", "TCP", ports.other),
    "web.yaml": route("web.test", `http: [{ timeout: 3s, route: [{ ${destination("web")} }] }]`),
    "tcp.yaml": route("tcp", `tcp: [{ match: [{ port: ${ports.tcp} }], route: [{ ${destination("echo")} }] }]`),
    "a.yaml": tlsRule("a.test", "echo"),
    "b.yaml": tlsRule("b.test", "echo"),
  };
}

/** The connections that `diff` expects to end, in short form. */
function predicted(old: Record<string, string>, now: Record<string, string>): string[] {
  const mesh = meshOf(old, { vhds: true });
  const gone = Object.keys(old).filter((path) => !(path in now)).map((path) => ({ path, bytes: undefined }));
  const { groups } = unpaced(compareVersions(mesh, () => mesh.index.applySteps([...readsOf(now), ...gone]), {
    nodes: ["demo/door"],
    textOf: { old: (file) => old[file], now: (file) => now[file] },
  }));
  return groups.flatMap(({ ended }) => ended.map(({ of, which }) => `${of}: ${which}`));
}

/** Waits until old listeners and chains are gone: Envoy counts no draining ones. */
async function drained(envoy: TestEnvoy): Promise<void> {
  await until("the end of draining", async () => {
    const stats = await envoy.admin("stats?filter=(total_listeners_draining|total_filter_chains_draining)$");
    return stats !== undefined && stats.trim().split("\n").every((line) => line.endsWith(": 0"));
  });
}

type Kept = Readonly<Record<"http" | "tcp" | "a" | "b" | "upstream", boolean>>;

const ALL: Kept = { http: true, tcp: true, a: true, b: true, upstream: true };

const CLUSTER_IS_NEW = "cluster: to its endpoints that carry nothing; those in use go on until they end";

/** A change of a file, the connections that a real Envoy keeps, and the ends that `diff` predicts. */
const CHANGES: readonly {
  readonly what: string;
  readonly file: string;
  readonly to: (text: string, ports: Ports) => string | undefined;
  readonly kept: Kept;
  readonly says: readonly string[];
}[] = [
  {
    what: "a route",
    file: "web.yaml",
    to: (text) => text.replace("timeout: 3s", "timeout: 4s"),
    kept: ALL,
    says: [],
  },
  {
    what: "an endpoint beside the others",
    file: "services.yaml",
    to: (text, { echo, other }) =>
      text.replace(`{ main: ${echo} } }]`, `{ main: ${echo} } }, { address: 127.0.0.1, ports: { main: ${other} } }]`),
    kept: ALL,
    says: [],
  },
  {
    what: "another endpoint in place of the one in use",
    file: "services.yaml",
    to: (text, { echo, other }) => text.replace(`main: ${echo} }`, `main: ${other} }`),
    kept: ALL,
    says: [],
  },
  {
    what: "another definition of clusters",
    file: "rules.yaml",
    to: () => `
apiVersion: networking.mesh.io/v1
kind: DestinationRule
metadata: { name: echo, namespace: demo }
spec: { host: echo.demo.svc.cluster.local, trafficPolicy: { connectionPool: { tcp: { maxConnections: 7 } } } }
---
apiVersion: networking.mesh.io/v1
kind: DestinationRule
metadata: { name: web, namespace: demo }
spec: { host: web.demo.svc.cluster.local, trafficPolicy: { connectionPool: { tcp: { maxConnections: 7 } } } }
`,
    kept: { ...ALL, upstream: false },
    says: [CLUSTER_IS_NEW, CLUSTER_IS_NEW],
  },
  {
    what: "the destination of a TCP listener's only chain",
    file: "tcp.yaml",
    to: (text) => text.replace("echo.demo", "other.demo"),
    kept: { ...ALL, tcp: false },
    says: ["listener: of filter chain 0"],
  },
  {
    what: "the destination of one chain of several",
    file: "a.yaml",
    to: (text) => text.replace("echo.demo", "other.demo"),
    kept: { ...ALL, a: false },
    says: ["listener: of filter chain 0"],
  },
  {
    what: "a chain that goes",
    file: "b.yaml",
    to: () => undefined,
    kept: { ...ALL, b: false },
    says: ["listener: of filter chain 1"],
  },
  {
    what: "a listener that moves",
    file: "gateway.yaml",
    to: (text, { http, spare }) => text.replace(`number: ${http},`, `number: ${spare},`),
    kept: { ...ALL, http: false },
    says: ["listener: all"],
  },
];

/** Opens all connections, makes a change, and determines which connections are kept. */
async function keptBy(
  change: (mesh: TestMesh, world: Record<string, string>, ports: Ports) => Promise<void>,
): Promise<Record<string, boolean>> {
  return await withPorts(4, async ([http = 0, tcp = 0, tls = 0, spare = 0]) => {
    await using web = await Application.start();
    await using echo = await Echo.start();
    await using other = await Echo.start();
    const ports = { http, tcp, tls, web: web.port, echo: echo.port, other: other.port, spare };
    const files = world(ports);
    await using mesh = await TestMesh.start({ files });
    const envoy = await mesh.attach(path!, DOOR, true, { drainTime: 1 });
    await mesh.settled();
    for (const port of [http, tcp, tls]) await envoy.ready(port);
    using connections = new DisposableStack();
    const open = {
      http: connections.use(await requests(http, "web.test")),
      tcp: connections.use(await bytes(tcp, new Uint8Array([0]))),
      a: connections.use(await bytes(tls, await clientHello("a.test"))),
      b: connections.use(await bytes(tls, await clientHello("b.test"))),
    };
    const upstream = web.connections;
    const pushes = (await mesh.page<unknown[]>("pushes")).length;
    await change(mesh, files, ports);
    await until("the push", async () => (await mesh.page<unknown[]>("pushes")).length > pushes);
    await mesh.settled();
    await drained(envoy);
    const kept: Record<string, boolean> = {};
    for (const [name, connection] of Object.entries(open)) kept[name] = await connection.works();
    return { ...kept, upstream: web.connections === upstream };
  });
}

for (const { what, file, to, kept, says } of CHANGES) {
  Deno.test({
    name: `${what}: Envoy keeps and ends the connections that diff says`,
    ignore: path === undefined,
    fn: async () => {
      let said: readonly string[] = [];
      const found = await keptBy(async (mesh, old, ports) => {
        const text = to(old[file] ?? "", ports);
        const { [file]: _, ...rest } = old;
        said = predicted(old, text === undefined ? rest : { ...rest, [file]: text });
        await mesh.write(file, text);
      });
      assert.deepEqual({ kept: found, says: said }, { kept, says });
    },
  });
}

Deno.test({
  name: "a change of listeners outside of their chains ends all of their connections",
  ignore: path === undefined,
  fn: async () => {
    const found = await keptBy((mesh) =>
      Deno.writeTextFile(`${mesh.folder}/mesh.json`, JSON.stringify({ accessLogFile: "/dev/null" }))
    );
    assert.deepEqual(found, { http: false, tcp: false, a: false, b: false, upstream: true });
  },
});
