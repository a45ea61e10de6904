/**
 * A call of the plugin as checked values: from variables and standard input of other programs.
 *
 * @module
 */
import { isObject, protocolVersions } from "../config/network.ts";
import { type PluginConfig, pluginConfigOf } from "../config/plugin_config.ts";
import { type CniCommand, CniError, codes, commands, NEWEST } from "./protocol.ts";

/** The pod of a runtime's call. */
export interface PodName {
  readonly namespace: string;
  readonly name: string;
  /** Empty when the runtime does not pass the uid. */
  readonly uid: string;
}

export interface PluginCall {
  readonly command: CniCommand;
  readonly containerId: string;
  /** Path of the network namespace; empty when the call has none. */
  readonly netns: string;
  readonly interfaceName: string;
  /** Undefined: not an orchestrator's pod. */
  readonly pod: PodName | undefined;
  readonly config: PluginConfig;
}

/** Commands that free resources. Runtimes call this plugin first, and a refusal would keep all resources of the pod. */
const freeing: readonly CniCommand[] = ["DEL", "GC"];

/**
 * Reads a call. A call that frees resources is refused only if it lacks values that the protocol demands.
 * @throws {CniError} With the missing or wrong values.
 */
export function readCall(env: Readonly<Record<string, string | undefined>>, input: string): PluginCall {
  const command = commands.find((name) => name === env["CNI_COMMAND"]);
  if (command === undefined) {
    throw new CniError(
      codes.badEnvironment,
      `CNI_COMMAND: got ${JSON.stringify(env["CNI_COMMAND"] ?? "")}, expected one of ${commands.join(", ")}`,
    );
  }
  const config = readPluginConfig(input, command);
  const needs: string[] = [];
  if (["ADD", "CHECK", "DEL"].includes(command)) needs.push("CNI_CONTAINERID", "CNI_IFNAME");
  if (["ADD", "CHECK"].includes(command)) needs.push("CNI_NETNS");
  const missing = needs.filter((name) => (env[name] ?? "") === "");
  if (missing.length > 0) throw new CniError(codes.badEnvironment, `${command} needs ${missing.join(", ")}`);
  return {
    command,
    containerId: env["CNI_CONTAINERID"] ?? "",
    netns: env["CNI_NETNS"] ?? "",
    interfaceName: env["CNI_IFNAME"] ?? "",
    pod: readPodName(env["CNI_ARGS"] ?? "", freeing.includes(command)),
    config,
  };
}

/** Version of a call, if readable. Errors are answered in this version. */
export function versionOfInput(input: string): string {
  try {
    const value: unknown = JSON.parse(input);
    const version = isObject(value) ? value["cniVersion"] : undefined;
    return typeof version === "string" && version !== "" ? version : NEWEST;
  } catch {
    return NEWEST;
  }
}

function readPluginConfig(input: string, command: CniCommand): PluginConfig {
  let value: unknown;
  try {
    value = input.trim() === "" && command === "VERSION" ? {} : JSON.parse(input);
  } catch (error) {
    throw new CniError(codes.badInput, "standard input is no JSON", (error as Error).message);
  }
  if (!isObject(value)) throw new CniError(codes.badInput, "standard input is no JSON object");
  const { config, problems } = pluginConfigOf(value, command === "VERSION" ? NEWEST : "");
  if (freeing.includes(command)) return config;
  if (problems.length > 0) {
    throw new CniError(codes.badConfig, "the plugin's configuration is wrong", problems.join("; "));
  }
  if (command !== "VERSION" && !(protocolVersions as readonly string[]).includes(config.version)) {
    throw new CniError(
      codes.incompatibleVersion,
      `cniVersion: got ${JSON.stringify(config.version)}, expected one of ${protocolVersions.join(", ")}`,
    );
  }
  return config;
}

/** `KEY=value;...`: the runtime's words about the pod. Unknown keys are for other plugins. */
function readPodName(args: string, lenient: boolean): PodName | undefined {
  const words = new Map(
    args.split(";").map((pair) => {
      const at = pair.indexOf("=");
      return at < 0 ? [pair, ""] as const : [pair.slice(0, at), pair.slice(at + 1)] as const;
    }),
  );
  const namespace = words.get("K8S_POD_NAMESPACE") ?? "";
  const name = words.get("K8S_POD_NAME") ?? "";
  if (namespace === "" && name === "") return undefined;
  const bad = [["K8S_POD_NAMESPACE", namespace], ["K8S_POD_NAME", name]].filter(([, v]) => !isDnsName(v ?? ""));
  if (bad.length > 0) {
    if (lenient) return undefined;
    const said = bad.map(([key, v]) => `${key}: got ${JSON.stringify(v)}, expected a name of the orchestrator`);
    throw new CniError(codes.badEnvironment, "CNI_ARGS", said.join("; "));
  }
  return { namespace, name, uid: words.get("K8S_POD_UID") ?? "" };
}

function isDnsName(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(text);
}
