/**
 * One installer at a time: during an upgrade two may run on a node.
 *
 * Permissions: write (the lock file's folder).
 *
 * @module
 */
import { requireRegularSync } from "../../kernel/files/regular.ts";

/**
 * Longest wait for another installer's work, milliseconds. The work takes a tenth of this time, unless the other
 * process is halted.
 */
const PATIENCE_MS = 5000;

/** Wait between looks at the lock, milliseconds. */
const LOOK_MS = 5;

/**
 * Runs work while holding a lock file. The kernel releases the lock when the process dies.
 * @param ms Longest wait for the lock, milliseconds. The process does nothing else meanwhile.
 * @throws {Error} When another process holds the lock all that time. A halted process must not halt this process too.
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
