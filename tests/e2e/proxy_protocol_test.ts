/** The PROXY protocol with stock Envoys: a sidecar that sends the header, and a gateway that trusts the header. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { exchange } from "./support/exchange.ts";
import { headerEcho } from "./support/header_echo.ts";
import { envoyPath, testBothModes, TestMesh } from "./support/mesh.ts";
import { until } from "../patience.ts";

const path = envoyPath();

const VERSION_1 = "{ proxyProtocol: { version: V1 } }";

function world(client: number, gateway: number, application: number, first: number, policy = VERSION_1): string {
  const entry = (name: string, port: number, protocol: string, target: number) => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: demo }
spec:
  hosts: [${name}.test]
  addresses: [10.9.0.${name.length}]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: ${port}, name: own, protocol: ${protocol} }]
  endpoints: [{ address: 127.0.0.1, ports: { own: ${target} } }]
---`;
  return `${entry("far", client, "TCP", first)}${entry("application", 80, "HTTP", application)}
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: far, namespace: demo }
spec: { host: far.test, trafficPolicy: ${policy} }
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: { name: client, namespace: demo }
spec:
  workloadSelector: { labels: { app: client } }
  egress:
    - { port: { number: ${client}, name: own, protocol: TCP }, bind: 127.0.0.1, captureMode: NONE, hosts: ["./far.test"] }
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: edge, namespace: demo }
spec:
  selector: { app: edge }
  servers: [{ port: { number: ${gateway}, name: http, protocol: HTTP }, hosts: ["*"] }]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: edge, namespace: demo }
spec:
  hosts: ["*"]
  gateways: [edge]
  http: [{ route: [{ destination: { host: application.test } }] }]
`;
}

testBothModes({
  name:
    "PROXY protocol: an upstream gets the header that a rule asks for, and a gateway takes the client's address of it",
  ignore: path === undefined,
  fn: (onDemand) =>
    withPorts(2, async ([client = 0, gateway = 0]) => {
      await using app = headerEcho();
      const firstBytes = Promise.withResolvers<string>();
      using upstream = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      void (async () => {
        for await (const connection of upstream) {
          const bytes = new Uint8Array(200);
          // The check for the listener may end its connection before a byte of it comes.
          const length = await connection.read(bytes).catch(() => null) ?? 0;
          if (length > 0) firstBytes.resolve(new TextDecoder().decode(bytes.subarray(0, length)));
          connection.close();
        }
      })();
      const files = { "world.yaml": world(client, gateway, app.port, upstream.addr.port) };
      const meshConfig = { defaultConfig: { gatewayTopology: { proxyProtocol: {} } } };
      await using mesh = await TestMesh.start({ onDemand, files, meshConfig });
      const attach = (name: string, type: "sidecar" | "router") =>
        mesh.attach(path!, { type, namespace: "demo", address: "127.0.0.1", name, labels: { app: name } }, true);
      const calling = await attach("client", "sidecar");
      await attach("edge", "router");
      await calling.ready(client);

      await exchange(client, "hello");
      assert.match(await firstBytes.promise, /^PROXY TCP4 127\.0\.0\.1 127\.0\.0\.1 \d+ \d+\r\n/);

      const request = "GET / HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n";
      const header = "PROXY TCP4 203.0.113.7 127.0.0.1 4711 80\r\n";
      let answer = "";
      await until("an answer", async () => {
        answer = await exchange(gateway, header + request);
        return answer.includes("200 OK");
      });
      assert.match(answer, /"x-forwarded-for":"203\.0\.113\.7"/);
      assert.ok(!(await exchange(gateway, request)).includes("200 OK"), "who sends no header is not served");
      await mesh.settled();
    }),
});

testBothModes({
  name: "PROXY protocol, version 2: the header stands before the handshake of TLS, and tells the client's address",
  ignore: path === undefined,
  fn: (onDemand) =>
    withPorts(2, async ([client = 0, gateway = 0]) => {
      const begin = Promise.withResolvers<Uint8Array>();
      using upstream = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      void (async () => {
        for await (const connection of upstream) {
          const bytes = new Uint8Array(29);
          let length = 0;
          for (let more: number | null = 0; length < bytes.length && more !== null; length += more ?? 0) {
            more = await connection.read(bytes.subarray(length)).catch(() => null);
          }
          // The check for the listener ends its connection at once.
          if (length === bytes.length) begin.resolve(bytes);
          connection.close();
        }
      })();
      const policy =
        "{ proxyProtocol: { version: V2 }, tls: { mode: SIMPLE, insecureSkipVerify: true, sni: far.test } }";
      const files = { "world.yaml": world(client, gateway, 1, upstream.addr.port, policy) };
      await using mesh = await TestMesh.start({ onDemand, files });
      const labels = { app: "client" };
      const node = { type: "sidecar", namespace: "demo", address: "127.0.0.1", name: "client", labels } as const;
      const calling = await mesh.attach(path!, node, true);
      await calling.ready(client);
      await exchange(client, "hello");
      const bytes = await begin.promise;
      const signature = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a];
      // Version 2, PROXY; TCP over IPv4; 12 bytes of addresses and ports; then a handshake of TLS.
      assert.deepEqual([...bytes.subarray(0, 16)], [...signature, 0x21, 0x11, 0x00, 0x0c]);
      assert.deepEqual([...bytes.subarray(16, 24)], [127, 0, 0, 1, 127, 0, 0, 1]);
      assert.equal(bytes[28], 0x16);
      await mesh.settled();
    }),
});
