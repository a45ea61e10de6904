/**
 * Events of a whole folder, or of as much of it as may be read.
 *
 * Permissions: read of the folder.
 *
 * @module
 */

/** A watcher, and whether it covers everything below the folder. */
export interface TreeWatcher {
  readonly watcher: Deno.FsWatcher;
  readonly whole: boolean;
}

/**
 * Watches a folder with all that is below it. The system refuses that as soon as one folder below may not be read; then the uppermost
 * alone is watched.
 * @throws Deno.errors.PermissionDenied when the folder itself may not be read, and others
 */
export function watchTree(root: string): TreeWatcher {
  try {
    return { watcher: Deno.watchFs(root, { recursive: true }), whole: true };
  } catch (error) {
    if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
    return { watcher: Deno.watchFs(root, { recursive: false }), whole: false };
  }
}

/** Whether everything below a folder can be watched now. */
export function isWatchable(root: string): boolean {
  try {
    Deno.watchFs(root, { recursive: true }).close();
    return true;
  } catch {
    return false; // Or gone meanwhile: then the caller notices that by itself.
  }
}
