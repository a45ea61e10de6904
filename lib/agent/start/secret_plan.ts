/**
 * Where the workload's certificate comes from: another program's socket, files, or the authority.
 *
 * Permissions: read (sockets and files).
 *
 * @module
 */
import { isRegular } from "../../kernel/files/regular.ts";
import type { Settings } from "../../kernel/settings/catalogue.ts";
import { ROOTS_SECRET, WORKLOAD_SECRET } from "../secrets/agent_secret.ts";
import type { SecretFiles } from "../secrets/file_secrets.ts";
import type { AgentPaths } from "./agent_paths.ts";

/** Settings that decide the plan. */
export type SecretSettings = Pick<
  Settings,
  "CA_PROVIDER" | "FILE_MOUNTED_CERTS" | "PROV_CERT" | "WORKLOAD_IDENTITY_SOCKET_FILE"
>;

/** The source. */
export type SecretPlan =
  /** Another program hands out the workload's identity on the proxy's socket. */
  | { readonly from: "another program" }
  /** Files of the workload's certificate and of the roots. */
  | { readonly from: "files"; readonly files: Readonly<Record<string, SecretFiles>> }
  | { readonly from: "authority" };

/** Faults that keep an agent from starting: a sentence each. */
export class AgentStartError extends Error {
  override readonly name = "AgentStartError";
  constructor(readonly faults: readonly string[]) {
    super(faults.join("\n"));
  }
}

/** Name of the agent's own socket. A program that serves this socket already is asked instead. */
const OWN_SOCKET = "socket";
/** The cloud's provider, which mounts three files. */
const CLOUD_PROVIDER = "GkeWorkloadCertificate";

/**
 * Makes the plan.
 * @param found Other faults that keep the agent from starting.
 * @throws {AgentStartError} With each setting that cannot be in force.
 */
export async function planSecrets(
  settings: SecretSettings,
  paths: AgentPaths,
  found: readonly string[] = [],
): Promise<SecretPlan> {
  const [provider, areMounted, socket] = [
    settings.CA_PROVIDER,
    settings.FILE_MOUNTED_CERTS,
    settings.WORKLOAD_IDENTITY_SOCKET_FILE,
  ];
  const faults = [...found];
  if (areMounted && settings.PROV_CERT !== "") {
    faults.push(
      "variable FILE_MOUNTED_CERTS: got true, expected false with PROV_CERT: certificates are mounted, or renewed by those of the machine",
    );
  }
  if (provider !== "Citadel" && provider !== CLOUD_PROVIDER) {
    faults.push(
      `variable CA_PROVIDER: got ${JSON.stringify(provider)}, expected Citadel or ${CLOUD_PROVIDER}`,
    );
  }
  if (socket.includes("/")) {
    faults.push(
      `variable WORKLOAD_IDENTITY_SOCKET_FILE: got ${JSON.stringify(socket)}, expected a name without folder`,
    );
  }
  const isExternal = socket !== "" && !socket.includes("/") &&
    await takesConnections(`${paths.identitySockets}/${socket}`);
  if (!isExternal && socket !== "" && socket !== OWN_SOCKET && !socket.includes("/")) {
    faults.push(
      `variable WORKLOAD_IDENTITY_SOCKET_FILE: got ${JSON.stringify(socket)}, expected a socket of that name in ` +
        `${paths.identitySockets} on which a program listens`,
    );
  }
  const cloud = cloudFiles(paths.cloudCertificates);
  if (provider === CLOUD_PROVIDER && !await allThere(cloud)) {
    faults.push(
      `variable CA_PROVIDER: got ${CLOUD_PROVIDER}, expected certificates.pem, private_key.pem and ca_certificates.pem ` +
        `in ${paths.cloudCertificates}`,
    );
  }
  if (faults.length > 0) throw new AgentStartError(faults);
  if (isExternal) return { from: "another program" };
  if (provider === CLOUD_PROVIDER) return { from: "files", files: cloud };
  for (const folder of paths.certificates) {
    const files = mountedFiles(folder);
    if (await allThere(files)) return { from: "files", files };
  }
  // The files may be mounted later. The proxy waits for the files.
  return areMounted ? { from: "files", files: mountedFiles(paths.certificates[0]!) } : { from: "authority" };
}

function mountedFiles(folder: string): Record<string, SecretFiles> {
  return {
    [WORKLOAD_SECRET]: { chain: `${folder}/cert-chain.pem`, key: `${folder}/key.pem` },
    [ROOTS_SECRET]: { roots: `${folder}/root-cert.pem` },
  };
}

function cloudFiles(folder: string): Record<string, SecretFiles> {
  return {
    [WORKLOAD_SECRET]: { chain: `${folder}/certificates.pem`, key: `${folder}/private_key.pem` },
    [ROOTS_SECRET]: { roots: `${folder}/ca_certificates.pem` },
  };
}

async function allThere(files: Readonly<Record<string, SecretFiles>>): Promise<boolean> {
  const paths = Object.values(files).flatMap((one) => Object.values(one));
  const there = await Promise.all(paths.map((path) => isRegular(path)));
  return there.every((one) => one);
}

/** Whether a program listens on a socket. */
export async function takesConnections(path: string): Promise<boolean> {
  try {
    (await Deno.connect({ transport: "unix", path })).close();
    return true;
  } catch {
    return false;
  }
}
