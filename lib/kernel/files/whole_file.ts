/**
 * Files that change from one whole content to the next, even when the disk is full, the process is killed or the
 * machine loses power. A content is written under another name, and gets its final name when it is on the disk.
 *
 * Permissions: read, write (the folder).
 *
 * @module
 */

import { inTime } from "./bounded.ts";

/** Ending of unfinished files. */
const UNFINISHED = ".mesh-unfinished";

/** A file on the disk that is not in its place yet. */
export interface PreparedFile {
  readonly path: string;
  /** Present path of the file. */
  readonly beside: string;
}

/** A new path beside a file, recognized by {@linkcode removeUnfinishedFiles}. */
export function unfinishedPath(path: string): string {
  const [folder, name] = splitPath(path);
  return `${folder}/.${name}.${crypto.randomUUID().slice(0, 8)}${UNFINISHED}`;
}

/**
 * Writes a file beside its place. A failure leaves nothing behind.
 *
 * @param mode Mode of the file, less the process's mask.
 */
export async function prepareFile(path: string, text: string, mode: number): Promise<PreparedFile> {
  const beside = unfinishedPath(path);
  try {
    await inTime(beside, () => writeSynced(beside, new TextEncoder().encode(text), mode));
  } catch (error) {
    await dropFile(beside);
    throw error;
  }
  return { path, beside };
}

async function writeSynced(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  using file = await Deno.open(path, { write: true, createNew: true, mode });
  for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
  await file.sync();
}

/** Writes a file in one step. The folder must exist. */
export async function writeWholeFile(path: string, text: string, mode: number): Promise<void> {
  const prepared = await prepareFile(path, text, mode);
  try {
    await inTime(path, () => Deno.rename(prepared.beside, path));
  } catch (error) {
    await dropFile(prepared.beside);
    throw error;
  }
  await syncFolder(splitPath(path)[0]);
}

/** Removes a file if present. A failure shows in the caller's next operation. */
export async function dropFile(path: string): Promise<void> {
  await Deno.remove(path).catch(() => {/** Absent, or removed by the next start. */});
}

/** Forces the names in a folder to the disk, if the file system can do so. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    using opened = await Deno.open(folder, { read: true });
    await opened.sync();
  } catch {
    // Some file systems cannot. The content is on the disk all the same.
  }
}

/**
 * Removes unfinished files of killed processes. A process writing such a file right now must begin again.
 *
 * @param names Final names of the files in the folder.
 * @param older Also matches leftovers. Default: none.
 */
export async function removeUnfinishedFiles(folder: string, names: readonly string[], older?: RegExp): Promise<void> {
  try {
    for await (const { name, isFile } of Deno.readDir(folder)) {
      const isLeft = name.endsWith(UNFINISHED) && names.some((one) => name.startsWith(`.${one}.`));
      if (isFile && (isLeft || older?.test(name))) await dropFile(`${folder}/${name}`);
    }
  } catch {
    // The folder does not exist yet, or is not ours.
  }
}

function splitPath(path: string): readonly [folder: string, name: string] {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? [".", path] : [path.slice(0, Math.max(1, slash)), path.slice(slash + 1)];
}
