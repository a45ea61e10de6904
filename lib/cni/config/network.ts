/**
 * Names and versions of the CNI protocol, for installer and plugin. (How a runtime reads network configurations is in
 * `libcni.ts`, which the plugin does not load.)
 *
 * @module
 */

/** Type of the plugin: the name of the executable, and `type` in configurations. */
export const PLUGIN = "mesh-cni";

/** Variables of a runtime's call of a plugin. */
export const callVariables = ["CNI_COMMAND", "CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME", "CNI_ARGS", "CNI_PATH"];

/** Versions of the protocol that the plugin speaks. Chains of older versions pass the plugin no result. */
export const protocolVersions = ["0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"] as const;

/** Version of a chain made from a configuration without a version: the oldest version that every runtime chains. */
export const CHAIN_VERSION = "0.3.1";

/** A JSON object. */
export type NetworkJson = Readonly<Record<string, unknown>>;

/** Extensions of files that runtimes read. */
const endings = [".conf", ".conflist", ".json"];

/** True for a file name that runtimes read as a configuration. */
export function isConfigName(name: string): boolean {
  return endings.some((ending) => name.endsWith(ending));
}

/** True for an object, false for an array. */
export function isObject(value: unknown): value is NetworkJson {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
