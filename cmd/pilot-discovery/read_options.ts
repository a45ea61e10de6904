/**
 * Variables and flags of `discovery`, read and checked together: all mistakes are reported at once.
 *
 * Permissions: env (the program's variables), read (the pod's account, the home folder).
 *
 * @module
 */
import { logOptions } from "../../lib/cli/log_flags.ts";
import { Refusals } from "../../lib/cli/refusals.ts";
import { readProgramSettings } from "../../lib/cli/startup.ts";
import { type AccessPlace, findAccess } from "../../lib/orch/access/find.ts";
import type { LogOptions } from "../../lib/kernel/log/log.ts";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import type { DiscoveryFlagValues } from "./discovery_flags.ts";
import { type DiscoveryOptions, discoveryOptions } from "./discovery_options.ts";

/** The options and settings of a server's start. */
export interface DiscoveryStart {
  readonly settings: SettingsOf<"pilot-discovery">;
  readonly options: DiscoveryOptions;
  readonly log: LogOptions;
  /** Where access to the orchestrator is described. Undefined: the orchestrator is not read. */
  readonly orch: AccessPlace | undefined;
}

/**
 * The start, or all mistakes in variables and flags, a line each.
 * @param isComplete Whether an absent flag is really absent. False when a flag is misspelled.
 */
export function readDiscoveryStart(
  flags: DiscoveryFlagValues,
  given: ReadonlySet<string>,
  isComplete = true,
): DiscoveryStart | { readonly refusals: Refusals } {
  const refusals = new Refusals();
  const settings = refusals.attempt(() => readProgramSettings("pilot-discovery"));
  const fallbacks = settings ?? defaultSettings("pilot-discovery");
  const options = refusals.attempt(() => discoveryOptions(flags, given, fallbacks));
  const orch = options && findOrch(options, fallbacks, given);
  if (isComplete && options !== undefined && orch === undefined) {
    refusals.problems.push(...accessMissed(options, given));
  }
  const log = refusals.attempt(() => logOptions("pilot-discovery", flags));
  return settings && options && log && refusals.problems.length === 0 ? { settings, options, log, orch } : { refusals };
}

/**
 * Finds the description of access to the orchestrator. Without a folder all objects are read from the orchestrator.
 * With a folder the orchestrator gives only services, on request. By default services are requested, but a server on a
 * laptop must not use the cluster of the last `kubectl` command. So with a folder the flag or a pod's account must ask
 * for the orchestrator.
 */
function findOrch(
  options: DiscoveryOptions,
  settings: SettingsOf<"pilot-discovery">,
  given: ReadonlySet<string>,
): AccessPlace | undefined {
  if (options.configDir !== undefined && !options.registries.includes("Orch")) return undefined;
  const isMeant = options.configDir === undefined || given.has("registries");
  return findAccess({
    flag: options.orchconfig,
    variable: isMeant ? settings.KUBECONFIG : "",
    host: settings.ORCH_SERVICE_HOST,
    port: settings.ORCH_SERVICE_PORT,
    home: isMeant ? settings.HOME : "",
  });
}

/** Why missing access is needed. */
function accessMissed(options: DiscoveryOptions, given: ReadonlySet<string>): string[] {
  const places = "--orchconfig, KUBECONFIG, a pod's account or ~/.kube/config";
  if (options.configDir === undefined) {
    return [`flag --configDir: got none, and no access to an orchestrator, expected a folder, or ${places}`];
  }
  return given.has("registries") && options.registries.includes("Orch")
    ? [`flag --registries: got Orch, and no access to an orchestrator, expected ${places}`]
    : [];
}
