/**
 * Whether this machine has the programs and the rights for a cluster.
 *
 * Permissions: env (GO, HOME, XDG_CACHE_HOME), read (the cache folder, /proc), run (the programs), sys (uid).
 *
 * @module
 */
import { noApiServer } from "../../orch/support/server/programs.ts";

/** Programs of Debian. Each package has the name of its program. */
const INSTALLED = ["containerd", "runc", "conntrack", "socat", "iptables"];

/** Why this machine cannot run a cluster; undefined: the machine can. */
export const noCluster: string | undefined = await missing();

async function missing(): Promise<string | undefined> {
  if (Deno.uid() !== 0) return "not root: namespaces and mounts need root";
  if (noApiServer !== undefined) return noApiServer;
  for (const program of INSTALLED) {
    const found = await new Deno.Command("sh", { args: ["-c", `command -v ${program}`], stdout: "null" }).output();
    if (!found.success) return `no ${program}: install the package ${program} (as root, deno task setup does)`;
  }
  const { success, stderr } = await new Deno.Command("unshare", {
    args: ["--mount", "--net", "--pid", "--uts", "--ipc", "--fork", "--mount-proc", "true"],
  }).output();
  return success ? undefined : `no namespaces: ${new TextDecoder().decode(stderr).trim()}`;
}
