/**
 * Texts in place of the files of mesh configuration and mesh networks.
 *
 * Permissions: read of the files' folders.
 *
 * @module
 */
import { factsOf } from "../../kernel/files/regular.ts";
import type { FileText, WatchedFile } from "../../kernel/files/watch_file.ts";

/** A text that is watched in the same way as a file. */
export interface WatchedText {
  /** The place of the text in words, for messages. */
  readonly name: string;
  /** Reports the text once before the promise resolves, and again after every change; `undefined`: there is no text. */
  watch(onText: (text: FileText) => void): Promise<WatchedFile>;
}

/** The texts in an orchestrator. */
export interface WatchedMeshTexts {
  readonly mesh: WatchedText;
  readonly networks: WatchedText;
  /** Mesh configuration beneath `mesh`. Default: no shared configuration. */
  readonly shared?: WatchedText;
}

/**
 * Means "no file" on a command line. The device is never opened: Deno reads it only with all permissions, and it is
 * empty.
 */
export const NO_FILE = "/dev/null";

/** The text in place of a file, if the file does not exist and the user named no file. */
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
