/**
 * An agent of the namespace `demo` on loopback ports. The agent's only proof of identity is a token.
 *
 * Permissions: the permissions of {@linkcode AgentProcess}.
 *
 * @module
 */
import { AgentProcess, type AgentProcessOptions } from "./agent.ts";

/** A workload of the namespace `demo`. */
export interface DemoWorkload
  extends Pick<AgentProcessOptions, "env" | "files" | "args" | "folder" | "place" | "program"> {
  /** Name of the workload, also its labels `app` and `instance`. */
  readonly name: string;
  /** Service account. Default: the name. */
  readonly account?: string;
  /** Default: `sidecar`. */
  readonly role?: "sidecar" | "router";
  /** Ports of the admin page, the agent's status, Envoy's readiness and metrics. */
  readonly ports: readonly number[];
  /** Settings of the proxy. */
  readonly proxy?: Readonly<Record<string, unknown>>;
}

/** The access of an agent to the control plane. */
export interface ControlPlaneAccess {
  /** Port of discovery and of the authority. */
  readonly port: number;
  readonly token: string;
  /** The authority's roots, as PEM. */
  readonly roots: string;
}

export function startIdentityAgent(
  { port, token, roots }: ControlPlaneAccess,
  { name, account = name, role = "sidecar", ports, env, files, args = [], proxy, ...process }: DemoWorkload,
): Promise<AgentProcess> {
  const [admin, status, readiness, metrics] = ports;
  return AgentProcess.start({
    ...process,
    args: [role, ...args],
    files: {
      "etc/mesh/pod/labels": `app="${name}"\ninstance="${name}"\n`,
      "var/run/secrets/tokens/mesh-token": token,
      "var/run/secrets/mesh/root-cert.pem": roots,
      ...files,
    },
    env: {
      ...{ POD_NAME: `${name}-1`, POD_NAMESPACE: "demo", SERVICE_ACCOUNT: account, INSTANCE_IP: "127.0.0.1" },
      ...{ ECC_SIGNATURE_ALGORITHM: "ECDSA", PROXY_STATUS_PORT: `${readiness}`, PROXY_METRICS_PORT: `${metrics}` },
      PROXY_CONFIG: JSON.stringify({
        ...{ binaryPath: "envoy", discoveryAddress: `localhost:${port}`, interceptionMode: "NONE" },
        ...{ proxyAdminPort: admin, statusPort: status, concurrency: 1, terminationDrainDuration: "0.1s" },
        ...proxy,
      }),
      ...env,
    },
  });
}
