/**
 * The record of an installation on the node, beside the configurations: where each part was placed, and how the
 * installation ended. The next installer, of any version and options, takes over by this record. A restart of the node
 * does not lose the record.
 *
 * @module
 */
import { isObject } from "../config/network.ts";

/** Name of the record, in the folder of configurations. No runtime reads such a name as a configuration. */
export const RECORD_FILE = ".mesh-cni-record";

/** How the plugin is called. */
export type PluginPlacement = "chained" | "owned" | "standalone";

/** The record of an installation. */
export interface InstallRecord {
  readonly version: string;
  readonly placement: PluginPlacement;
  /** Configuration with the plugin's entry, without folder. Undefined until the configuration is written. */
  readonly config: string | undefined;
  /** The record's writer: an installer, by its pod's name. */
  readonly installer: string;
  /** Time of the last change, ISO 8601. */
  readonly at: string;
  /**
   * `installed`: an installer maintains the installation. `handed over`: the installer has ended and left everything
   * for the next installer, which is expected.
   */
  readonly state: "installed" | "handed over";
  /** Why the installer ended. */
  readonly reason?: string;
}

/** The record's text. */
export function recordText(record: InstallRecord): string {
  return JSON.stringify(record, null, 2) + "\n";
}

/** Reads a record. Undefined for another text: the installer then looks at the disk. */
export function readRecord(text: string): InstallRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const { version, placement, config, installer, at, state, reason } = value;
  const known = placement === "chained" || placement === "owned" || placement === "standalone";
  if (!known || typeof version !== "string" || typeof installer !== "string" || typeof at !== "string") {
    return undefined;
  }
  return {
    version,
    placement,
    config: typeof config === "string" && !config.includes("/") ? config : undefined,
    installer,
    at,
    state: state === "handed over" ? state : "installed",
    ...(typeof reason === "string" ? { reason } : {}),
  };
}
