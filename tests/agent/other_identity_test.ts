/** A workload with identity and credentials from another program, and with files served by the agent. */
import assert from "node:assert/strict";
import tls from "node:tls";
import type { AgentSecret, SecretSource } from "../../lib/agent/secrets/agent_secret.ts";
import { sdsService } from "../../lib/agent/secrets/sds_service.ts";
import { GrpcServer } from "../../lib/grpc/server.ts";
import { silentLog } from "../../lib/kernel/log/log.ts";
import { noMetrics } from "../../lib/kernel/metrics/registry.ts";
import { listenUnix } from "../../lib/sockets/listen/unix.ts";
import { withPorts } from "../../scripts/ports.ts";
import { TestMesh } from "../e2e/support/mesh.ts";
import { envoyPath } from "../envoy/path.ts";
import { AgentProcess } from "./support/agent_process.ts";
import { TestAuthority } from "./support/authority.ts";
import { until } from "../patience.ts";

/**
 * A gateway whose servers take their certificates from another program by name, from the agent's files, and from the
 * workload's identity.
 */
function gateway([named = 0, files = 0, own = 0]: readonly number[]): string {
  const server = (port: number, name: string, settings: string) =>
    `  - port: { number: ${port}, name: ${name}, protocol: HTTPS }\n    hosts: ["*"]\n    tls: { ${settings} }\n`;
  return `
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: door, namespace: demo }
spec:
  selector: { app: door }
  servers:
${server(named, "named", 'mode: SIMPLE, credentialName: "sds://door"')}
${server(files, "files", "mode: SIMPLE, serverCertificate: ./certs/chain.pem, privateKey: ./certs/key.pem")}
${server(own, "own", "mode: ISTIO_MUTUAL")}
`;
}

/** A program that hands out the given secrets on a socket. */
async function secretServer(path: string, secrets: Readonly<Record<string, AgentSecret>>): Promise<AsyncDisposable> {
  const source: SecretSource = {
    watch(name, listener) {
      const secret = secrets[name];
      if (secret === undefined) return undefined;
      listener.secret(secret);
      return () => {};
    },
  };
  const server = new GrpcServer([sdsService(source, { log: silentLog().scope("sds"), metrics: noMetrics() })]);
  const listener = await listenUnix(path, (transport) => server.accept(transport));
  return {
    async [Symbol.asyncDispose]() {
      await listener.close();
      await server.stop(0);
    },
  };
}

/** Names in the certificate of a server, as Node writes them; the error without a certificate. */
function namesAt(
  port: number,
  ca: string,
  client: { readonly cert?: string; readonly key?: string } = {},
): Promise<string> {
  return new Promise((resolve) => {
    // The names are compared by the test.
    const options = {
      host: "127.0.0.1",
      port,
      ca,
      ...client,
      servername: "door.test",
      checkServerIdentity: () => undefined,
    };
    const socket = tls.connect(options, () => {
      resolve(socket.getPeerCertificate().subjectaltname ?? "");
      socket.destroy();
    });
    socket.on("error", (error) => resolve(error.message));
  });
}

Deno.test({
  name:
    "a gateway presents the identity and the credential from another program, and the certificates from files that its agent serves",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(7, async ([named = 0, files = 0, own = 0, admin = 0, status = 0, readiness = 0, metrics = 0]) => {
      const authority = await TestAuthority.make();
      const folder = await Deno.makeTempDir();
      const certificate = async (names: { readonly dns?: string[]; readonly uris?: string[] }) => {
        const { certificate: chain, privateKey: key } = await authority.certificateOf(names);
        return { kind: "certificate", chain: String(chain), key: String(key) } as const;
      };
      const uri = "spiffe://cluster.local/ns/demo/sa/door";
      const workload = await certificate({ uris: [uri] });
      const inFiles = await certificate({ dns: ["files.test"] });
      const secrets = `${folder}/var/run/secrets`;
      await using _identity = await secretServer(`${secrets}/workload-spiffe-uds/socket`, {
        default: workload,
        ROOTCA: { kind: "roots", roots: authority.root },
      });
      await using _credentials = await secretServer(`${secrets}/credential-uds/socket`, {
        "sds://door": await certificate({ dns: ["named.test"] }),
      });
      await using mesh = await TestMesh.start({ files: { "door.yaml": gateway([named, files, own]) } });
      await using agent = await AgentProcess.start({
        ...{ args: ["router"], folder },
        files: {
          "etc/mesh/pod/labels": 'app="door"\n',
          "certs/chain.pem": inFiles.chain,
          "certs/key.pem": inFiles.key,
        },
        env: {
          ...{ POD_NAME: "door-1", POD_NAMESPACE: "demo", SERVICE_ACCOUNT: "door", INSTANCE_IP: "127.0.0.1" },
          ...{ PROXY_STATUS_PORT: `${readiness}`, PROXY_METRICS_PORT: `${metrics}` },
          PROXY_CONFIG: JSON.stringify({
            ...{ binaryPath: "envoy", discoveryAddress: `127.0.0.1:${mesh.server.ports.grpc}`, concurrency: 1 },
            ...{ controlPlaneAuthPolicy: "NONE", proxyAdminPort: admin, statusPort: status },
            terminationDrainDuration: "0.1s",
          }),
        },
      });
      const ask = async () => [
        await namesAt(named, authority.root),
        await namesAt(files, authority.root),
        await namesAt(own, authority.root, { cert: workload.chain, key: workload.key }),
      ];
      const expected = ["DNS:named.test", "DNS:files.test", `URI:${uri}`];
      try {
        await until("all three show their certificate", async () => String(await ask()) === String(expected));
        assert.deepEqual(authority.requests, [], "nobody asks an authority");
        assert.doesNotMatch(agent.output, /rejected|no certificate/);
      } catch (error) {
        throw new Error(`${await ask()}\n${agent.output}`, { cause: error });
      } finally {
        agent.signal("SIGTERM");
        await agent.ended;
        await Deno.remove(folder, { recursive: true });
      }
    }),
});
