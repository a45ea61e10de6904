/**
 * Whole files are replaced by whole files: a reader sees the old or the new content, even after a crash.
 *
 * A new content is written beside the file under a name that no program reads, in the same folder (so that the new file
 * gets the folder's security label, and the move is a single step), and moved over the file when it is on the disk.
 *
 * Permissions: the permissions of {@link FileCalls}.
 *
 * @module
 */
import type { FileCalls } from "./file_calls.ts";

/** Extension of unfinished files. Runtimes read `.conf`, `.conflist` and `.json` only. */
const UNFINISHED = ".mesh-unfinished";

/** Mode and owner of a new file. */
export interface Ownership {
  readonly mode: number;
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
}

/** Puts bytes at a path. On failure nothing is left behind, and the old file stays. */
export function replaceFile(calls: FileCalls, path: string, bytes: Uint8Array, how: Ownership): void {
  replaceBy(calls, path, how, (unfinished) => calls.write(unfinished, bytes));
}

/** Puts a copy of a file at a path, in the same way. */
export function replaceByCopy(calls: FileCalls, path: string, from: string, how: Ownership): void {
  replaceBy(calls, path, how, (unfinished) => calls.copy(from, unfinished));
}

function replaceBy(calls: FileCalls, path: string, how: Ownership, fill: (unfinished: string) => void): void {
  const unfinished = unfinishedName(path);
  try {
    fill(unfinished);
    calls.own(unfinished, how.mode, how.owner);
    calls.rename(unfinished, path);
  } catch (error) {
    forget(calls, unfinished);
    throw error;
  }
  calls.syncFolder(folderOf(path));
}

/** Removes an unfinished file. A failure is ignored, because the earlier failure is reported. */
function forget(calls: FileCalls, unfinished: string): void {
  try {
    calls.remove(unfinished);
  } catch {
    // The next start removes the file.
  }
}

/** Removes a file for good. */
export function removeFile(calls: FileCalls, path: string): void {
  if (calls.stat(path) === undefined) return;
  calls.remove(path);
  calls.syncFolder(folderOf(path));
}

/** Removes the unfinished files of a killed installer. */
export function removeUnfinished(calls: FileCalls, folder: string): void {
  for (const name of calls.list(folder)) {
    if (name.startsWith(".") && name.endsWith(UNFINISHED)) calls.remove(`${folder}/${name}`);
  }
}

/** A temporary name beside a path, for a file that is written there and then moved to the path. */
export function unfinishedName(path: string): string {
  return `${folderOf(path)}/.${path.slice(path.lastIndexOf("/") + 1)}.${crypto.randomUUID().slice(0, 8)}${UNFINISHED}`;
}

/** Folder of a path. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}
