/**
 * Runs the check of `mesh-iptables` in a process of its own: as the proxy's user, and in another network namespace if
 * need be. A process cannot change either once it runs.
 *
 * Permissions: run (nsenter), env.
 *
 * @module
 */
import { UsageError } from "../../lib/cli/command.ts";
import type { RedirectionConfig } from "../../lib/iptables/config.ts";
import { namespacePath } from "../../lib/iptables/run.ts";
import type { Logger } from "../../lib/kernel/log/log.ts";

/** Exit code when the check fails: that by which the node's repair knows a pod that started without rules. */
export const VALIDATION_FAILED = 126;

/** Words that start this program again with the same command line. */
function selfWords(): string[] {
  const self = [Deno.execPath()];
  // The runtime's own arguments are not told: without compilation the permission set is that of the task.
  if (!Deno.build.standalone) self.push("run", "--quiet", "--no-prompt", "-P=pilot-agent", Deno.mainModule);
  return [...self, ...Deno.args];
}

/**
 * Runs the check there. Its log lines go where ours go.
 *
 * @returns Its exit code.
 * @throws {UsageError} when it cannot be run, which says nothing of the rules.
 */
export async function runAsProxy(
  config: RedirectionConfig,
  networkNamespace: string | undefined,
  log: Logger,
): Promise<number> {
  const uid = config.proxyUids[0] ?? 0;
  const gid = config.proxyGids[0] ?? uid;
  const enter = networkNamespace === undefined ? [] : [`--net=${namespacePath(networkNamespace)}`];
  const args = [...enter, `--setuid=${uid}`, `--setgid=${gid}`, "--", ...selfWords()];
  args.push("--skip-rule-apply", "--run-validation", "--network-namespace=");
  log.info(`the check runs as the proxy's user ${uid}, group ${gid}`);
  const cannot = (why: string) =>
    new UsageError(
      `pilot-agent mesh-iptables: the check cannot run as the proxy's user: ${why}; run it as user ${uid}`,
    );
  try {
    const child = new Deno.Command("nsenter", { args, stdin: "null", stdout: "inherit", stderr: "inherit" }).spawn();
    const { code } = await child.status;
    if (code === 0 || code === VALIDATION_FAILED) return code;
    throw cannot(`nsenter ended with ${code}`);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw cannot("nsenter is not installed");
  }
}
