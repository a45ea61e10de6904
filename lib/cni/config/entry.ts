/**
 * The plugin's own entry in a network configuration. The installer configures the plugin by this entry.
 *
 * @module
 */
import { type Level, levels } from "../../kernel/log/level.ts";
import type { EnablementSelector } from "../enrolment/label_selector.ts";
import { CHAIN_VERSION, isObject, type NetworkJson, PLUGIN } from "./network.ts";
import { AGENT_PODS, pluginConfigOf } from "./plugin_config.ts";

/** The plugin's settings in the entry. */
export interface PluginSettings {
  /** Folder of record, socket and orchestrator config, by its path on the node. */
  readonly runDir: string;
  /** Level of the plugin's log. The level of a template takes precedence. */
  readonly logLevel: string;
  readonly ambientEnabled: boolean;
  /** Selectors of pods in ambient mode. Undefined: the plugin's default. */
  readonly ambientSelectors?: readonly EnablementSelector[] | undefined;
  /** Namespaces whose pods the plugin does not redirect. */
  readonly excludeNamespaces: readonly string[];
  /** Namespace of the node agent. */
  readonly podNamespace: string;
  /** Beginning of the names of the node agent's pods. These pods never wait for the node agent. */
  readonly agentPods: string;
  /** Template: a JSON object whose members are added to the entry. Empty: none. */
  readonly template: string;
}

/** Why a template cannot be used. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
}

/** Members that the installer decides. A template must not change them. */
const decided = ["name", "type", "cni_agent_run_dir", "pod_namespace", "agent_pods"];

/**
 * The entry.
 * @throws {TemplateError} When the template is not a JSON object, changes a member that the installer decides, or has a
 * value that the plugin would refuse with every pod.
 */
export function pluginEntry(settings: PluginSettings): NetworkJson {
  const template = readTemplate(settings.template);
  const entry = {
    name: PLUGIN,
    type: PLUGIN,
    plugin_log_level: settings.logLevel,
    cni_agent_run_dir: settings.runDir,
    ambient_enabled: settings.ambientEnabled,
    ...settings.ambientSelectors === undefined ? {} : { ambient_selectors: settings.ambientSelectors },
    exclude_namespaces: settings.excludeNamespaces,
    pod_namespace: settings.podNamespace,
    agent_pods: settings.agentPods,
    ...template,
  };
  const { config, problems } = pluginConfigOf(entry, CHAIN_VERSION);
  if (!levels.includes(config.logLevel as Level)) {
    problems.push(`plugin_log_level: got ${JSON.stringify(config.logLevel)}, expected one of ${levels.join(", ")}`);
  }
  if (problems.length > 0) throw new TemplateError(`template of the network configuration: ${problems.join("; ")}`);
  return entry;
}

function readTemplate(text: string): NetworkJson {
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new TemplateError(
      `template of the network configuration: expected a JSON object (${(error as Error).message})`,
    );
  }
  if (!isObject(value)) throw new TemplateError("template of the network configuration: expected a JSON object");
  const { log_level: logLevel, cniVersion: _version, ...members } = value;
  const clash = decided.filter((key) => Object.hasOwn(members, key) && members[key] !== PLUGIN);
  if (clash.length > 0) {
    throw new TemplateError(`template of the network configuration: ${clash.join(", ")} is the installer's to say`);
  }
  return logLevel === undefined ? members : { plugin_log_level: logLevel, ...members };
}

/**
 * A configuration with only the plugin, for runtimes that call the plugin as a network of its own
 * (`--chained-cni-plugin=false`).
 * @param file The file's name. A name with the extension `.conflist` means a list.
 */
export function standaloneText(entry: NetworkJson, file: string): string {
  const config = file.endsWith(".conflist")
    ? { cniVersion: CHAIN_VERSION, name: entry["name"], plugins: [entry] }
    : { cniVersion: CHAIN_VERSION, ...entry };
  return JSON.stringify(config, null, 2) + "\n";
}

/** Beginning of the names of a daemon set's pods: a pod's name without the last, random part. */
export function podPrefix(podName: string): string {
  return /^(.+-)[a-z0-9]{5}$/.exec(podName)?.[1] ?? AGENT_PODS;
}
