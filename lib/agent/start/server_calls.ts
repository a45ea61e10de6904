/**
 * How the control plane is called: its address and roots, and the agent's token or certificate. Files are read for each
 * call, because tokens and certificates are replaced while an agent runs.
 *
 * Permissions: read (the files).
 *
 * @module
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readRegularText } from "../../kernel/files/regular.ts";
import { DEFAULT_TLS_POLICY, FIPS_TLS_POLICY } from "../../sockets/listen/tls_policy.ts";
import { parseHostPort } from "../bootstrap/envoy_json.ts";
import type { ServerCall } from "../../grpc/client/server_stream.ts";

/** A server of the control plane. */
export interface ControlPlaneServer {
  /** `host:port`. */
  readonly address: string;
  readonly plaintext: boolean;
  /** Name in the server's certificate. Empty: the host of the address. */
  readonly serverName: string;
  /** Files with the server's roots. The first existing file counts. `SYSTEM`: the roots of the system. */
  readonly roots: readonly string[];
  /** Files with tokens. The first existing file counts. Without a file no token is shown. */
  readonly tokens: readonly string[];
  /** Token of the machine, instead of a token in a file. Absent: the machine has no token. */
  readonly machineToken?: () => Promise<string>;
  /**
   * Folders with a certificate of the agent. The first folder with a certificate counts. Without a folder no
   * certificate is shown.
   */
  readonly identities: readonly string[];
  /** `COMPLIANCE_POLICY=fips-140-2`: limits TLS to the parameters of FIPS 140-2. */
  readonly fips: boolean;
  /** Headers of each call. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Value of a variable for the roots of the system. */
export const SYSTEM_ROOTS = "SYSTEM";

/**
 * Makes a function that prepares each call: address, headers and TLS.
 * @throws {Error} At a call when the address is wrong, or no roots exist.
 */
export function serverCalls(options: ControlPlaneServer): () => Promise<ServerCall> {
  return async () => {
    const { address, plaintext, serverName } = options;
    const target = parseHostPort(address);
    if (target === undefined) throw new Error(`address ${JSON.stringify(address)}: expected host:port`);
    const token = await options.machineToken?.() ?? (await firstFile(options.tokens))?.text;
    const metadata = {
      ...options.headers,
      ...(token === undefined ? {} : { authorization: `Bearer ${token.trim()}` }),
    };
    if (plaintext) return { target, authority: address, metadata };
    const name = serverName || target.host;
    const roots = await rootsOf(options.roots);
    const identity = await identityOf(options.identities);
    const policy = options.fips ? FIPS_TLS_POLICY : DEFAULT_TLS_POLICY;
    const tls = { serverName: name, policy, ...roots, ...(identity === undefined ? {} : { identity }) };
    return { target: { ...target, tls }, authority: serverName || address, metadata };
  };
}

/** The missing credential for a server that asks for proof of identity. Undefined: nothing is missing. */
export async function missingCredential(options: ControlPlaneServer): Promise<string | undefined> {
  if (options.tokens.length === 0 || options.machineToken !== undefined) return undefined;
  return await firstFile(options.tokens) === undefined ? `no token in ${options.tokens.join(" or ")}` : undefined;
}

/** The first existing file. */
async function firstFile(paths: readonly string[]): Promise<{ readonly text: string } | undefined> {
  for (const path of paths) {
    try {
      return { text: await readRegularText(path) };
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound) && !(error instanceof Deno.errors.NotADirectory)) throw error;
    }
  }
  return undefined;
}

async function rootsOf(paths: readonly string[]): Promise<{ readonly roots?: string }> {
  if (paths[0] === SYSTEM_ROOTS) return {};
  const found = await firstFile(paths);
  if (found === undefined) throw new Error(`no roots to verify the server with, expected ${paths.join(" or ")}`);
  return { roots: found.text };
}

/** The first matching pair. Without a matching pair, the first pair, so that the server's refusal names the fault. */
async function identityOf(folders: readonly string[]) {
  let first: { readonly chain: string; readonly key: string } | undefined;
  for (const folder of folders) {
    const [chain, key] = await Promise.all([
      firstFile([`${folder}/cert-chain.pem`]),
      firstFile([`${folder}/key.pem`]),
    ]);
    if (chain === undefined || key === undefined) continue;
    const found = { chain: chain.text, key: key.text };
    if (isPair(found.chain, found.key)) return found;
    first ??= found;
  }
  return first;
}

/** A key of another certificate proves nothing. The next folder may have the right key. */
function isPair(chain: string, key: string): boolean {
  try {
    return new X509Certificate(chain).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** Prefixes of variables that become headers of calls. */
export type HeaderPrefix = "XDS_HEADER_" | "CA_HEADER_";

/** Headers from variables: `XDS_HEADER_X_TEAM=a` is the header `x_team`. */
export function headersOf(
  variables: Readonly<Record<string, string>>,
  prefix: HeaderPrefix,
  cluster: string,
): Record<string, string> {
  const headers: Record<string, string> = cluster === "" ? {} : { clusterid: cluster };
  for (const [name, value] of Object.entries(variables)) {
    const header = name.slice(prefix.length).toLowerCase();
    if (name.startsWith(prefix) && /^[a-z0-9_.-]+$/.test(header)) headers[header] = value;
  }
  return headers;
}
