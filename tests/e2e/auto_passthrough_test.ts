/** Two networks with stock Envoys: client, gateway (AUTO_PASSTHROUGH) and server, mutual TLS from end to end. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { Authority, openssl } from "../certificates.ts";
import { callerEcho } from "./support/caller_echo.ts";
import { writeIdentity } from "./support/identity_files.ts";
import { envoyPath, testBothModes, TestMesh } from "./support/mesh.ts";
import { requestHost } from "./support/request.ts";
import { until } from "../patience.ts";

const path = envoyPath();
const ignore = path === undefined || !openssl;

interface WorldPorts {
  readonly client: number;
  readonly server: number;
  readonly gateway: number;
  readonly application: number;
  readonly plain: number;
  /** Port of the gateway's service, on which clients listen. */
  readonly service: number;
}

/**
 * The far network has an endpoint with mutual TLS and an endpoint without. No server of the gateway has `other.test`.
 */
function world({ client, server, gateway, application, plain, service }: WorldPorts): string {
  const entry = (name: string, resolution = "STATIC", address = "127.0.0.1") => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: "${name}", namespace: demo }
spec:
  hosts: [${name}.test]
  location: MESH_INTERNAL
  resolution: ${resolution}
  ports: [{ number: ${client}, name: http, protocol: HTTP }]
  endpoints:
    - address: ${address}
      network: far
      ports: { http: ${server} }
      serviceAccount: server
      labels: { security.istio.io/tlsMode: istio, color: blue }
    - { address: 127.0.0.1, network: far, ports: { http: ${plain} } }
---`;
  return `${entry("app")}${entry("other")}${entry("x.deep")}${entry("named", "DNS", "localhost")}
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: app, namespace: demo }
spec: { host: app.test, subsets: [{ name: Blue, labels: { color: blue } }] }
---
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
`;
}

function passing(port: number): string {
  return `
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: cross-network, namespace: mesh-system }
spec:
  selector: { app: eastwest }
  servers:
    - port: { number: ${port}, name: tls, protocol: TLS }
      hosts: [app.test, named.test, "*.deep.test"]
      tls: { mode: AUTO_PASSTHROUGH }
`;
}

/** Whether a client of mutual TLS that offers one protocol reaches a server by name. */
async function reaches(port: number, folder: string, name: string, protocol: string): Promise<boolean> {
  const args = ["s_client", "-connect", `127.0.0.1:${port}`, "-servername", name, "-alpn", protocol];
  const identity = ["-cert", `${folder}/client/cert.pem`, "-key", `${folder}/client/key.pem`];
  const { stdout } = await new Deno.Command("openssl", { args: [...args, ...identity], stdin: "null", stderr: "null" })
    .output();
  return new TextDecoder().decode(stdout).includes("BEGIN CERTIFICATE");
}

testBothModes({
  name:
    "AUTO_PASSTHROUGH: requests reach the mutual TLS endpoints of another network by names of the gateway's hosts, and nothing else passes",
  ignore,
  fn: (onDemand) =>
    withPorts(4, async ([client = 0, server = 0, gateway = 0, service = 0]) => {
      const folder = await Deno.makeTempDir({ prefix: "mesh-passed-" });
      const authority = await Authority.make("mesh");
      try {
        await using app = callerEcho();
        let plainRequests = 0;
        await using plain = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
          plainRequests++;
          return new Response("plain");
        });
        const signed = async (name: string) => {
          const id = [["URI", `spiffe://cluster.local/ns/demo/sa/${name}`]] as const;
          return await writeIdentity(folder, name, await authority.sign(name, 1, id), authority.certificate);
        };
        const [serverFiles, clientFiles] = [await signed("server"), await signed("client")];
        const ports = { client, server, gateway, application: app.port, plain: plain.addr.port, service };
        await using mesh = await TestMesh.start({
          onDemand,
          files: { "world.yaml": world(ports) },
          manifestServices: true,
        });
        const attach = (name: string, type: "sidecar" | "router", metadata: Record<string, string>) => {
          const identity = { type, namespace: "demo", address: "127.0.0.1", name } as const;
          return mesh.attach(path!, { ...identity, labels: { app: name }, metadata }, true);
        };
        const served = await attach("server", "sidecar", { ...serverFiles("SERVER"), NETWORK: "far" });
        const eastwest = await attach("eastwest", "router", { NETWORK: "far" });
        const calling = await attach("client", "sidecar", { ...clientFiles("CLIENT"), NETWORK: "near" });
        await served.ready(server);
        await calling.ready(client);
        const ask = async (host: string) => {
          const answer = await requestHost(client, host);
          return typeof answer === "string" ? answer : `${answer.status} ${answer.body.slice(0, 60)}`;
        };
        await until("no gateway yet", async () => (await ask("app.test")).startsWith("503"));

        await mesh.write("gateway.yaml", passing(gateway));
        await eastwest.ready(gateway);
        const mine = "200 spiffe://cluster.local/ns/demo/sa/client";
        await until("an answer through the gateway", async () => await ask("app.test") === mine);
        for (let i = 0; i < 20; i++) assert.equal(await ask("app.test"), mine, "the plain endpoint is left out");
        assert.equal(await ask("named.test"), mine, "a name that its own network resolves");
        assert.match(await ask("other.test"), /^503/, "a host of no server");
        assert.equal(plainRequests, 0);
        const passed = /tcp\.auto_passthrough\.downstream_cx_total: (\d+)/.exec(
          await eastwest.admin("stats?filter=auto_passthrough") ?? "",
        );
        assert.ok(Number(passed?.[1]) > 0, "the client has dialled the gateway");

        const by = (name: string, protocol = "istio") => reaches(gateway, folder, name, protocol);
        const name = `outbound_.${client}_._.app.test`;
        assert.ok(await by(name));
        assert.ok(await by(name.toUpperCase()), "names have no case");
        assert.ok(await by(`outbound_.${client}_.Blue_.app.test`), "a subset, whose name has");
        for (const wrong of [`outbound_.${client}_._.other.test`, `outbound_.1_._.app.test`, "app.test"]) {
          assert.ok(!await by(wrong), wrong);
        }
        assert.ok(await by(`outbound_.${client}_._.x.deep.test`));
        assert.ok(!await by(`outbound|${client}||x.deep.test`), "a cluster of the gateway's own requests");
        assert.ok(!await by(name, "h2"), "a server that takes plain connections too would let this pass as bytes");

        assert.match(await eastwest.admin("stats?filter=tcp.rbac.denied") ?? "", /denied: [1-9]/);

        await mesh.settled();
        await mesh.write("gateway.yaml");
        await until("the end of the gateway", async () => !await by(name));
        await mesh.settled();
      } finally {
        await authority.remove();
        await Deno.remove(folder, { recursive: true });
      }
    }),
});
