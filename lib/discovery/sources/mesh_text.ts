/**
 * Texts that stand in for the files of mesh configuration and mesh networks.
 *
 * Permissions: read of the files' folders.
 *
 * @module
 */
import { factsOf } from "../../kernel/files/regular.ts";
import type { FileText, WatchedFile } from "../../kernel/files/watch_file.ts";

/** A text that is watched, as files are. */
export interface WatchedText {
  /** As people say it. */
  readonly name: string;
  /** Reports the text, once before it resolves, and again whenever it changes; `undefined`: there is none. */
  watch(onText: (text: FileText) => void): Promise<WatchedFile>;
}

/** The texts that an orchestrator has. */
export interface WatchedMeshTexts {
  readonly mesh: WatchedText;
  readonly networks: WatchedText;
  /** Mesh configuration that lies under the other one. Default: none. */
  readonly shared?: WatchedText;
}

/** Says "no file" on a command line; Deno reads it only with all permissions, and there is nothing in it to read. */
export const NO_FILE = "/dev/null";

/** The text that stands in for a file: when there is no such file, and the user named none. */
export async function insteadOf(
  file: string,
  text: WatchedText | undefined,
  named: boolean,
): Promise<WatchedText | undefined> {
  if (text === undefined || named || file === NO_FILE || file === "") return undefined;
  try {
    await factsOf(file);
    return undefined;
  } catch (error) {
    return error instanceof Deno.errors.NotFound ? text : undefined;
  }
}
