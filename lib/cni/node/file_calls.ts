/**
 * The few calls by which files on a node are changed. Everything that the installer does to a node is a row of these,
 * so a test can stop it after any of them.
 *
 * Permissions: read and write (the node's folders, as mounted).
 *
 * @module
 */

/** What a file is, beside its bytes. */
export interface FileState {
  readonly bytes: Uint8Array;
  /** Permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** Calls, each of which happens as a whole or not at all, but for `write` and `copy`. */
export interface FileCalls {
  /** Names in a folder; none when there is no such folder. */
  list(folder: string): string[];
  /** A file; undefined when there is none. */
  read(path: string): FileState | undefined;
  /** Size and time of change, milliseconds since 1970; undefined when there is no such file. */
  stat(path: string): { readonly size: number; readonly modified: number; readonly mode: number } | undefined;
  /** Makes a folder and those above it. */
  makeFolder(path: string, mode: number): void;
  /** Writes a new file, not yet where anyone looks for it, and waits until it is on the disk. */
  write(path: string, bytes: Uint8Array): void;
  /** Copies a file to a new place, and waits until it is on the disk. */
  copy(from: string, to: string): void;
  /** Sets permission bits, and the owner where it differs from who we are. */
  own(path: string, mode: number, owner?: { readonly uid: number; readonly gid: number }): void;
  rename(from: string, to: string): void;
  /** Removes a file; none is no error. */
  remove(path: string): void;
  /** Waits until a folder's names are on the disk. */
  syncFolder(path: string): void;
}

/** The calls of the machine. */
export const systemFileCalls: FileCalls = {
  list(folder) {
    return orNone(() => [...Deno.readDirSync(folder)].filter((entry) => !entry.isDirectory).map((e) => e.name)) ?? [];
  },
  read(path) {
    return orNone(() => {
      const bytes = Deno.readFileSync(path);
      const { mode, uid, gid } = Deno.statSync(path);
      return { bytes, mode: (mode ?? 0o644) & 0o7777, uid: uid ?? 0, gid: gid ?? 0 };
    });
  },
  stat(path) {
    return orNone(() => {
      const { size, mtime, mode } = Deno.statSync(path);
      return { size, modified: mtime?.getTime() ?? 0, mode: (mode ?? 0) & 0o7777 };
    });
  },
  makeFolder: (path, mode) => Deno.mkdirSync(path, { recursive: true, mode }),
  write(path, bytes) {
    using file = Deno.openSync(path, { write: true, create: true, truncate: true, mode: 0o600 });
    for (let rest = bytes; rest.length > 0;) rest = rest.subarray(file.writeSync(rest));
    file.syncSync();
  },
  copy(from, to) {
    Deno.copyFileSync(from, to);
    using file = Deno.openSync(to, { write: true });
    file.syncSync();
  },
  own(path, mode, owner) {
    Deno.chmodSync(path, mode);
    const now = Deno.statSync(path);
    if (owner !== undefined && (now.uid !== owner.uid || now.gid !== owner.gid)) {
      Deno.chownSync(path, owner.uid, owner.gid);
    }
  },
  rename: (from, to) => Deno.renameSync(from, to),
  remove: (path) => void orNone(() => Deno.removeSync(path)),
  syncFolder(path) {
    using folder = Deno.openSync(path, { read: true });
    folder.syncSync();
  },
};

function orNone<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
