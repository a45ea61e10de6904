/**
 * Files that change from one whole content to another, also where the disk is full, the process is killed or the machine
 * loses its power: a content is written under another name, and gets its own when it is on the disk.
 *
 * Permissions: read, write (the folder).
 *
 * @module
 */

import { inTime } from "./bounded.ts";

/** Ending of files that are being written. */
const UNFINISHED = ".mesh-unfinished";

/** A file that is on the disk and not in its place yet. */
export interface PreparedFile {
  readonly path: string;
  /** Its present name. */
  readonly beside: string;
}

/** A new name beside a file, which {@linkcode removeUnfinishedFiles} knows. */
export function unfinishedPath(path: string): string {
  const [folder, name] = splitPath(path);
  return `${folder}/.${name}.${crypto.randomUUID().slice(0, 8)}${UNFINISHED}`;
}

/**
 * Writes a file beside its place; on failure nothing is left of it.
 *
 * @param mode of the file, less the process's mask
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

/** Writes a file in one step. Its folder must be there. */
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

/** Removes a file if it is there; a failure is told by what comes after. */
export async function dropFile(path: string): Promise<void> {
  await Deno.remove(path).catch(() => {/* it is not there, or the next start removes it */});
}

/** Has the names in a folder be on the disk, where its filesystem can do that. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    using opened = await Deno.open(folder, { read: true });
    await opened.sync();
  } catch {
    // Some filesystems cannot; the content is on the disk all the same.
  }
}

/**
 * Removes what processes that were killed left of files that they were writing. A process that is writing one right now
 * must begin again.
 *
 * @param names of the files in the folder
 * @param older also matches leftovers; default: none
 */
export async function removeUnfinishedFiles(folder: string, names: readonly string[], older?: RegExp): Promise<void> {
  try {
    for await (const { name, isFile } of Deno.readDir(folder)) {
      const isLeft = name.endsWith(UNFINISHED) && names.some((one) => name.startsWith(`.${one}.`));
      if (isFile && (isLeft || older?.test(name))) await dropFile(`${folder}/${name}`);
    }
  } catch {
    // The folder is not there yet, or not ours.
  }
}

function splitPath(path: string): readonly [folder: string, name: string] {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? [".", path] : [path.slice(0, Math.max(1, slash)), path.slice(slash + 1)];
}
