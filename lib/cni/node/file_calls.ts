/**
 * The few calls that change files on a node. All work of the installer on a node is a sequence of these calls, so a
 * test can stop the work after any call.
 *
 * Permissions: read and write (the node's folders, as mounted).
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { readRegularSync, requireRegularSync } from "../../kernel/files/regular.ts";

/** The attributes of a file. */
export interface FileState {
  readonly bytes: Uint8Array;
  /** Permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** The facts about a path, without its content. */
export interface PathState {
  readonly is: "file" | "folder" | "neither";
  readonly size: number;
  readonly mode: number;
  /** Time of change, milliseconds since 1970. Undefined for a file with an earlier time that was moved to the path. */
  readonly modified: number | undefined;
}

/** Each call happens as a whole or not at all, except `write`, `copy` and `removeFolder`. */
export interface FileCalls {
  /** Names in a folder; none when there is no such folder. */
  list(folder: string): string[];
  /** Names of the folders in a folder; none when there is no such folder. */
  listFolders(folder: string): string[];
  /** A file; undefined when there is none. Throws for anything but a file: a folder, a pipe without a writer. */
  read(path: string): FileState | undefined;
  /** Whether two files have the same bytes. The files are not held in memory. */
  sameContents(a: string, b: string): boolean;
  /** True for a symbolic link, even a broken one. */
  isLink(path: string): boolean;
  /** The real path of a file: the path, or the target of a link. */
  realPath(path: string): string;
  /** The file or folder at a path; undefined when there is none. */
  stat(path: string): PathState | undefined;
  /** Creates a folder and its parents. */
  makeFolder(path: string, mode: number): void;
  /** Writes a new file in a place where nobody looks yet, and waits until the file is on the disk. */
  write(path: string, bytes: Uint8Array): void;
  /** Copies a file to a new place, and waits until the copy is on the disk. */
  copy(from: string, to: string): void;
  /** Sets permission bits, and the owner if the owner is not this process's user. */
  own(path: string, mode: number, owner?: { readonly uid: number; readonly gid: number }): void;
  rename(from: string, to: string): void;
  /** Removes a file; none is no error. */
  remove(path: string): void;
  /** Removes a folder with everything in it, not as a whole; none is no error. */
  removeFolder(path: string): void;
  /** Waits until a folder's names are on the disk. */
  syncFolder(path: string): void;
}

/** The calls of the machine. */
export const systemFileCalls: FileCalls = {
  list(folder) {
    return orNone(() => [...Deno.readDirSync(folder)].filter((entry) => !entry.isDirectory).map((e) => e.name)) ?? [];
  },
  listFolders(folder) {
    return orNone(() => [...Deno.readDirSync(folder)].filter((entry) => entry.isDirectory).map((e) => e.name)) ?? [];
  },
  read(path) {
    return orNone(() => {
      const { mode, uid, gid } = Deno.statSync(path);
      const bytes = readRegularSync(path, MAX_EXECUTABLE);
      return { bytes, mode: (mode ?? 0o644) & 0o7777, uid: uid ?? 0, gid: gid ?? 0 };
    });
  },
  sameContents(a, b) {
    requireRegularSync(a);
    requireRegularSync(b);
    using left = Deno.openSync(a);
    using right = Deno.openSync(b);
    // A loop over each byte of an executable would hold up everything else for most of a second.
    const [one, other] = [Buffer.alloc(CHUNK), Buffer.alloc(CHUNK)];
    for (;;) {
      const size = fill(left, one);
      if (size !== fill(right, other) || !one.subarray(0, size).equals(other.subarray(0, size))) return false;
      if (size < CHUNK) return true;
    }
  },
  isLink: (path) => orNone(() => Deno.lstatSync(path).isSymlink) ?? false,
  realPath: (path) => orNone(() => Deno.lstatSync(path).isSymlink ? Deno.realPathSync(path) : path) ?? path,
  stat(path) {
    return orNone(() => {
      const { isDirectory, isFile, size, mtime, ctime, mode } = Deno.statSync(path);
      // The time of a move is known to the second only.
      const moved = (mtime?.getTime() ?? 0) < (ctime?.getTime() ?? 0);
      const is = isFile ? "file" : isDirectory ? "folder" : "neither";
      return { is, size, modified: moved ? undefined : mtime?.getTime(), mode: (mode ?? 0) & 0o7777 };
    });
  },
  makeFolder: (path, mode) => Deno.mkdirSync(path, { recursive: true, mode }),
  write(path, bytes) {
    requireRegularSync(path);
    using file = Deno.openSync(path, { write: true, create: true, truncate: true, mode: 0o600 });
    for (let rest = bytes; rest.length > 0;) rest = rest.subarray(file.writeSync(rest));
    file.syncSync();
  },
  copy(from, to) {
    requireRegularSync(from);
    requireRegularSync(to);
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
  removeFolder: (path) => void orNone(() => Deno.removeSync(path, { recursive: true })),
  syncFolder(path) {
    using folder = Deno.openSync(path, { read: true });
    folder.syncSync();
  },
};

/** Largest file in memory, bytes: a configuration, or a file in the place of the program. */
const MAX_EXECUTABLE = 512 * 1024 * 1024;

/** Bytes compared at a time. */
const CHUNK = 256 * 1024;

/** Reads until a buffer is full or the file ends. Returns the number of bytes. */
function fill(file: Deno.FsFile, buffer: Uint8Array): number {
  let size = 0;
  for (let n; size < buffer.length && (n = file.readSync(buffer.subarray(size))) !== null;) size += n;
  return size;
}

function orNone<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}
