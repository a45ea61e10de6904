/**
 * A server with an authority, and agents that prove their identity to the server by tokens.
 *
 * Permissions: run (deno), read, write (temporary folders), net (loopback), env (PATH, HOME, DENO_DIR).
 * @module
 */
import type { SettingsOf } from "../../../lib/kernel/settings/catalogue.ts";
import { readCertificates, writeCertificates } from "../../../lib/pki/certificate.ts";
import type { TestIssuer } from "../../authenticators/support/issuer.ts";
import { withServer } from "../../discovery/running.ts";
import type { AgentProcess } from "../../../scripts/demo/agent.ts";
import { type DemoWorkload, startIdentityAgent } from "../../../scripts/demo/identity_agent.ts";
import { until } from "../../patience.ts";

/** The server, for agents. */
export interface TokenServer {
  readonly issuer: TestIssuer;
  readonly port: number;
  /** The root of the server's authority, as PEM. */
  readonly root: string;
  /** Folder of the server's configuration. */
  readonly folder: string;
}

/** The start options of a server. */
export interface TokenServerOptions {
  readonly issuer: TestIssuer;
  readonly files: Readonly<Record<string, string>>;
  readonly meshFile?: string;
  readonly settings?: Partial<SettingsOf<"pilot-discovery">>;
  /** Services of manifests are part of the mesh. Default false. */
  readonly manifestServices?: boolean;
}

/** Runs a server over the given files. */
export async function withTokenServer(
  { issuer, files, meshFile, settings = {}, manifestServices = false }: TokenServerOptions,
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
      ...{ secureGrpc: "127.0.0.1:0", tls: { cipherSuites: [] }, manifestServices },
      ...(meshFile === undefined ? {} : { meshConfig: meshFile }),
    },
    settings: {
      ...{ MESHD_CUSTOM_HOST: "localhost", MESH_SELF_SIGNED_CA_DIR: kept, PILOT_DEBOUNCE_AFTER: 10 },
      ...{ JWT_RULE: JSON.stringify(rule), ...settings },
    },
  });
  await Deno.remove(kept, { recursive: true });
}

/** Starts an agent with an Envoy, and waits until the Envoy is ready. */
export async function startTokenAgent(
  { issuer, port, root }: TokenServer,
  workload: DemoWorkload,
): Promise<AgentProcess> {
  const { name, ports: [, , readiness] } = workload;
  const token = await issuer.token({ sub: `system:serviceaccount:demo:${name}` });
  const agent = await startIdentityAgent({ port, token, roots: root }, workload);
  const isReady = () => fetch(`http://127.0.0.1:${readiness}/healthz/ready`).then(({ ok }) => ok, () => false);
  await until("readiness of the proxy", isReady).catch(async (error: Error) => {
    await agent[Symbol.asyncDispose]();
    throw new Error(`${error.message}:\n${agent.output}`);
  });
  return agent;
}
