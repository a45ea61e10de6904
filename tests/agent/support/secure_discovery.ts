/**
 * A discovery server that agents reach over TLS alone.
 *
 * Permissions: run (deno), write (the given folder).
 *
 * @module
 */
import { programArgs } from "../../../scripts/program_args.ts";
import type { TestAuthority } from "./authority.ts";

const root = new URL("../../..", import.meta.url).pathname.replace(/\/$/, "");

/**
 * The program `pilot-discovery`, serving the folder `config` of a folder over TLS alone.
 *
 * @param ports Of the secure port, the pages and the metrics.
 * @param env Settings. Default: none.
 */
export async function startSecureDiscovery(
  folder: string,
  authority: TestAuthority,
  ports: readonly number[],
  env: Readonly<Record<string, string>> = {},
): Promise<AsyncDisposable> {
  const { certificate, privateKey } = await authority.serverCertificate("meshd.test");
  const files = { "cert.pem": certificate, "key.pem": privateKey, "ca.pem": authority.root };
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${folder}/${name}`, text);
  const [secure, http, monitoring] = ports;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...[...programArgs("pilot-discovery"), "discovery", "--configDir", `${folder}/config`, "--grpcAddr="],
      ...[`--secureGRPCAddr=127.0.0.1:${secure}`, `--httpAddr=127.0.0.1:${http}`],
      ...[`--monitoringAddr=127.0.0.1:${monitoring}`, "--ctrlz_port=0", `--tlsCertFile=${folder}/cert.pem`],
      ...[`--tlsKeyFile=${folder}/key.pem`, `--caCertFile=${folder}/ca.pem`],
    ],
    cwd: root,
    env,
    stdout: "null",
    stderr: "null",
  }).spawn();
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
    },
  };
}
