/**
 * A server with an authority of its own, and agents that prove themselves to it by tokens.
 *
 * Permissions: run (deno), read, write (temporary folders), net (loopback), env (PATH, HOME, DENO_DIR).
 *
 * @module
 */
import type { SettingsOf } from "../../../lib/kernel/settings/catalogue.ts";
import { readCertificates, writeCertificates } from "../../../lib/pki/certificate.ts";
import type { TestIssuer } from "../../authenticators/support/issuer.ts";
import { withServer } from "../../discovery/running.ts";
import { AgentProcess } from "./agent_process.ts";

/** The server, for agents. */
export interface TokenServer {
  readonly issuer: TestIssuer;
  readonly port: number;
  /** The root of its authority, as PEM. */
  readonly root: string;
  /** Its folder of configuration. */
  readonly folder: string;
}

/** What it is started with. */
export interface TokenServerOptions {
  readonly issuer: TestIssuer;
  readonly files: Readonly<Record<string, string>>;
  readonly meshFile?: string;
  readonly settings?: Partial<SettingsOf<"pilot-discovery">>;
}

/** Runs a server over these files. */
export async function withTokenServer(
  { issuer, files, meshFile, settings = {} }: TokenServerOptions,
  run: (server: TokenServer) => Promise<void>,
): Promise<void> {
  const kept = await Deno.makeTempDir();
  const rule = { issuer: issuer.url, jwks_uri: `${issuer.url}/keys`, audiences: ["mesh-ca"] };
  await withServer(files, async ({ ports }, folder) => {
    const authority = settings.ROOT_CA_DIR === undefined
      ? `${kept}/authority.pem`
      : `${settings.ROOT_CA_DIR}/root-cert.pem`;
    const root = writeCertificates(readCertificates(await Deno.readTextFile(authority)));
    await run({ issuer, port: ports.secureGrpc!, root, folder });
  }, {
    options: {
      ...{ secureGrpc: "127.0.0.1:0", tls: { cipherSuites: [] } },
      ...(meshFile === undefined ? {} : { meshConfig: meshFile }),
    },
    settings: {
      ...{ MESHD_CUSTOM_HOST: "localhost", MESH_SELF_SIGNED_CA_DIR: kept, PILOT_DEBOUNCE_AFTER: 10 },
      ...{ JWT_RULE: JSON.stringify(rule), ...settings },
    },
  });
  await Deno.remove(kept, { recursive: true });
}

/** An agent of the namespace `demo`. */
export interface TokenAgentOptions {
  readonly name: string;
  readonly role?: "sidecar" | "router";
  /** Of its proxy's admin, status, readiness and metrics. */
  readonly ports: readonly number[];
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
}

/** Starts an agent with an Envoy, and waits until that is ready. */
export async function startTokenAgent(
  { issuer, port, root }: TokenServer,
  { name, role = "sidecar", ports, env = {}, files = {} }: TokenAgentOptions,
): Promise<AgentProcess> {
  const [admin, status, readiness, metrics] = ports;
  const agent = await AgentProcess.start({
    args: [role],
    files: {
      "etc/mesh/pod/labels": `app="${name}"\ninstance="${name}"\n`,
      "var/run/secrets/tokens/mesh-token": await issuer.token({ sub: `system:serviceaccount:demo:${name}` }),
      "var/run/secrets/mesh/root-cert.pem": root,
      ...files,
    },
    env: {
      ...{ POD_NAME: `${name}-1`, POD_NAMESPACE: "demo", SERVICE_ACCOUNT: name, INSTANCE_IP: "127.0.0.1" },
      ...{ ECC_SIGNATURE_ALGORITHM: "ECDSA", PROXY_STATUS_PORT: `${readiness}`, PROXY_METRICS_PORT: `${metrics}` },
      PROXY_CONFIG: JSON.stringify({
        ...{ binaryPath: "envoy", discoveryAddress: `localhost:${port}`, interceptionMode: "NONE" },
        ...{ proxyAdminPort: admin, statusPort: status, concurrency: 1, terminationDrainDuration: "0.1s" },
      }),
      ...env,
    },
  });
  const end = performance.now() + 20_000;
  const isReady = () => fetch(`http://127.0.0.1:${readiness}/healthz/ready`).then(({ ok }) => ok, () => false);
  while (!await isReady()) {
    if (performance.now() > end) {
      await agent[Symbol.asyncDispose]();
      throw new Error(`the proxy is not ready:\n${agent.output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return agent;
}
