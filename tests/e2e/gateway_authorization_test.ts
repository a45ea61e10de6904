/** Policies at a gateway: real requests and connections from outside, admitted or refused before reaching the mesh. */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { withPorts } from "../../scripts/ports.ts";
import { callerEcho } from "./support/caller_echo.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";
import { until } from "../patience.ts";

const path = envoyPath();

function world(http: number, tcp: number, application: number): string {
  return `
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: edge, namespace: demo }
spec:
  selector: { app: edge }
  servers:
  - { port: { number: ${http}, name: http, protocol: HTTP }, hosts: ["*"] }
  - { port: { number: ${tcp}, name: tcp, protocol: TCP }, hosts: ["*"] }
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: app, namespace: demo }
spec:
  hosts: ["*"]
  gateways: [edge]
  http: [{ route: [{ destination: { host: app.test, port: { number: 80 } } }] }]
  tcp: [{ match: [{ port: ${tcp} }], route: [{ destination: { host: app.test, port: { number: 80 } } }] }]
---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: app, namespace: demo }
spec:
  hosts: [app.test]
  location: MESH_EXTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP, targetPort: ${application} }]
  endpoints: [{ address: 127.0.0.1 }]
`;
}

function policy(name: string, spec: object): string {
  const metadata = { name, namespace: "demo" };
  return `${
    JSON.stringify({ apiVersion: "security.istio.io/v1", kind: "AuthorizationPolicy", metadata, spec })
  }\n---\n`;
}

/** Status of a request, or "closed" without an answer. */
function ask(port: number, target: string, host: string, localAddress = "127.0.0.1"): Promise<number | "closed"> {
  const { promise, resolve } = Promise.withResolvers<number | "closed">();
  const socket = connect({ host: "127.0.0.1", port, localAddress }, () => {
    socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  });
  let text = "";
  socket.setEncoding("utf8").on("data", (part: string) => {
    text += part;
    if (text.includes("\r\n\r\n")) socket.destroy();
  });
  socket.on("error", () => {});
  socket.on("close", () => resolve(text === "" ? "closed" : Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1])));
  return promise;
}

Deno.test({
  name: "a gateway enforces policies by labels and by its name, for requests and for bytes",
  ignore: path === undefined,
  fn: () =>
    withPorts(2, async ([http = 0, tcp = 0]) => {
      await using app = callerEcho();
      await using mesh = await TestMesh.start({ files: { "world.yaml": world(http, tcp, app.port) } });
      const labels = { app: "edge", "gateway.networking.k8s.io/gateway-name": "edge" };
      const node = { name: "edge", namespace: "demo", address: "127.0.0.1", labels, type: "router" } as const;
      const envoy = await mesh.attach(path!, node, true);
      await envoy.ready(http);
      await envoy.ready(tcp);
      const got = async () => ({
        open: await ask(http, "/", "a.test"),
        admin: await ask(http, "/admin", "a.test"),
        otherHost: await ask(http, "/", "B.test:99"),
        otherAddress: await ask(http, "/", "a.test", "127.0.0.2"),
        bytes: await ask(tcp, "/", "a.test"),
        bytesOfOther: await ask(tcp, "/", "a.test", "127.0.0.2"),
      });
      const everything = { open: 200, admin: 200, otherHost: 200, otherAddress: 200, bytes: 200, bytesOfOther: 200 };
      const rule = (operation: object) => ({ to: [{ operation }] });
      const cases = [
        ["none", "", {}],
        [
          "denied path, host and address",
          policy("deny", {
            selector: { matchLabels: { app: "edge" } },
            action: "DENY",
            rules: [
              rule({ ports: [`${http}`], paths: ["/admin"] }),
              rule({ ports: [`${http}`], hosts: ["b.test"] }),
              { from: [{ source: { ipBlocks: ["127.0.0.2"] } }] },
            ],
          }),
          { admin: 403, otherHost: 403, otherAddress: 403, bytesOfOther: "closed" },
        ],
        ["for another gateway", policy("other", { targetRefs: [{ kind: "Gateway", group: "x", name: "edge" }] }), {}],
        [
          "by the gateway's name",
          policy("allow", {
            targetRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "edge" }],
            rules: [rule({ hosts: ["a.test"], notPaths: ["/admin"] })],
          }),
          { admin: 403, otherHost: 403, bytes: "closed", bytesOfOther: "closed" },
        ],
      ] as const;
      for (const [name, text, refused] of cases) {
        await mesh.write("policies.yaml", text);
        await mesh.page("live?object=Gateway/demo/edge&wait=90s");
        const wanted = { ...everything, ...refused };
        let now = await got();
        await until(name, async () => JSON.stringify(now = await got()) === JSON.stringify(wanted))
          .catch(() => assert.deepEqual(now, wanted, name));
      }
      await mesh.settled();
    }),
});
