/**
 * One installer at a time: during an upgrade two may run on a node.
 *
 * Permissions: write (the lock file's folder).
 *
 * @module
 */

/** Runs work while holding a lock file. The kernel lets go of the lock when its holder dies. */
export function whileLocked<T>(path: string, work: () => T): T {
  using file = Deno.openSync(path, { create: true, write: true, mode: 0o600 });
  file.lockSync(true);
  try {
    return work();
  } finally {
    file.unlockSync();
  }
}
