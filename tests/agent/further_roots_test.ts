/** Roots beside those of the authority, from the mesh configuration to an Envoy that lets their workloads in. */
import assert from "node:assert/strict";
import { connect } from "node:tls";
import { writeCertificates } from "../../lib/pki/certificate.ts";
import { withPorts } from "../../scripts/ports.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { withServer } from "../discovery/running.ts";
import { callerEcho } from "../e2e/support/caller_echo.ts";
import { until } from "../e2e/support/mesh.ts";
import { makeLeaf, makeRoot, P256 } from "../pki/support/make.ts";
import { envoyPath } from "../translate/envoy.ts";
import { AgentProcess } from "./support/agent_process.ts";

/** A workload behind its sidecar, which lets mutual TLS in alone. */
const world = (application: number, port: number) => `
apiVersion: networking.mesh.io/v1
kind: Sidecar
metadata: { name: server, namespace: demo }
spec:
  workloadSelector: { labels: { app: server } }
  egress: [{ hosts: ["~/*"] }]
  ingress:
  - port: { number: ${port}, protocol: HTTP, name: http }
    defaultEndpoint: "127.0.0.1:${application}"
    bind: 127.0.0.1
    captureMode: NONE
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: all, namespace: demo }
spec: { mtls: { mode: STRICT } }
`;

interface Identity {
  readonly cert: string;
  readonly key: string;
}

/** Who the application says that called; "refused" when nobody got through. */
function ask(port: number, identity: Identity): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  const options = { host: "127.0.0.1", port, rejectUnauthorized: false, ...identity };
  const socket = connect(options, () => socket.write("GET / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n"));
  socket.setEncoding("utf8");
  socket.on("data", (part: string) => text += part);
  socket.on("error", () => {});
  socket.on("close", () => resolve(/^HTTP\/1.1 200[^]*?\r\n\r\n([^]*)$/.exec(text)?.[1]?.trim() ?? "refused"));
  return promise;
}

Deno.test({
  name:
    "a root of caCertificates is sent to agents while they run: their Envoys let workloads of its trust domain in, and no longer when it goes",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(5, async ([port = 0, admin = 0, status = 0, readiness = 0, metrics = 0]) => {
      await using issuer = await TestIssuer.start();
      await using app = callerEcho();
      const end = { notAfter: Date.now() + 1e9 };
      const partner = await makeRoot(P256, { ...end, name: "partner" });
      const identity = async (uri: string): Promise<Identity> => {
        const { certificate, key } = await makeLeaf(partner, P256, {
          ...{ notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000, uris: [uri] },
        });
        return { cert: writeCertificates([certificate]), key: key.pem() };
      };
      const caller = await identity("spiffe://partner.example/ns/shop/sa/cart");
      const stranger = await identity("spiffe://elsewhere.example/ns/shop/sa/cart");
      const kept = await Deno.makeTempDir();
      const meshFile = `${kept}/mesh.yaml`;
      await Deno.writeTextFile(meshFile, "{}\n");
      const rule = { issuer: issuer.url, jwks_uri: `${issuer.url}/keys`, audiences: ["mesh-ca"] };
      const settings = {
        ...{ MESHD_CUSTOM_HOST: "localhost", MESH_SELF_SIGNED_CA_DIR: kept, PILOT_DEBOUNCE_AFTER: 10 },
        ...{ JWT_RULE: JSON.stringify(rule), MESH_MULTIROOT_MESH: true },
      };
      const options = { secureGrpc: "127.0.0.1:0", tls: { cipherSuites: [] }, meshConfig: meshFile };
      await withServer({ "world.yaml": world(app.port, port) }, async (discovery) => {
        const authority = await Deno.readTextFile(`${kept}/authority.pem`);
        const root = /-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----\n/.exec(authority)![0];
        await using agent = await AgentProcess.start({
          files: {
            "etc/mesh/pod/labels": 'app="server"\n',
            "var/run/secrets/tokens/mesh-token": await issuer.token({ sub: "system:serviceaccount:demo:server" }),
            "var/run/secrets/mesh/root-cert.pem": root,
          },
          env: {
            ...{ POD_NAME: "server-1", POD_NAMESPACE: "demo", SERVICE_ACCOUNT: "server", INSTANCE_IP: "127.0.0.1" },
            ...{ ECC_SIGNATURE_ALGORITHM: "ECDSA", PROXY_CONFIG_XDS_AGENT: "true" },
            ...{ PROXY_STATUS_PORT: `${readiness}`, PROXY_METRICS_PORT: `${metrics}` },
            PROXY_CONFIG: JSON.stringify({
              ...{ binaryPath: "envoy", discoveryAddress: `localhost:${discovery.ports.secureGrpc}` },
              ...{ interceptionMode: "NONE", proxyAdminPort: admin, statusPort: status, concurrency: 1 },
              terminationDrainDuration: "0.1s",
            }),
          },
        });
        try {
          await until("the proxy is ready", async () =>
            await fetch(`http://127.0.0.1:${readiness}/healthz/ready`).then(({ ok }) => ok, () => false));
          assert.equal(await ask(port, caller), "refused", "nobody knows its root yet");
          const entry = { pem: writeCertificates([partner.certificate]), trustDomains: ["partner.example"] };
          await Deno.writeTextFile(meshFile, `${JSON.stringify({ caCertificates: [entry] })}\n`);
          await until("the partner is let in", async () =>
            await ask(port, caller) === "spiffe://partner.example/ns/shop/sa/cart");
          assert.equal(await ask(port, stranger), "refused", "the root is known, the trust domain is not");
          await Deno.writeTextFile(meshFile, "{}\n");
          await until("the partner is refused again", async () =>
            await ask(port, caller) === "refused");
          assert.doesNotMatch(agent.output, /was rejected/);
        } catch (error) {
          throw new Error(agent.output, { cause: error });
        }
      }, { options, settings });
      await Deno.remove(kept, { recursive: true });
    }),
});
