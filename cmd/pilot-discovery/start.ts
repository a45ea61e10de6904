/**
 * From a parsed command line to a running server: settings, options, logs, metrics, signals.
 *
 * Permissions: env (the program's variables), write (log files, when named).
 *
 * @module
 */
import { UsageError } from "../../lib/cli/command.ts";
import { logOptions } from "../../lib/cli/log_flags.ts";
import { programVariables, readProgramSettings, stopOnSignals } from "../../lib/cli/startup.ts";
import { startKernel } from "../../lib/kernel/kernel.ts";
import { flagsNotBuilt, settingsWithoutEffect } from "../../lib/kernel/not_built/catalogue.ts";
import { settingsUsedBy } from "../../lib/kernel/settings/catalogue.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { runDiscovery } from "./discovery.ts";
import type { DiscoveryFlagValues } from "./discovery_flags.ts";
import { discoveryOptions } from "./discovery_options.ts";

/**
 * Time to end by force what a graceful stop has left, ms. It comes after `--shutdownDuration`: a proxy that uses all of
 * that is no reason to say that the server did not stop cleanly.
 */
const FORCE_TIME = 1000;

/** Runs `pilot-discovery discovery`; resolves with the exit code. */
export async function startDiscovery(flags: DiscoveryFlagValues, given: ReadonlySet<string>): Promise<number> {
  const { settings, options, log } = allAtOnce(flags, given);
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
  const release = stopOnSignals(kernel.drain);
  try {
    return await runDiscovery(options, settings, kernel, {
      required: given.has("ctrlz_port") || given.has("ctrlz_address"),
      args: Deno.args,
      environment,
    });
  } finally {
    release();
    kernel.log.close();
  }
}

/** Reads variables and flags; what is wrong with any of them is one error. */
function allAtOnce(flags: DiscoveryFlagValues, given: ReadonlySet<string>) {
  const problems: string[] = [];
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(error.message);
      return undefined;
    }
  };
  const settings = attempt(() => readProgramSettings("pilot-discovery"));
  const options = attempt(() => discoveryOptions(flags, given, settings ?? defaultSettings("pilot-discovery")));
  const log = attempt(() => logOptions("pilot-discovery", flags));
  if (!settings || !options || !log) throw new UsageError(problems.join("\n"));
  return { settings, options, log };
}
