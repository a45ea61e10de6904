/** Identity end to end: the server's own authority, two agents with their Envoys, and mutual TLS between these. */
import assert from "node:assert/strict";
import { readCertificates } from "../../lib/pki/certificate.ts";
import { withPorts } from "../../scripts/ports.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { withServer } from "../discovery/running.ts";
import { until } from "../e2e/support/mesh.ts";
import { requestHost } from "../e2e/support/request.ts";
import { callerEcho } from "../e2e/support/caller_echo.ts";
import { envoyPath } from "../translate/envoy.ts";
import { AgentProcess } from "./support/agent_process.ts";

/** A service whose workload answers through its sidecar on a port; the caller's sidecar listens on another one. */
function world(application: number, server: number, client: number): string {
  return `
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: app, namespace: demo }
spec:
  hosts: [app.test]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: ${client}, protocol: HTTP, name: http, targetPort: ${server} }]
  endpoints: [{ address: 127.0.0.1, serviceAccount: server, labels: { security.istio.io/tlsMode: istio } }]
---
apiVersion: networking.mesh.io/v1
kind: Sidecar
metadata: { name: server, namespace: demo }
spec:
  workloadSelector: { labels: { app: server } }
  egress: [{ hosts: ["~/*"] }]
  ingress:
  - port: { number: ${server}, protocol: HTTP, name: http }
    defaultEndpoint: "127.0.0.1:${application}"
    bind: 127.0.0.1
    captureMode: NONE
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: all, namespace: demo }
spec: { mtls: { mode: STRICT } }
`;
}

async function ask(port: number): Promise<string> {
  const response = await requestHost(port, "app.test");
  return typeof response === "string" ? "refused" : response.status === 200 ? response.body : String(response.status);
}

/** An agent of a workload with a token of its service account. */
function startAgent(
  { name, ports, discovery, root, token }: {
    readonly name: string;
    readonly ports: readonly number[];
    readonly discovery: number;
    readonly root: string;
    readonly token: string;
  },
): Promise<AgentProcess> {
  const [admin, status, readiness, metrics] = ports;
  return AgentProcess.start({
    args: ["sidecar"],
    files: {
      "etc/mesh/pod/labels": `app="${name}"\n`,
      "var/run/secrets/tokens/mesh-token": token,
      "var/run/secrets/mesh/root-cert.pem": root,
    },
    env: {
      ...{ POD_NAME: `${name}-1`, POD_NAMESPACE: "demo", SERVICE_ACCOUNT: name, INSTANCE_IP: "127.0.0.1" },
      ...{ ECC_SIGNATURE_ALGORITHM: "ECDSA", PROXY_STATUS_PORT: `${readiness}`, PROXY_METRICS_PORT: `${metrics}` },
      PROXY_CONFIG: JSON.stringify({
        ...{ binaryPath: "envoy", discoveryAddress: `localhost:${discovery}`, interceptionMode: "NONE" },
        ...{ proxyAdminPort: admin, statusPort: status, concurrency: 1, terminationDrainDuration: "0.1s" },
      }),
    },
  });
}

/** The probes of an orchestrator, and the calls of a workload that ends. */
async function readyThenDrained(agent: AgentProcess, [, status, readiness]: readonly number[]): Promise<void> {
  const probe = async () => {
    const response = await fetch(`http://127.0.0.1:${readiness}/healthz/ready`);
    return [response.status, await response.text()];
  };
  const post = async (path: string) =>
    await (await fetch(`http://127.0.0.1:${status}/${path}`, { method: "POST" })).text();
  assert.deepEqual(await probe(), [200, ""]);
  assert.equal(await post("drain"), "OK");
  assert.deepEqual(await probe(), [503, "the proxy is draining\n"]);
  assert.equal(await post("quitquitquit"), "OK");
  assert.equal(await agent.ended, 0);
}

Deno.test({
  name:
    "two workloads with nothing but tokens get identities from the server's own authority, and talk mutual TLS where nothing else is let in; probes and the end of one are answered",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(10, async ([server = 0, client = 0, ...ports]) => {
      await using issuer = await TestIssuer.start();
      await using app = callerEcho();
      const kept = await Deno.makeTempDir();
      const rule = { issuer: issuer.url, jwks_uri: `${issuer.url}/keys`, audiences: ["mesh-ca"] };
      const settings = {
        ...{ MESHD_CUSTOM_HOST: "localhost", MESH_SELF_SIGNED_CA_DIR: kept, PILOT_DEBOUNCE_AFTER: 10 },
        JWT_RULE: JSON.stringify(rule),
      };
      const options = { secureGrpc: "127.0.0.1:0", tls: { cipherSuites: [] } };
      await withServer({ "world.yaml": world(app.port, server, client) }, async (discovery) => {
        const authority = await Deno.readTextFile(`${kept}/authority.pem`);
        const root = /-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----\n/.exec(authority)![0];
        assert.equal(readCertificates(root)[0]!.isCa, true);
        const agent = async (name: string, at: number) =>
          await startAgent({
            ...{ name, root, ports: ports.slice(at, at + 4), discovery: discovery.ports.secureGrpc! },
            token: await issuer.token({ sub: `system:serviceaccount:demo:${name}` }),
          });
        await using behind = await agent("server", 0);
        await using before = await agent("client", 4);
        try {
          await until("a request passes both sidecars", async () =>
            await ask(client) === "spiffe://cluster.local/ns/demo/sa/client");
          assert.equal(await ask(server), "refused", "plain connections are not let in");
          await readyThenDrained(behind, ports);
        } catch (error) {
          throw new Error(`${await ask(client)}\n${behind.output}\n${before.output}`, { cause: error });
        }
      }, { options, settings });
      await Deno.remove(kept, { recursive: true });
    }),
});
