/** A real Envoy reaches a workload in another network through the network's gateway, encrypted end to end. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { Authority, openssl } from "../certificates.ts";
import { callerEcho } from "./support/caller_echo.ts";
import { writeIdentity } from "./support/identity_files.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";
import { requestHost } from "./support/request.ts";
import { until } from "../patience.ts";

const path = envoyPath();
const ignore = path === undefined || !openssl;

/** A gateway for the mesh: reads the client's server name, and passes bytes on. */
function startGateway(target: number) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const first: string[] = [];
  const open = new Set<Deno.Conn>();
  const pass = async (from: Deno.Conn, to: Deno.Conn, note: (text: string) => void) => {
    const buffer = new Uint8Array(65536);
    for (let size = await from.read(buffer); size !== null; size = await from.read(buffer)) {
      note(new TextDecoder("latin1").decode(buffer.subarray(0, size)));
      for (let at = 0; at < size;) at += await to.write(buffer.subarray(at, size));
    }
  };
  const serve = async (client: Deno.Conn) => {
    const server = await Deno.connect({ hostname: "127.0.0.1", port: target });
    let text = "";
    for (const one of [client, server]) open.add(one);
    const up = pass(client, server, (part) => void (text === "" && first.push(text = part)));
    await Promise.race([up, pass(server, client, () => {})]).catch(() => {});
    for (const one of [client, server]) if (open.delete(one)) one.close();
  };
  const serving = (async () => {
    for await (const client of listener) void serve(client).catch(() => {});
  })();
  return {
    port: listener.addr.port,
    /** The first bytes of each connection. */
    first,
    [Symbol.asyncDispose]: async () => {
      listener.close();
      for (const one of open) one.close();
      open.clear();
      await serving;
    },
  };
}

function world({ client, server, gateway, application, service }: Readonly<Record<string, number>>): string {
  return `
apiVersion: v1
kind: Service
metadata:
  name: gateway
  namespace: mesh-system
  labels: { topology.istio.io/network: far, networking.istio.io/gatewayPort: "${gateway}" }
spec: { type: LoadBalancer, clusterIP: 10.96.0.9, ports: [{ name: tls, port: ${service} }] }
status: { loadBalancer: { ingress: [{ ip: 127.0.0.1 }] } }
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: app, namespace: demo }
spec:
  hosts: [app.test]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: ${client}, name: http, protocol: HTTP }]
  # Nobody in the client's network reaches this address.
  endpoints:
    - { address: 203.0.113.1, network: far, serviceAccount: server, labels: { security.istio.io/tlsMode: istio } }
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: { name: server, namespace: demo }
spec:
  workloadSelector: { labels: { app: server } }
  egress: [{ hosts: ["~/*"] }]
  ingress:
    - port: { number: ${server}, name: http, protocol: HTTP }
      defaultEndpoint: "127.0.0.1:${application}"
      bind: 127.0.0.1
      captureMode: NONE
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: all, namespace: mesh-system }
spec: { mtls: { mode: STRICT } }
`;
}

Deno.test({
  name:
    "requests reach a workload of another network through its gateway, which sees a name and no more; without an identity none do",
  ignore,
  fn: () =>
    withPorts(3, async ([clientPort = 0, serverPort = 0, service = 0]) => {
      const folder = await Deno.makeTempDir({ prefix: "mesh-networks-" });
      const authority = await Authority.make("mesh");
      try {
        await using app = callerEcho();
        await using gateway = startGateway(serverPort);
        const signed = async (name: string) => {
          const id = [["URI", `spiffe://cluster.local/ns/demo/sa/${name}`]] as const;
          return await writeIdentity(folder, name, await authority.sign(name, 1, id), authority.certificate);
        };
        const [server, client] = [await signed("server"), await signed("client")];
        const ports = { client: clientPort, server: serverPort, gateway: gateway.port, application: app.port, service };
        await using mesh = await TestMesh.start({ files: { "world.yaml": world(ports) }, manifestServices: true });
        const attach = (name: string, metadata: Record<string, string>) => {
          const identity = { type: "sidecar", namespace: "demo", address: "127.0.0.1", name } as const;
          return mesh.attach(path!, { ...identity, labels: { app: name }, metadata }, true);
        };
        const served = await attach("server", { ...server("SERVER"), NETWORK: "far" });
        const calling = await attach("client", { ...client("CLIENT"), NETWORK: "near" });
        await served.ready(serverPort);
        await calling.ready(clientPort);
        const ask = async () => {
          const answer = await requestHost(clientPort, "app.test");
          return typeof answer === "string" ? answer : `${answer.status} ${answer.body}`;
        };
        await until("an answer", async () => await ask() === "200 spiffe://cluster.local/ns/demo/sa/client");
        assert.ok(gateway.first.length > 0);
        for (const begin of gateway.first) {
          assert.match(
            begin,
            new RegExp(`outbound_\\.${clientPort}_\\._\\.app\\.test`),
            "the name that it is asked for",
          );
          assert.doesNotMatch(begin, /GET|HTTP\/1/);
        }
        await mesh.settled();
        await calling.stop();
        const bare = await attach("bare", { NETWORK: "near" });
        await bare.ready(clientPort);
        assert.match(await ask(), /^503 no healthy upstream/);
      } finally {
        await authority.remove();
        await Deno.remove(folder, { recursive: true });
      }
    }),
});
