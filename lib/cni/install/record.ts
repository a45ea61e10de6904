/**
 * The record that an installation keeps on the node, beside the configurations: where it put which part, and how it
 * ended. The next installer, of any version and options, takes over by it; a restart of the node does not lose it.
 *
 * @module
 */
import { isObject } from "../config/network.ts";

/** Name of the record, in the folder of configurations. No runtime reads a name like this as a configuration. */
export const RECORD_FILE = ".mesh-cni-record";

/** How the plugin is called. */
export type PluginPlacement = "chained" | "owned" | "standalone";

/** The record of an installation. */
export interface InstallRecord {
  readonly version: string;
  readonly placement: PluginPlacement;
  /** Configuration with our entry, without folder; undefined until it is written. */
  readonly config: string | undefined;
  /** Installer that wrote it, by its pod's name. */
  readonly installer: string;
  /** Time of the last change, ISO 8601. */
  readonly at: string;
  /**
   * `installed`: an installer looks after it. `handed over`: it ended, and left everything for the next one, which is
   * expected.
   */
  readonly state: "installed" | "handed over";
  /** Why it ended, when it did. */
  readonly reason?: string;
}

/** The record's text. */
export function recordText(record: InstallRecord): string {
  return JSON.stringify(record, null, 2) + "\n";
}

/** Reads a record; undefined for a text that is none: its content is then found on the disk. */
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
