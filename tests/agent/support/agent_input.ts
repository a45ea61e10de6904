/**
 * An agent's input by a test's choice, over a folder in place of a container.
 * @module
 */
import { workloadOf } from "../../../lib/agent/node/workload.ts";
import { type AgentInput, drainRulesOf } from "../../../lib/agent/start/agent_input.ts";
import { AGENT_PATHS } from "../../../lib/agent/start/agent_paths.ts";
import { defaultProxySettings, mergeProxySettings } from "../../../lib/config/mesh/merge.ts";
import type { ProxySettings } from "../../../lib/config/mesh/types.ts";
import type { SettingsOf } from "../../../lib/kernel/settings/catalogue.ts";
import { defaultSettings } from "../../../lib/kernel/settings/read.ts";

/** Differences from the defaults. */
export interface AgentInputChanges {
  readonly settings?: Partial<SettingsOf<"pilot-agent">>;
  readonly variables?: Readonly<Record<string, string>>;
  readonly proxy?: Partial<ProxySettings>;
}

/** The input. Files of the container are below `folder`. */
export function agentInput(
  folder: string,
  { settings: changed = {}, variables = {}, proxy: own = {} }: AgentInputChanges,
): AgentInput {
  const settings = defaultSettings("pilot-agent", changed);
  const proxy = { ...mergeProxySettings(defaultProxySettings({ systemNamespace: "mesh-system" }), {}), ...own };
  const inFolder = (paths: readonly string[]) => paths.map((path) => `${folder}/${path}`);
  return {
    ...{ settings, variables, annotations: {}, proxy },
    workload: workloadOf({
      ...{ role: "sidecar", settings, variables, labels: {}, annotations: {}, proxy },
      machine: { hostname: "cart-1", addresses: ["10.0.0.1"] },
      ...{ domain: "", serviceCluster: "mesh-proxy", outlierLogPath: undefined, stsPort: 0, version: "1" },
    }),
    paths: { ...AGENT_PATHS, tokens: inFolder(AGENT_PATHS.tokens), roots: inFolder(AGENT_PATHS.roots) },
    ...{ xdsSocket: `${folder}/XDS`, concurrency: 1, outlierLogPath: undefined, templateFile: undefined },
    profiling: false,
    envoyLog: { level: "warning", components: {}, asJson: false },
    cloud: { name: undefined, metadata: {}, locality: {}, warnings: [] },
    tokenService: { port: 0, plugin: undefined },
    drainRules: drainRulesOf("sidecar", proxy, settings),
  };
}
