/**
 * Flag values of `proxy`, checked.
 *
 * @module
 */
import { UsageError } from "../../lib/cli/command.ts";
import { type FlagOptions, readOptions } from "../../lib/cli/option.ts";
import type { Settings } from "../../lib/kernel/settings/catalogue.ts";
import { readProxyLevels } from "../../lib/kernel/log/proxy_levels.ts";
import { type ProxyFlagValues, proxyRows } from "./proxy_flags.ts";

/** Level of the proxy's log, and levels of its components. */
export interface ProxyLogLevels {
  readonly level: string;
  readonly components: Readonly<Record<string, string>>;
}

/** Everything the command line says about an agent. */
export interface ProxyOptions extends FlagOptions<typeof proxyRows> {
  readonly log: ProxyLogLevels;
}

/**
 * Checks flag values and makes options of them.
 *
 * @throws {UsageError} With a line for each flag at fault: the value and the expectation.
 */
export function proxyOptions(flags: ProxyFlagValues, settings: Pick<Settings, "POD_NAMESPACE">): ProxyOptions {
  const problems: string[] = [];
  const log = readLevels(flags, problems);
  const read = readOptions(proxyRows, flags, new Set(), {});
  problems.push(...read.problems);
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  return { ...read.options, log, domain: flags.domain || `${settings.POD_NAMESPACE}.svc.cluster.local` };
}

function readLevels(flags: ProxyFlagValues, problems: string[]): ProxyLogLevels {
  const ofComponents = readProxyLevels(flags.proxyComponentLogLevel, true);
  const ofProxy = readProxyLevels(flags.proxyLogLevel);
  problems.push(...ofComponents.problems.map((one) => `flag --proxyComponentLogLevel: ${one}`));
  problems.push(...ofProxy.problems.map((one) => `flag --proxyLogLevel: ${one}`));
  return { level: ofProxy.level ?? "warning", components: { ...ofComponents.components, ...ofProxy.components } };
}
