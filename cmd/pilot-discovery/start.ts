/**
 * From a parsed command line to a running server: settings, options, logs, metrics, signals.
 *
 * Permissions: env (the program's variables), write (log files, when named).
 *
 * @module
 */
import { logOptions } from "../../lib/cli/log_flags.ts";
import { readProgramSettings, stopOnSignals } from "../../lib/cli/startup.ts";
import { startKernel } from "../../lib/kernel/kernel.ts";
import { runDiscovery } from "./discovery.ts";
import type { DiscoveryFlagValues } from "./discovery_flags.ts";
import { discoveryOptions } from "./discovery_options.ts";
import { idleAmong } from "./idle_flags.ts";

/** Runs `pilot-discovery discovery`; resolves with the exit code. */
export async function startDiscovery(flags: DiscoveryFlagValues, given: ReadonlySet<string>): Promise<number> {
  const settings = readProgramSettings("pilot-discovery");
  const options = discoveryOptions(flags, given, settings);
  const kernel = startKernel("pilot-discovery", logOptions("pilot-discovery", flags), {
    stopDeadline: options.shutdownDuration,
  });
  const idle = idleAmong(given);
  if (idle.length > 0) {
    kernel.log.scope("default").warn("flags without effect in this version", {
      flags: idle.map((name) => `--${name}`),
    });
  }
  const release = stopOnSignals(kernel.drain);
  try {
    return await runDiscovery(options, settings, kernel);
  } finally {
    release();
    kernel.log.close();
  }
}
