/**
 * Where the check of `mesh-iptables` runs: as the proxy's user, and in the network namespace of the checked rules.
 *
 * A process can change its user, so the check needs no other program for the change. Besides, a runtime below a folder
 * that the proxy's user may not enter (root's home, as `npx` puts it) could not be started as this user. A process
 * cannot change its network namespace here, so for another namespace the program is started inside it.
 *
 * Permissions: sys (setuid, setgid), run (nsenter), env.
 *
 * @module
 */
import process from "node:process";
import { UsageError } from "../../lib/cli/command.ts";
import type { RedirectionConfig } from "../../lib/iptables/model/config.ts";
import { namespacePath } from "../../lib/iptables/run.ts";
import type { Logger } from "../../lib/kernel/log/log.ts";

/** Exit code of a failed check. The node's repair recognizes a pod without rules by this code. */
export const VALIDATION_FAILED = 126;

/**
 * Gives this process the proxy's user and group for the rest of its life. Modules with a later import must not need
 * more rights.
 * @throws {UsageError} When the process does not have the right to change its user.
 */
export function becomeProxy(config: RedirectionConfig, log: Logger): void {
  const uid = config.proxyUids[0] ?? 0;
  const gid = config.proxyGids[0] ?? uid;
  log.info(`the check runs as the proxy's user ${uid}, group ${gid}`);
  try {
    // The group first: after the change of the user the process has no right to change the group.
    process.setgid?.(gid);
    process.setuid?.(uid);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new UsageError(
      `pilot-agent mesh-iptables: the check cannot run as the proxy's user: ${error.message}; run it as user ${uid}`,
    );
  }
}

/** Command line that starts the program again. */
function selfWords(): string[] {
  // The launcher of a bundle knows the flags.
  if (Deno.mainModule.endsWith(".js")) return [new URL("pilot-agent", Deno.mainModule).pathname, ...Deno.args];
  const self = [Deno.execPath()];
  // A program does not see the runtime's own arguments: without compilation the permission set is the task's.
  if (!Deno.build.standalone) self.push("run", "--quiet", "--no-prompt", "-P=pilot-agent", Deno.mainModule);
  return [...self, ...Deno.args];
}

/**
 * Runs the check in another network namespace, by another process of this program with the same log output.
 * @returns The exit code of the process: 0 or {@link VALIDATION_FAILED}.
 * @throws {UsageError} When the process cannot be run. The error says nothing about the rules.
 */
export async function checkInNamespace(networkNamespace: string): Promise<number> {
  const args = [`--net=${namespacePath(networkNamespace)}`, "--", ...selfWords()];
  args.push("--skip-rule-apply", "--run-validation", "--network-namespace=");
  const child = new Deno.Command("nsenter", { args, stdin: "null", stdout: "inherit", stderr: "inherit" }).spawn();
  const { code } = await child.status;
  if (code === 0 || code === VALIDATION_FAILED) return code;
  throw new UsageError(
    `pilot-agent mesh-iptables: the check did not run in the network namespace ${networkNamespace}: it ended with ${code}`,
  );
}
