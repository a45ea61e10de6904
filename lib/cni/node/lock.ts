/**
 * One installer at a time: during an upgrade two may run on a node.
 *
 * Permissions: write (the lock file's folder).
 *
 * @module
 */
import { requireRegularSync } from "../../kernel/files/regular.ts";

/** Longest wait for another's work, milliseconds: an installer's takes a tenth of that, unless its process is halted. */
const PATIENCE_MS = 5000;

/** Wait between looks at the lock, milliseconds. */
const LOOK_MS = 5;

/**
 * Runs work while holding a lock file. The kernel lets go of the lock when its holder dies.
 *
 * @param ms Longest wait for the lock, milliseconds; nothing else happens in this process meanwhile.
 * @throws {Error} when another process holds it all that time: one that was halted must not halt us too.
 */
export function whileLocked<T>(path: string, work: () => T, ms = PATIENCE_MS): T {
  requireRegularSync(path);
  using file = Deno.openSync(path, { create: true, write: true, mode: 0o600 });
  const end = performance.now() + ms;
  while (!file.tryLockSync(true)) {
    if (performance.now() > end) throw new Error(`another installer holds ${path} for more than ${ms} ms`);
    pause(LOOK_MS);
  }
  try {
    return work();
  } finally {
    file.unlockSync();
  }
}

/** Waits without giving up the thread. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
