/** WebSocket through real Envoys to servers that are reached over HTTP/2, by themselves or because a rule upgrades them. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";

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

/** The answer to one message over WebSocket; `refused` where the handshake fails. */
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

for (const [how, protocol, rule] of [["a rule upgrades to", "HTTP", UPGRADE], ["declares", "HTTP2", ""]] as const) {
  Deno.test({
    name: `WebSocket reaches its server through two proxies that talk HTTP/2, which ${how} HTTP/2`,
    ignore: path === undefined,
    fn: () =>
      withPorts(2, async ([front = 0, back = 0]) => {
        const versions: string[] = [];
        await using app = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
          versions.push(request.headers.get("upgrade") ?? "none");
          if (request.headers.get("upgrade") !== "websocket") return new Response("plain");
          const { socket, response } = Deno.upgradeWebSocket(request);
          socket.onmessage = ({ data }) => socket.send(`echo ${data}`);
          return response;
        });
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
