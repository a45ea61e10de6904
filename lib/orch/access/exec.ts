/**
 * Credentials from the output of a program (`client.authentication.k8s.io`, ExecCredential).
 *
 * Permissions: run (the program).
 *
 * @module
 */
import * as z from "zod";
import type { ExecProgram } from "./config_file.ts";

/** The output of a program. */
export interface ExecCredentials {
  readonly token?: string;
  readonly identity?: { readonly cert: string; readonly key: string };
  /** ms since the epoch; undefined: the credentials are used until the API refuses them. */
  readonly expires?: number;
}

const printed = z.object({
  apiVersion: z.string(),
  kind: z.literal("ExecCredential"),
  status: z.object({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.iso.datetime({ offset: true }).optional(),
  }),
});

/** Longest run of a program, milliseconds. */
const PROGRAM_MS = 60_000;

/**
 * Runs the program.
 *
 * @throws {Error} when the program cannot be run, fails, or prints something else. The message holds nothing of the
 * program's standard output.
 */
export async function execCredentials({ command, args, env, apiVersion }: ExecProgram): Promise<ExecCredentials> {
  const info = { apiVersion, kind: "ExecCredential", spec: { interactive: false } };
  const output = await new Deno.Command(command, {
    ...{ args: [...args], stdin: "null", signal: AbortSignal.timeout(PROGRAM_MS) },
    env: { ...env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
  }).output();
  if (!output.success) {
    const said = new TextDecoder().decode(output.stderr).trim().slice(0, 300);
    throw new Error(`${command} ended with ${output.code}: ${said}`);
  }
  const read = printed.safeParse(parsed(new TextDecoder().decode(output.stdout)));
  if (!read.success) throw new Error(`${command} printed something other than an ExecCredential with a status`);
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = read.data.status;
  if (!token && !(cert && key)) throw new Error(`${command} printed neither a token nor a certificate with its key`);
  return {
    ...(token ? { token } : {}),
    ...(cert && key ? { identity: { cert, key } } : {}),
    ...(expirationTimestamp === undefined ? {} : { expires: Date.parse(expirationTimestamp) }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
