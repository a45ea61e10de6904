/**
 * Variables and flags of `discovery`, read and checked together: what is wrong with any of them is said at once.
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

/** What a server is started with. */
export interface DiscoveryStart {
  readonly settings: SettingsOf<"pilot-discovery">;
  readonly options: DiscoveryOptions;
  readonly log: LogOptions;
  /** Where access to the orchestrator is described; undefined: it is not read. */
  readonly orch: AccessPlace | undefined;
}

/**
 * The start, or everything that is wrong with variables and flags, one line each.
 *
 * @param isComplete Whether a flag that was not given was not meant: false where one is misspelled.
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
  const orch = flags.configDir === "" && options !== undefined ? findOrch(options, fallbacks) : undefined;
  if (isComplete && flags.configDir === "" && orch === undefined) {
    refusals.problems.push(
      "flag --configDir: got none, and no access to an orchestrator, expected a folder, or --orchconfig, KUBECONFIG, " +
        "a pod's account or ~/.kube/config",
    );
  }
  const log = refusals.attempt(() => logOptions("pilot-discovery", flags));
  return settings && options && log && refusals.problems.length === 0 ? { settings, options, log, orch } : { refusals };
}

function findOrch(options: DiscoveryOptions, settings: SettingsOf<"pilot-discovery">): AccessPlace | undefined {
  return findAccess({
    flag: options.orchconfig,
    variable: settings.KUBECONFIG,
    host: settings.ORCH_SERVICE_HOST,
    port: settings.ORCH_SERVICE_PORT,
    home: settings.HOME,
  });
}
