/**
 * From a parsed command line to a running server: settings, options, logs, metrics, signals.
 *
 * Permissions: env (the program's variables), write (log files, when named).
 *
 * @module
 */
import { programVariables, stopOnSignals } from "../../lib/cli/startup.ts";
import { startKernel } from "../../lib/kernel/kernel.ts";
import { flagsNotBuilt, settingsWithoutEffect } from "../../lib/kernel/not_built/catalogue.ts";
import { settingsUsedBy } from "../../lib/kernel/settings/catalogue.ts";
import { runDiscovery } from "./discovery.ts";
import type { DiscoveryFlagValues } from "./discovery_flags.ts";
import { readDiscoveryStart } from "./read_options.ts";

/**
 * Time to end by force the parts left by a graceful stop, ms. The time begins after `--shutdownDuration`: a proxy that
 * uses all of this duration does not make the stop unclean.
 */
const FORCE_TIME = 1000;

/** Time after both durations, ms. Then the process ends even if a part hangs. */
const LAST_TIME = 500;

/** Runs `pilot-discovery discovery`; resolves with the exit code. */
export async function startDiscovery(flags: DiscoveryFlagValues, given: ReadonlySet<string>): Promise<number> {
  const start = readDiscoveryStart(flags, given);
  if ("refusals" in start) throw start.refusals.error();
  const { settings, options, log, orch } = start;
  const kernel = startKernel("pilot-discovery", log, {
    stopDeadline: options.shutdownDuration + FORCE_TIME,
  });
  const idle = flagsNotBuilt("pilot-discovery", given);
  if (idle.length > 0) kernel.log.scope("default").warn("flags without effect in this version", { flags: idle });
  const environment = programVariables(settingsUsedBy("pilot-discovery").map(([name]) => name));
  const variables = settingsWithoutEffect(Object.keys(environment));
  if (variables.length > 0) {
    kernel.log.scope("default").warn("variables without effect in this version", { variables });
  }
  const release = stopOnSignals(kernel.drain, options.shutdownDuration + FORCE_TIME + LAST_TIME);
  try {
    return await runDiscovery(options, settings, kernel, {
      required: given.has("ctrlz_port") || given.has("ctrlz_address"),
      args: Deno.args,
      environment,
    }, orch);
  } finally {
    release();
    kernel.log.close();
  }
}
