/**
 * The plugin's settings in its entry of a network configuration, as the plugin reads them.
 *
 * @module
 */
import { DEFAULT_SELECTORS } from "../enrolment/decide.ts";
import { type EnablementSelector, selectorProblems } from "../enrolment/label_selector.ts";
import { isObject, type NetworkJson } from "./network.ts";

/** The plugin's settings. */
export interface PluginConfig {
  readonly version: string;
  readonly logLevel: string;
  readonly runDir: string;
  readonly ambientEnabled: boolean;
  /** The selectors of pods in ambient mode. */
  readonly ambientSelectors: readonly EnablementSelector[];
  readonly excludeNamespaces: readonly string[];
  readonly podNamespace: string;
  readonly agentPods: string;
  /** Legacy tools lock per pod instead of per node. */
  readonly scopedLock: boolean;
  /** Result of the plugins before us. */
  readonly previous: NetworkJson | undefined;
}

/** Beginning of the names of the node agent's pods, for an installer that does not know its own pod's name. */
export const AGENT_PODS = "mesh-cni-node-";

/**
 * Reads an entry.
 * @param version The version of an entry without a version.
 * @returns The values, with defaults in place of wrong values, and a line for each wrong value.
 */
export function pluginConfigOf(value: NetworkJson, version: string): { config: PluginConfig; problems: string[] } {
  const problems: string[] = [];
  const take = <T>(key: string, kind: string, fits: (v: unknown) => v is T, otherwise: T): T => {
    const found = value[key];
    if (found === undefined || found === null) return otherwise;
    if (fits(found)) return found;
    problems.push(`${key}: got ${JSON.stringify(found).slice(0, 100)}, expected ${kind}`);
    return otherwise;
  };
  const config: PluginConfig = {
    version: take("cniVersion", "a version", isText, "") || version,
    logLevel: take("plugin_log_level", "a log level", isText, "warn"),
    runDir: take("cni_agent_run_dir", "an absolute path", isPath, "/var/run/mesh-cni"),
    ambientEnabled: take("ambient_enabled", "true or false", isBoolean, false),
    ambientSelectors: take("ambient_selectors", "a list of enablement selectors", isSelectors, DEFAULT_SELECTORS),
    excludeNamespaces: take("exclude_namespaces", "an array of texts", isTexts, []),
    podNamespace: take("pod_namespace", "a text", isText, ""),
    agentPods: take("agent_pods", "a text", isText, AGENT_PODS),
    scopedLock: take("scoped_xtables_lock", "true or false", isBoolean, true),
    previous: take<NetworkJson | undefined>("prevResult", "an object", isObject, undefined),
  };
  return { config, problems };
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isPath(value: unknown): value is string {
  return typeof value === "string" && value.startsWith("/");
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}

function isSelectors(value: unknown): value is readonly EnablementSelector[] {
  return selectorProblems(value).length === 0;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}
