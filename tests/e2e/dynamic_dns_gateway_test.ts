/** Hosts that requests name, behind a gateway: a real Envoy dials them at the port of the destination. */
import assert from "node:assert/strict";
import { connect } from "node:tls";
import { withPorts } from "../../scripts/ports.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";
import { requestHost } from "./support/request.ts";
import { until } from "../patience.ts";

const path = envoyPath();
const pem = new URL("../testdata/pem/", import.meta.url).pathname;
const IDENTITY = {
  TLS_CLIENT_CERT_CHAIN: `${pem}cert.pem`,
  TLS_CLIENT_KEY: `${pem}key.pem`,
  TLS_CLIENT_ROOT_CERT: `${pem}root.pem`,
};

interface Ports {
  /** Of the gateway. */
  readonly http: number;
  readonly tls: number;
  /** Of the servers. */
  readonly plain: number;
  readonly other: number;
  readonly secure: number;
}

/** Ports of the service that are not those of its servers: 8080 and 8443. */
function world({ http, tls, plain, other, secure }: Ports): string {
  return `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: wild, namespace: demo }
spec:
  hosts: ["*.localhost"]
  location: MESH_EXTERNAL
  resolution: DYNAMIC_DNS
  ports:
    - { number: ${plain}, name: http, protocol: HTTP }
    - { number: 8080, name: http-other, protocol: HTTP, targetPort: ${other} }
    - { number: 8443, name: tls, protocol: TLS, targetPort: ${secure} }
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: egress, namespace: demo }
spec:
  selector: { app: egress }
  servers:
    - { port: { number: ${http}, name: http, protocol: HTTP }, hosts: ["*.localhost"] }
    - { port: { number: ${tls}, name: tls, protocol: TLS }, hosts: ["*.localhost"], tls: { mode: PASSTHROUGH } }
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: egress, namespace: demo }
spec:
  hosts: ["*.localhost"]
  gateways: [egress]
  http:
    - match: [{ uri: { prefix: /other } }]
      route: [{ destination: { host: "*.localhost", port: { number: 8080 } } }]
    - match: [{ uri: { prefix: /renamed } }]
      rewrite: { authority: "renamed.localhost:1" }
      route: [{ destination: { host: "*.localhost", port: { number: ${plain} } } }]
    - match: [{ uri: { prefix: /both } }]
      route:
        - { destination: { host: "*.localhost", port: { number: 8080 } }, weight: 50 }
        - { destination: { host: "*.localhost", port: { number: ${plain} } }, weight: 50 }
    - route: [{ destination: { host: "*.localhost", port: { number: ${plain} } } }]
  tls:
    - match: [{ port: ${tls}, sniHosts: ["*.localhost"] }]
      route: [{ destination: { host: "*.localhost", port: { number: 8443 } } }]
`;
}

function reaches(port: number, servername: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host: "127.0.0.1", port, servername, rejectUnauthorized: false }, () => resolve(true));
  socket.on("error", () => resolve(false));
  socket.on("close", () => resolve(false));
  return promise.finally(() => socket.destroy());
}

Deno.test({
  name: "DYNAMIC_DNS: a gateway dials the host of a request at the port of its destination, whatever the request names",
  ignore: path === undefined,
  fn: () =>
    withPorts(2, async ([http = 0, tls = 0]) => {
      const serve = (name: string) =>
        Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
          return new Response(`${name} ${request.headers.get("host")}`);
        });
      await using plain = serve("plain");
      await using other = serve("other");
      const [cert = "", key = ""] = ["cert", "key"].map((name) => Deno.readTextFileSync(`${pem}${name}.pem`));
      await using secure = Deno.serve(
        { hostname: "127.0.0.1", port: 0, cert, key, onListen() {} },
        () => new Response("secure"),
      );
      const ports = { http, tls, plain: plain.addr.port, other: other.addr.port, secure: secure.addr.port };
      await using mesh = await TestMesh.start({ files: { "world.yaml": world(ports) } });
      const identity = { type: "router", name: "egress", namespace: "demo", address: "127.0.0.1" } as const;
      const egress = await mesh.attach(path!, { ...identity, labels: { app: "egress" }, metadata: IDENTITY }, true);
      await egress.ready(http);
      const ask = async (host: string, at = "/") => {
        const answer = await requestHost(http, host, at);
        return typeof answer === "string" ? answer : `${answer.status} ${answer.body}`;
      };
      await until("an answer", async () => await ask("a.localhost") === "200 plain a.localhost");
      const named = `b.localhost:${http}`;
      assert.equal(await ask(named), `200 plain ${named}`, "a port of the gateway's own in the name");
      assert.equal(await ask("a.localhost", "/other"), "200 other a.localhost", "the targetPort");
      assert.equal(await ask("a.localhost", "/renamed"), "200 plain renamed.localhost:1", "another host on the way");
      const both = new Set<string>();
      await until("both destinations", async () => both.add(await ask("a.localhost", "/both")).size === 2);
      assert.deepEqual([...both].sort(), ["200 other a.localhost", "200 plain a.localhost"]);
      await until("the server of the name", () => reaches(tls, "a.localhost"));
      assert.equal(await reaches(tls, "other.test"), false);
      await mesh.settled();
    }),
});
