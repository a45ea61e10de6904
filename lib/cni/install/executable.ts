/**
 * The plugin's executable on a node: one file, or a launcher with the runtime and the plugin in a folder beside it.
 *
 *     /opt/cni/bin/mesh-cni                          the launcher, with the path of the folder
 *     /opt/cni/bin/mesh-cni.files/ID/deno            the runtime
 *     /opt/cni/bin/mesh-cni.files/ID/plugin.js       the plugin
 *     /opt/cni/bin/mesh-cni.files/ID/compiled/       what the runtime compiled, for the next call
 *
 * The ID tells contents apart. An upgrade places the new folder, replaces the launcher, and removes the old folder
 * later: a call that has read the old launcher still finds its files.
 *
 * Permissions: read and write (the node's folder of executables, as mounted).
 *
 * @module
 */
import { createHash } from "node:crypto";
import { PLUGIN } from "../config/network.ts";
import type { FileCalls } from "../node/file_calls.ts";
import { removeFile, replaceByCopy, replaceFile } from "../node/replace.ts";
import { filesOfLauncher, PLACED, placedLauncherScript } from "./launcher.ts";

/** The plugin's executable, as the installer has it. */
export type Executable =
  | { readonly copyOf: string }
  | { readonly script: string }
  /** Paths of the runtime and of the plugin in one file. */
  | { readonly runtime: string; readonly plugin: string };

/** Folder of the files beside the launcher. */
const FILES = `${PLUGIN}.files`;

const RUNTIME_MODE = 0o755;
const PLUGIN_MODE = 0o644;

/** Largest executable that may be a launcher, bytes. */
const MAX_LAUNCHER = 64 * 1024;

/** Time for which the files of the launcher before stay, milliseconds. A call opens its files within a few. */
const KEEP_MS = 60_000;

/**
 * Brings the executable into place. Nothing is written that is right already.
 * @param bin The node's folder of executables.
 * @param compare How files are compared. Executables may be a hundred megabytes.
 * @returns Whether anything was written.
 */
export function placeExecutable(
  bin: string,
  executable: Executable,
  calls: FileCalls,
  now: () => number,
  compare: "by bytes" | "by size",
): boolean {
  const path = `${bin}/${PLUGIN}`;
  calls.makeFolder(bin, 0o755);
  if ("copyOf" in executable) return placeCopy(path, executable.copyOf, 0o755, calls, compare);
  if ("script" in executable) return placeText(path, executable.script, calls);
  const id = idOf(executable, calls);
  const folder = `${bin}/${FILES}/${id}`;
  calls.makeFolder(folder, 0o755);
  const runtime = placeCopy(`${folder}/${PLACED.runtime}`, executable.runtime, RUNTIME_MODE, calls, compare);
  const plugin = placeCopy(`${folder}/${PLACED.plugin}`, executable.plugin, PLUGIN_MODE, calls, compare);
  const launcher = placeText(path, placedLauncherScript(`${FILES}/${id}`), calls);
  const changed = runtime || plugin || launcher;
  // The folder has been there as long as its launcher.
  const since = calls.stat(folder)?.modified;
  if (!changed && since !== undefined && now() - since > KEEP_MS) removeOthers(bin, id, calls);
  return changed;
}

/**
 * Removes the executable with all its files.
 * @returns The changes, for people.
 */
export function removeExecutable(bin: string, calls: FileCalls): string[] {
  const [path, folder] = [`${bin}/${PLUGIN}`, `${bin}/${FILES}`];
  const changed: string[] = [];
  if (calls.stat(path) !== undefined) {
    removeFile(calls, path);
    changed.push(`removed ${path}`);
  }
  if (calls.stat(folder) !== undefined) {
    calls.removeFolder(folder);
    calls.syncFolder(bin);
    changed.push(`removed ${folder}`);
  }
  return changed;
}

/** A file that a launcher needs, as the file is on the node. */
export interface NeededFile {
  readonly path: string;
  /** Permission bits with which the installer places the file. */
  readonly wanted: number;
  /** The present permission bits; undefined: there is no file. */
  readonly mode: number | undefined;
}

/** The files that a launcher needs. */
export interface NeededFiles {
  readonly files: readonly NeededFile[];
  /** Whether the contents are those that the launcher names. */
  readonly same: boolean;
}

/** The files that the node's launcher needs; undefined if the executable is not the launcher of placed files. */
export function neededFiles(bin: string, calls: FileCalls): NeededFiles | undefined {
  const launcher = `${bin}/${PLUGIN}`;
  if ((calls.stat(launcher)?.size ?? Infinity) > MAX_LAUNCHER) return undefined;
  const folder = filesOfLauncher(new TextDecoder().decode(calls.read(launcher)?.bytes));
  if (folder === undefined) return undefined;
  const [runtime, plugin] = [`${bin}/${folder}/${PLACED.runtime}`, `${bin}/${folder}/${PLACED.plugin}`];
  const files = ([[runtime, RUNTIME_MODE], [plugin, PLUGIN_MODE]] as const).map(([path, wanted]) => {
    const state = calls.stat(path);
    return { path, wanted, mode: state?.is === "file" ? state.mode : undefined };
  });
  const there = files.every(({ mode }) => mode !== undefined);
  return { files, same: there && `${FILES}/${idOf({ runtime, plugin }, calls)}` === folder };
}

/** The folders of files, also of earlier installations. */
export function placedFolders(bin: string, calls: FileCalls): string[] {
  return calls.listFolders(`${bin}/${FILES}`).map((id) => `${bin}/${FILES}/${id}`);
}

function removeOthers(bin: string, id: string, calls: FileCalls): void {
  for (const other of calls.listFolders(`${bin}/${FILES}`)) {
    if (other !== id) calls.removeFolder(`${bin}/${FILES}/${other}`);
  }
}

/** Tells contents of the files apart: the plugin by its bytes, the runtime by version and size. */
function idOf({ runtime, plugin }: { runtime: string; plugin: string }, calls: FileCalls): string {
  const bytes = calls.read(plugin)?.bytes;
  if (bytes === undefined) throw new Error(`${plugin} is not there`);
  const hash = createHash("sha256").update(`${Deno.version.deno} ${calls.stat(runtime)?.size} `).update(bytes);
  return hash.digest("hex").slice(0, 12);
}

function placeText(path: string, text: string, calls: FileCalls): boolean {
  const bytes = new TextEncoder().encode(text);
  const there = calls.read(path);
  if (there !== undefined && there.mode === 0o755 && sameBytes(there.bytes, bytes)) return false;
  replaceFile(calls, path, bytes, { mode: 0o755 });
  return true;
}

function placeCopy(path: string, from: string, mode: number, calls: FileCalls, compare: "by bytes" | "by size") {
  if (sameFile(from, path, mode, calls, compare)) return false;
  replaceByCopy(calls, path, from, { mode });
  return true;
}

function sameFile(a: string, b: string, mode: number, calls: FileCalls, compare: "by bytes" | "by size"): boolean {
  const [first, second] = [calls.stat(a), calls.stat(b)];
  if (first === undefined || second === undefined || first.size !== second.size || second.mode !== mode) return false;
  return compare === "by size" || calls.sameContents(a, b);
}

/** Whether two byte arrays are equal. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
