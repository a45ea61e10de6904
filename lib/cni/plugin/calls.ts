/**
 * The node's record of the plugin's calls: command, result and time, for `install-cni doctor`.
 *
 * Permissions: read and write (the run folder).
 *
 * @module
 */
import { readRegularTextSync, requireRegularSync } from "../../kernel/files/regular.ts";
import { isObject } from "../config/network.ts";
import { CALLS_FILE, OLDER_CALLS_FILE } from "../node/run_folder.ts";

/** Size at which the file is renamed, bytes. Together with the renamed file, some thousand calls are kept. */
const ROTATE_AT = 512 * 1024;

export interface CallRow {
  /** ISO 8601. */
  readonly at: string;
  readonly command: string;
  /** `namespace/name`; empty when there is none. */
  readonly pod: string;
  readonly container: string;
  readonly netns: string;
  readonly outcome: string;
  /** Error code; 0 for success. */
  readonly code: number;
  /** Milliseconds from the process's start to the answer. */
  readonly took: number;
}

/** Adds a row in a single write, so that concurrent calls do not mix. Throws when the disk fails. */
export function rememberCall(runDir: string, row: CallRow): void {
  const path = `${runDir}/${CALLS_FILE}`;
  requireRegularSync(path);
  using file = Deno.openSync(path, { append: true, create: true, mode: 0o600 });
  file.writeSync(new TextEncoder().encode(JSON.stringify(row) + "\n"));
  if (file.statSync().size > ROTATE_AT) Deno.renameSync(path, `${runDir}/${OLDER_CALLS_FILE}`);
}

/** The last calls, oldest first. An unreadable row is left out: the disk may have been full. */
export function lastCalls(runDir: string, count: number): CallRow[] {
  const texts = [OLDER_CALLS_FILE, CALLS_FILE].map((name) => {
    try {
      return readRegularTextSync(`${runDir}/${name}`);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return "";
      throw error;
    }
  });
  return texts.join("").split("\n").flatMap(readRow).slice(-count);
}

function readRow(line: string): CallRow[] {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) && typeof value["command"] === "string" ? [value as unknown as CallRow] : [];
  } catch {
    return [];
  }
}
