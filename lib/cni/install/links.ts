/**
 * Configurations that are symbolic links. A list is changed at the link's target, so that the link stays. A single
 * configuration that is wrapped into a list disappears from the runtime's sight meanwhile, and the link is kept under a
 * name that no program reads. (Making a new link would need the right to write everywhere. Moving a link does not.)
 *
 * Permissions: the permissions of {@link FileCalls}.
 *
 * @module
 */
import { isConfigName } from "../config/network.ts";
import type { FileCalls } from "../node/file_calls.ts";
import { folderOf, removeFile } from "../node/replace.ts";

/** Extension of a kept link's name. */
const KEPT = ".mesh-kept";

/** Folders of configurations: the folder itself, and the folders of its links' targets. */
export function configFolders(net: string, calls: FileCalls): string[] {
  const paths = calls.list(net).filter(isConfigName).map((name) => `${net}/${name}`);
  const linked = paths.filter((path) => calls.isLink(path) && leadsToFile(path, calls));
  return [...new Set([net, ...linked.map((path) => folderOf(calls.realPath(path)))])];
}

/** False also for a path without the right to look: such a path cannot be changed either. */
function leadsToFile(path: string, calls: FileCalls): boolean {
  try {
    return calls.stat(path)?.is === "file";
  } catch {
    return false;
  }
}

/** Takes a configuration out of the runtime's sight: keeps a link, removes a file. */
export function putAside(path: string, calls: FileCalls): void {
  if (calls.isLink(path)) move(path, keptPath(path), calls);
  else {
    removeFile(calls, path);
    // A link that was kept before has old content.
    forgetKept(path, calls);
  }
}

/** Puts a kept link back; false when there is none. */
export function putBack(path: string, calls: FileCalls): boolean {
  if (!calls.isLink(keptPath(path))) return false;
  move(keptPath(path), path, calls);
  return true;
}

/** Forgets links that another file has replaced. */
export function forgetAllKept(folder: string, calls: FileCalls): void {
  for (const name of calls.list(folder)) {
    if (name.startsWith(".") && name.endsWith(KEPT)) forgetKept(`${folder}/${name.slice(1, -KEPT.length)}`, calls);
  }
}

function forgetKept(path: string, calls: FileCalls): void {
  if (!calls.isLink(keptPath(path))) return;
  calls.remove(keptPath(path));
  calls.syncFolder(folderOf(path));
}

function keptPath(path: string): string {
  return `${folderOf(path)}/.${path.slice(path.lastIndexOf("/") + 1)}${KEPT}`;
}

function move(from: string, to: string, calls: FileCalls): void {
  calls.rename(from, to);
  calls.syncFolder(folderOf(to));
}
