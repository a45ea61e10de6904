/**
 * Names and versions of the CNI protocol that installer and plugin share. (How a runtime reads network configurations is
 * in `libcni.ts`, which the plugin does not load.)
 *
 * @module
 */

/** Type of our plugin: the name of its executable, and `type` in configurations. */
export const PLUGIN = "mesh-cni";

/** Variables by which a runtime calls a plugin. */
export const callVariables = ["CNI_COMMAND", "CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME", "CNI_ARGS", "CNI_PATH"];

/** Versions of the protocol that the plugin speaks; chains of older ones pass no result to us. */
export const protocolVersions = ["0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"] as const;

/** Version given to a configuration that names none, when it becomes a chain: the oldest that every runtime chains. */
export const CHAIN_VERSION = "0.3.1";

/** A JSON object. */
export type NetworkJson = Readonly<Record<string, unknown>>;

/** Endings of files that runtimes read. */
const endings = [".conf", ".conflist", ".json"];

/** True for a name that runtimes read as a configuration. */
export function isConfigName(name: string): boolean {
  return endings.some((ending) => name.endsWith(ending));
}

/** True for an object that is no array. */
export function isObject(value: unknown): value is NetworkJson {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
