/**
 * WebSocket through real Envoys to servers reached over HTTP/2, by their own protocol or because of an upgrade rule.
 */
import assert from "node:assert/strict";
import http from "node:http";
import { withPorts } from "../../scripts/ports.ts";
import { Authority, openssl } from "../certificates.ts";
import { until } from "../patience.ts";
import { askNamed, SIDECAR } from "./support/dynamic_dns_world.ts";
import { writeIdentity } from "./support/identity_files.ts";
import { envoyPath, testBothModes, TestMesh } from "./support/mesh.ts";

const path = envoyPath();

const gateway = (name: string, port: number) =>
  `---
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: ${name}, namespace: demo }
spec:
  selector: { app: ${name} }
  servers: [{ port: { number: ${port}, name: http, protocol: HTTP }, hosts: ["*"] }]
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: ${name}, namespace: demo }
spec:
  hosts: ["*"]
  gateways: [${name}]
  http: [{ route: [{ destination: { host: ${name}.test, port: { number: 80 } } }] }]
`;

const service = (name: string, port: number, protocol: string) =>
  `---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: demo }
spec:
  hosts: [${name}.test]
  ports: [{ number: 80, name: http, protocol: ${protocol}, targetPort: ${port} }]
  resolution: STATIC
  endpoints: [{ address: 127.0.0.1 }]
`;

const UPGRADE = `---
apiVersion: networking.mesh.io/v1
kind: DestinationRule
metadata: { name: front, namespace: demo }
spec: { host: front.test, trafficPolicy: { connectionPool: { http: { h2UpgradePolicy: UPGRADE } } } }
`;

/** The answer to a message over WebSocket. `refused` when the handshake fails. */
function answerOf(port: number, message: string): Promise<string> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/chat`);
  return new Promise((resolve) => {
    socket.onopen = () => socket.send(message);
    socket.onmessage = ({ data }) => {
      socket.close();
      resolve(String(data));
    };
    socket.onerror = () => resolve("refused");
  });
}

/** The status of a WebSocket handshake with the host of a service, at a sidecar. */
function handshake(port: number, host: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const asked = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
  const headers = { ...asked, host, "sec-websocket-key": btoa("0123456789abcdef") };
  const request = http.get({ host: SIDECAR, port, path: "/chat", headers, agent: false });
  request.on("upgrade", (response, socket) => {
    socket.destroy();
    resolve(response.statusCode);
  });
  request.on("response", (response) => resolve(response.resume().statusCode));
  request.on("error", reject);
  return promise;
}

/** A server that counts upgrade requests, and echoes WebSocket messages. */
function application(versions: string[] = []) {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    versions.push(request.headers.get("upgrade") ?? "none");
    if (request.headers.get("upgrade") !== "websocket") return new Response("plain");
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.onmessage = ({ data }) => socket.send(`echo ${data}`);
    return response;
  });
}

/** Two workloads with sidecars in mutual TLS: the client's listens for calls, the server's for connections of the mesh. */
const sidecars = (calls: number, port: number, target: number, protocol: string) => `
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: front, namespace: demo }
spec:
  hosts: [front.test]
  location: MESH_INTERNAL
  ports: [{ number: ${calls}, name: http, protocol: ${protocol}, targetPort: ${port} }]
  resolution: STATIC
  endpoints: [{ address: 127.0.0.1, labels: { security.istio.io/tlsMode: istio } }]
---
apiVersion: networking.mesh.io/v1
kind: Sidecar
metadata: { name: client, namespace: demo }
spec:
  workloadSelector: { labels: { app: client } }
  egress:
  - { port: { number: ${calls}, name: http, protocol: HTTP }, bind: ${SIDECAR}, captureMode: NONE, hosts: ["./*"] }
---
apiVersion: networking.mesh.io/v1
kind: Sidecar
metadata: { name: server, namespace: demo }
spec:
  workloadSelector: { labels: { app: server } }
  egress: [{ hosts: ["~/*"] }]
  ingress:
  - port: { number: ${port}, name: http, protocol: ${protocol} }
    defaultEndpoint: "127.0.0.1:${target}"
    bind: 127.0.0.1
    captureMode: NONE
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: all, namespace: demo }
spec: { mtls: { mode: STRICT } }
`;

testBothModes({
  name:
    "WebSocket reaches a workload whose sidecar and the client's talk HTTP/2 in mutual TLS, because a rule upgrades",
  ignore: path === undefined || !openssl,
  fn: (onDemand) =>
    withPorts(2, async ([calls = 0, port = 0]) => {
      const versions: string[] = [];
      await using app = application(versions);
      const folder = await Deno.makeTempDir({ prefix: "mesh-websocket-" });
      const authority = await Authority.make("mesh");
      try {
        await using mesh = await TestMesh.start({
          onDemand,
          files: { "mesh.yaml": sidecars(calls, port, app.addr.port, "HTTP") + UPGRADE },
        });
        for (const [name, side, listens] of [["server", "SERVER", port], ["client", "CLIENT", calls]] as const) {
          const signed = await authority.sign(name, 1, [["URI", `spiffe://cluster.local/ns/demo/sa/${name}`]]);
          const metadata = (await writeIdentity(folder, name, signed, authority.certificate))(side);
          const identity = { name, namespace: "demo", address: "127.0.0.1", labels: { app: name }, metadata } as const;
          const envoy = await mesh.attach(path!, { ...identity, type: "sidecar" }, true);
          if (side === "SERVER") await envoy.ready(listens);
        }
        await until("an answer", async () => await askNamed(calls, "front.test") === "plain");
        versions.length = 0;
        assert.equal(await handshake(calls, "front.test"), 101);
        assert.deepEqual(versions, ["websocket"]);
        await mesh.settled();
      } finally {
        await authority.remove();
        await Deno.remove(folder, { recursive: true });
      }
    }),
});

Deno.test({
  name: "a server without a proxy that takes no extended CONNECT gets requests over HTTP/2, and WebSocket is refused",
  ignore: path === undefined,
  fn: () =>
    withPorts(1, async ([front = 0]) => {
      const versions: string[] = [];
      await using app = application(versions);
      const files = (rule: string) => ({
        "mesh.yaml": gateway("front", front) + service("front", app.addr.port, "HTTP") + rule,
      });
      for (const [rule, answer] of [["", "echo one"], [UPGRADE, "refused"]] as const) {
        await using mesh = await TestMesh.start({ files: files(rule) });
        const identity = { type: "router", namespace: "demo", address: "127.0.0.1", name: "front" } as const;
        await (await mesh.attach(path!, { ...identity, labels: { app: "front" } }, true)).ready(front);
        await mesh.settled();
        assert.equal(await (await fetch(`http://127.0.0.1:${front}/`)).text(), "plain");
        assert.equal(await answerOf(front, "one"), answer);
      }
    }),
});

for (const [how, protocol, rule] of [["a rule upgrades to", "HTTP", UPGRADE], ["declares", "HTTP2", ""]] as const) {
  Deno.test({
    name: `WebSocket reaches its server through two proxies that talk HTTP/2, which ${how} HTTP/2`,
    ignore: path === undefined,
    fn: () =>
      withPorts(2, async ([front = 0, back = 0]) => {
        const versions: string[] = [];
        await using app = application(versions);
        const files = {
          "mesh.yaml": gateway("front", front) + gateway("back", back) + service("front", back, protocol) +
            service("back", app.addr.port, "HTTP") + rule,
        };
        await using mesh = await TestMesh.start({ files });
        const identity = { type: "router", namespace: "demo", address: "127.0.0.1" } as const;
        for (const [name, port] of [["front", front], ["back", back]] as const) {
          const envoy = await mesh.attach(path!, { ...identity, name, labels: { app: name } }, true);
          await envoy.ready(port);
        }
        await mesh.settled();
        assert.equal(await (await fetch(`http://127.0.0.1:${front}/`)).text(), "plain");
        assert.equal(await answerOf(front, "one"), "echo one");
        assert.deepEqual(versions, ["none", "websocket"]);
        await mesh.settled();
      }),
  });
}
