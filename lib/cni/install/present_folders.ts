/**
 * Folders that are there, told from others that may take their place.
 *
 * Permissions: read of the folders.
 *
 * @module
 */

/** Those of the folders that are there, each with its identity. */
export function presentFolders(paths: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const path of paths) {
    const id = idOf(path);
    if (id !== undefined) found.set(path, id);
  }
  return found;
}

/** Device and inode of a folder; undefined when there is none. */
function idOf(path: string): string | undefined {
  try {
    const { dev, ino } = Deno.statSync(path);
    return `${dev}:${ino}`;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
