/** Tunnels of rules, with stock Envoys: the proxy before the target gets CONNECT or POST, and bytes pass. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { withPorts } from "../../scripts/ports.ts";
import { envoyPath, testBothModes, TestMesh } from "./support/mesh.ts";
import { PATIENCE } from "../patience.ts";

const path = envoyPath();

function world(client: number, proxy: number, protocol: string): string {
  return `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: forward, namespace: demo }
spec:
  hosts: [forward.test]
  addresses: [10.9.0.7]
  resolution: STATIC
  ports: [{ number: ${client}, name: own, protocol: TCP }]
  endpoints: [{ address: 127.0.0.1, ports: { own: ${proxy} } }]
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: forward, namespace: demo }
spec:
  host: forward.test
  trafficPolicy: { tunnel: { protocol: ${protocol}, targetHost: far.test, targetPort: 4711 } }
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: { name: client, namespace: demo }
spec:
  workloadSelector: { labels: { app: client } }
  egress:
    - { port: { number: ${client}, name: own, protocol: TCP }, bind: 127.0.0.1, captureMode: NONE, hosts: ["./forward.test"] }
`;
}

/** A proxy that notes each request, and answers the bytes in the tunnel. */
async function forwardProxy(asked: (line: string) => void): Promise<Server> {
  const proxy = createServer();
  proxy.on("request", ({ method, url, httpVersion, headers: { host } }, answer) => {
    asked(`${method} ${url} HTTP/${httpVersion} of ${host}`);
    answer.writeHead(200).flushHeaders();
    const { req } = answer;
    req.on("data", (bytes: Uint8Array) => answer.write(`heard ${new TextDecoder().decode(bytes)}`));
    // Envoy 1.40 crashes if this side ends first: finding MSH1111.
    req.on("end", () => answer.end());
  });
  proxy.on("connect", ({ method, url, httpVersion }, socket: Socket) => {
    asked(`${method} ${url} HTTP/${httpVersion}`);
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    socket.on("data", (bytes: Uint8Array) => socket.end(`heard ${new TextDecoder().decode(bytes)}`));
    socket.on("error", () => socket.destroy());
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return proxy;
}

/** Sends a greeting, closes its own side after the answer, and reads until the other end closes. */
async function greet(port: number): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port, timeout: PATIENCE });
  let answer = "";
  socket.setEncoding("utf8").on("data", (part) => {
    answer += part;
    if (answer === "heard hello") socket.end();
  });
  socket.on("timeout", () => socket.destroy());
  socket.write("hello");
  await once(socket, "close");
  return answer;
}

/** The request line at the proxy, by the rule's protocol. */
const ASKED = {
  CONNECT: "CONNECT far.test:4711 HTTP/1.1",
  POST: "POST / HTTP/1.1 of far.test:4711",
};

for (const [protocol, line] of Object.entries(ASKED)) {
  testBothModes({
    name: `a tunnel that a rule asks for: a proxy gets ${protocol} with its target, and bytes pass both ways`,
    ignore: path === undefined,
    fn: (onDemand) =>
      withPorts(1, async ([client = 0]) => {
        const asked = Promise.withResolvers<string>();
        const proxy = await forwardProxy(asked.resolve);
        const { port } = proxy.address() as AddressInfo;
        try {
          await using mesh = await TestMesh.start({ onDemand, files: { "world.yaml": world(client, port, protocol) } });
          const labels = { app: "client" };
          const node = { type: "sidecar", namespace: "demo", address: "127.0.0.1", name: "client", labels } as const;
          const calling = await mesh.attach(path!, node, true);
          await calling.ready(client);
          assert.equal(await greet(client), "heard hello");
          assert.equal(await asked.promise, line);
          await mesh.settled();
        } finally {
          proxy.closeAllConnections();
          proxy.close();
        }
      }),
  });
}
