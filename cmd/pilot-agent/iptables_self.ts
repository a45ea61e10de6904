/**
 * Runs the check of `mesh-iptables` in a process of its own: as the proxy's user, and in another network namespace if
 * need be. A process cannot change either once it runs.
 *
 * Permissions: run (nsenter), env.
 *
 * @module
 */
import type { RedirectionConfig } from "../../lib/iptables/config.ts";
import { namespacePath } from "../../lib/iptables/run.ts";
import type { Logger } from "../../lib/kernel/log/log.ts";

/** Words that start this program again with the same command line. */
function selfWords(): string[] {
  const self = [Deno.execPath()];
  // The runtime's own arguments are not told: without compilation the permission set is that of the task.
  if (!Deno.build.standalone) self.push("run", "--quiet", "--no-prompt", "-P=pilot-agent", Deno.mainModule);
  return [...self, ...Deno.args];
}

/** Runs the check there; resolves with whether it succeeded. Its log lines go where ours go. */
export async function runAsProxy(
  config: RedirectionConfig,
  networkNamespace: string | undefined,
  log: Logger,
): Promise<boolean> {
  const uid = config.proxyUids[0] ?? 0;
  const gid = config.proxyGids[0] ?? uid;
  const enter = networkNamespace === undefined ? [] : [`--net=${namespacePath(networkNamespace)}`];
  const args = [...enter, `--setuid=${uid}`, `--setgid=${gid}`, "--", ...selfWords()];
  args.push("--skip-rule-apply", "--run-validation", "--network-namespace=");
  log.info(`the check runs as the proxy's user ${uid}, group ${gid}`);
  try {
    const child = new Deno.Command("nsenter", { args, stdin: "null", stdout: "inherit", stderr: "inherit" }).spawn();
    return (await child.status).success;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    log.error(`the check cannot run as the proxy's user: nsenter is not installed; run it as user ${uid}`);
    return false;
  }
}
