/**
 * Role, variables and flags of `proxy`, read and checked together: all mistakes are reported at once.
 *
 * Permissions: env (the program's variables).
 *
 * @module
 */
import { UsageError } from "../../lib/cli/command.ts";
import { type LogFlagValues, logOptions } from "../../lib/cli/log_flags.ts";
import { Refusals } from "../../lib/cli/refusals.ts";
import type { AgentRole } from "../../lib/agent/node/agent_node.ts";
import { readProgramSettings } from "../../lib/cli/startup.ts";
import type { LogOptions } from "../../lib/kernel/log/log.ts";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import type { ProxyFlagValues } from "./proxy_flags.ts";
import { type ProxyOptions, proxyOptions } from "./proxy_options.ts";

/** The options and settings of an agent's start. */
export interface ProxyStart {
  readonly role: AgentRole;
  /** Settings from the process's own variables, without the variables in the proxy's settings. */
  readonly settings: SettingsOf<"pilot-agent">;
  readonly options: ProxyOptions;
  readonly log: LogOptions;
}

const ROLES: readonly AgentRole[] = ["sidecar", "router", "waypoint"];

/** The start, or all mistakes, a line each. */
export function readProxyStart(
  flags: ProxyFlagValues & LogFlagValues,
  role: string | undefined,
): ProxyStart | { readonly refusals: Refusals } {
  const refusals = new Refusals();
  const known = ROLES.find((one) => one === (role ?? "sidecar"));
  refusals.attempt(() => {
    if (known !== undefined) return;
    throw new UsageError(`pilot-agent proxy: got role ${JSON.stringify(role)}, expected sidecar, router or waypoint`);
  });
  const settings = refusals.attempt(() => readProgramSettings("pilot-agent"));
  const options = refusals.attempt(() => proxyOptions(flags, settings ?? defaultSettings("pilot-agent")));
  const log = refusals.attempt(() => logOptions("pilot-agent", flags));
  return known && settings && options && log ? { role: known, settings, options, log } : { refusals };
}
