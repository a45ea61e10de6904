/**
 * All input of an agent's start, read once.
 *
 * @module
 */
import type { ProxySettings } from "../../config/mesh/types.ts";
import type { SettingsOf } from "../../kernel/settings/catalogue.ts";
import type { Cloud } from "../cloud/cloud.ts";
import type { DrainRules } from "../envoy/drain.ts";
import type { AgentRole } from "../node/agent_node.ts";
import type { AgentWorkload } from "../node/workload.ts";
import type { AgentPaths } from "./agent_paths.ts";

/** Levels and form of Envoy's log. */
export interface EnvoyLogInput {
  readonly level: string;
  /** Levels of components, by name. */
  readonly components: Readonly<Record<string, string>>;
  readonly asJson: boolean;
}

/** Flags of the security token service. */
export interface TokenServiceInput {
  /** 0: there is none. */
  readonly port: number;
  /** Name of the provider of tokens; absent: none. */
  readonly plugin: string | undefined;
}

export interface AgentInput {
  readonly settings: SettingsOf<"pilot-agent">;
  /** Environment, in our spelling. */
  readonly variables: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly proxy: ProxySettings;
  readonly workload: AgentWorkload;
  readonly paths: AgentPaths;
  /** Socket of the relay. */
  readonly xdsSocket: string;
  /** Worker threads of the proxy. Undefined: one for each core. */
  readonly concurrency: number | undefined;
  readonly envoyLog: EnvoyLogInput;
  readonly outlierLogPath: string | undefined;
  /** Template of the bootstrap, if no setting has another template. Undefined: none. */
  readonly templateFile: string | undefined;
  /** Profiles of the agent are served. */
  readonly profiling: boolean;
  readonly cloud: Cloud;
  readonly tokenService: TokenServiceInput;
  readonly drainRules: DrainRules;
  /** User of the proxy; absent: the agent's own. */
  readonly proxyUser?: { readonly uid: number; readonly gid: number };
}

/** Name of the relay's socket in the proxy's folder. */
export const XDS_SOCKET = "XDS";

/** How an agent drains, by its role and settings. */
export function drainRulesOf(
  role: AgentRole,
  proxy: ProxySettings,
  settings: Pick<SettingsOf<"pilot-agent">, "EXIT_ON_ZERO_ACTIVE_CONNECTIONS" | "MINIMUM_DRAIN_DURATION">,
): DrainRules {
  return {
    inboundOnly: role === "sidecar",
    terminationDrainDuration: proxy.terminationDrainDuration,
    untilIdle: settings.EXIT_ON_ZERO_ACTIVE_CONNECTIONS,
    minimumDrainDuration: settings.MINIMUM_DRAIN_DURATION,
  };
}
