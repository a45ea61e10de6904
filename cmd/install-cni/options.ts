/**
 * Flags and variables of `install-cni` as a set of options. A given flag takes precedence over its variable.
 *
 * @module
 */
import { type Address, introspectionAddress } from "../../lib/cli/address.ts";
import { UsageError } from "../../lib/cli/command.ts";
import { type FlagOptions, readOptions } from "../../lib/cli/option.ts";
import { isConfigName } from "../../lib/cni/config/network.ts";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { type InstallFlagValues, installRows, repairRows } from "./flags.ts";

/** Options of the repair of broken pods: the pods, and the actions. */
export interface RepairOptions extends FlagOptions<typeof repairRows> {
  readonly repairPods: boolean;
}

/** Everything flags and paired variables say about an installation. */
export interface InstallOptions extends FlagOptions<typeof installRows> {
  readonly introspection: Address;
  readonly repair: RepairOptions;
}

type CniSettings = SettingsOf<"install-cni">;

/**
 * Options of flags and variables.
 *
 * @param given Flags of the command line. A flag that was not given has the value of its variable.
 * @throws {UsageError} With a line for each flag at fault.
 */
export function installOptions(
  flags: InstallFlagValues,
  given: ReadonlySet<string>,
  settings: CniSettings,
): InstallOptions {
  const install = readOptions(installRows, flags, given, settings);
  const repair = readOptions(repairRows, flags, given, settings);
  const problems = [...install.problems, ...repair.problems, ...nameProblems(install.options.confName)];
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  return {
    ...install.options,
    introspection: introspectionAddress(flags),
    repair: {
      ...repair.options,
      repairPods: settings.REPAIR_REPAIR_PODS,
      nodeName: repair.options.nodeName ?? ownNode(settings),
    },
  };
}

/** Pods can be redirected only on their own node, so for redirection the pods of other nodes are not watched. */
function ownNode(settings: CniSettings): string | undefined {
  return settings.REPAIR_REPAIR_PODS ? settings.NODE_NAME || undefined : undefined;
}

/** Checked here, because the flags are loaded before the command is known. */
function nameProblems(name: string | undefined): string[] {
  if (name === undefined || !name.includes("/") && isConfigName(name)) return [];
  const expected = "a name without folder that ends in .conf, .conflist or .json";
  return [`flag --cni-conf-name: got ${JSON.stringify(name)}, expected ${expected}`];
}
