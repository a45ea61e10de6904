/** The protocol negotiated in a real TLS handshake fits the port's protocol: HTTP, or none for bytes. */
import assert from "node:assert/strict";
import { connect, type ConnectionOptions } from "node:tls";
import { withPorts } from "../../scripts/ports.ts";
import { Authority, openssl } from "../certificates.ts";
import { writeIdentity } from "./support/identity_files.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";

const path = envoyPath();

/** The tested ports of each kind. */
type Ports = Readonly<Record<"https" | "tls" | "http" | "bytes", number>>;

/**
 * @param target Port of a server that keeps connections. A proxy without a server may close before the handshake ends.
 */
const config = ({ https, tls, http, bytes }: Ports, files: string, target: number) => {
  const own = `serverCertificate: ${files}/server/cert.pem, privateKey: ${files}/server/key.pem`;
  const ingress = (port: number, protocol: string) =>
    `{ port: { number: ${port}, protocol: ${protocol}, name: p${port} }, defaultEndpoint: "127.0.0.1:${target}", bind: 127.0.0.1, captureMode: NONE }`;
  const server = (port: number, protocol: string) =>
    `{ port: { number: ${port}, name: p${port}, protocol: ${protocol} }, hosts: [app.test], tls: { mode: SIMPLE, ${own} } }`;
  return `
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: door, namespace: demo }
spec:
  selector: { app: door }
  servers: [${server(https, "HTTPS")}, ${server(tls, "TLS")}]
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: app, namespace: demo }
spec:
  hosts: [app.test]
  gateways: [door]
  http: [{ directResponse: { status: 200 } }]
  tcp: [{ match: [{ port: ${tls} }], route: [{ destination: { host: target.test } }] }]
---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: target, namespace: demo }
spec:
  hosts: [target.test]
  resolution: STATIC
  ports: [{ number: 7000, protocol: TCP, name: tcp }]
  endpoints: [{ address: 127.0.0.1, ports: { tcp: ${target} } }]
---
apiVersion: networking.mesh.io/v1
kind: Sidecar
metadata: { name: server, namespace: demo }
spec:
  workloadSelector: { labels: { app: server } }
  egress: [{ hosts: ["~/*"] }]
  ingress: [${ingress(http, "HTTP")}, ${ingress(bytes, "TCP")}]
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: all, namespace: demo }
spec: { mtls: { mode: STRICT } }
`;
};

/**
 * The protocol negotiated between a port and a client that speaks both HTTP versions. `none`: no protocol was
 * negotiated.
 */
function agreed(port: number, options: ConnectionOptions): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({
    ...{ host: "127.0.0.1", port, servername: "app.test", ALPNProtocols: ["h2", "http/1.1"] },
    ...{ rejectUnauthorized: false, ...options },
  }, () => resolve(socket.alpnProtocol || "none"));
  socket.on("error", reject);
  return promise.finally(() => socket.destroy());
}

Deno.test({
  name: "a client that offers h2 agrees on it before HTTP, and on nothing before bytes, at gateways and in mutual TLS",
  ignore: path === undefined || !openssl,
  fn: () =>
    withPorts(4, async ([https = 0, tls = 0, http = 0, bytes = 0]) => {
      const ports = { https, tls, http, bytes };
      const folder = await Deno.makeTempDir({ prefix: "mesh-alpn-" });
      const authority = await Authority.make("mesh");
      try {
        using target = Deno.listen({ hostname: "127.0.0.1", port: 0 });
        const signed = await authority.sign("server", 1, [["URI", "spiffe://cluster.local/ns/demo/sa/server"]]);
        const metadata = await writeIdentity(folder, "server", signed, authority.certificate);
        await using mesh = await TestMesh.start({ files: { "world.yaml": config(ports, folder, target.addr.port) } });
        const common = { namespace: "demo", address: "127.0.0.1" } as const;
        const router = { ...common, name: "door", type: "router", labels: { app: "door" } } as const;
        const gateway = await mesh.attach(path!, router, true);
        for (const port of [https, tls]) await gateway.ready(port);
        const identity = { ...common, name: "server", type: "sidecar", labels: { app: "server" } } as const;
        const sidecar = await mesh.attach(path!, { ...identity, metadata: metadata("SERVER") }, true);
        for (const port of [http, bytes]) await sidecar.ready(port);
        const own = { cert: signed.certificate, key: signed.key };
        const found = Object.fromEntries(
          await Promise.all(
            Object.entries(ports).map(async ([name, port]) => [name, await agreed(port, own)] as const),
          ),
        );
        assert.deepEqual(found, { https: "h2", tls: "none", http: "h2", bytes: "none" });
        await mesh.settled();
      } finally {
        await authority.remove();
        await Deno.remove(folder, { recursive: true });
      }
    }),
});
