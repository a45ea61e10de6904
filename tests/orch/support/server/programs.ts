/**
 * The programs on this machine for the API server of tests.
 *
 * Permissions: env (GO, HOME, XDG_CACHE_HOME), read (the cache folder), run (deno, etcd, openssl).
 * @module
 */
import { builtProgram, type OrchestratorProgram } from "../../../../scripts/orchestrator/binaries.ts";
import { findGo } from "../../../../scripts/orchestrator/go.ts";
import { openssl } from "../../../certificates.ts";

/** Why this machine cannot run an API server; undefined: the machine can. */
export const noApiServer: string | undefined = await missing();

async function missing(): Promise<string | undefined> {
  if (!await runs("etcd", "--version")) return "no etcd: install the package etcd-server (setup does as root)";
  if (!await runs("setpriv", "--version")) return "no setpriv: install the package util-linux";
  if (!openssl) return "no openssl: install it (setup does as root)";
  if (builtProgram("kube-apiserver") === undefined && await findGo() === undefined) {
    return "no Go toolchain on the path or in /usr/local/go, which builds the API server; GO may name one";
  }
  return undefined;
}

async function runs(program: string, ...args: string[]): Promise<boolean> {
  try {
    return (await new Deno.Command(program, { args, stdout: "null", stderr: "null" }).output()).success;
  } catch {
    return false;
  }
}

/**
 * Builds missing programs, in a process that may write to the cache folder.
 *
 * @throws {Error} with the output of Go
 */
export async function builtPrograms(programs: readonly OrchestratorProgram[]): Promise<void> {
  if (programs.every((program) => builtProgram(program) !== undefined)) return;
  const script = new URL("../../../../scripts/orchestrator/main.ts", import.meta.url).pathname;
  const permissions = ["--allow-read", "--allow-write", "--allow-env", "--allow-run"];
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", "--no-check", ...permissions, script, ...programs],
    ...{ stdin: "null", stdout: "inherit", stderr: "piped" },
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr).trimEnd());
}
