/**
 * Revocation lists of the mesh's authorities in files from an orchestrator or an operator. The files are read, and
 * followed while the agent runs.
 *
 * Permissions: read (the files and their folders).
 *
 * @module
 */
import type { WatchedFile } from "../../kernel/files/watch_file.ts";
import { watchFiles } from "../../kernel/files/watch_files.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { PkiError } from "../../pki/pki_error.ts";
import { readRevocationLists } from "../../pki/revocation.ts";
import { checkLists } from "./usable_roots.ts";

/** How the files are followed. */
export interface RevocationFilesOptions {
  /** The first existing file that is not empty counts. */
  readonly paths: readonly string[];
  /** Called with the lists as PEM; undefined: there are none. */
  readonly onLists: (lists: string | undefined) => void;
  readonly clock: Pick<Clock, "after">;
  readonly log: Logger;
}

/** Follows the files. Unusable lists are reported, and the last usable lists stay in force. */
export async function followRevocationFiles(
  { paths, onLists, clock, log }: RevocationFilesOptions,
): Promise<WatchedFile> {
  return await watchFiles({
    ...{ paths, clock },
    onTexts: (texts) => {
      const path = paths.find((one) => texts[one] !== undefined && texts[one] !== "");
      if (path === undefined) return onLists(undefined);
      const text = texts[path];
      try {
        if (typeof text !== "string") throw new PkiError(`${path}: ${text?.unreadable}`);
        checkLists(text, readRevocationLists(text, path).length, path);
        onLists(text);
      } catch (error) {
        if (!(error instanceof PkiError)) throw error;
        log.error(`revocation lists cannot be used, the last ones stay in force: ${error.message}`);
      }
    },
  });
}
