/**
 * The files below a folder: found by a walk, and compared with their state at the last look.
 *
 * A file's identity is its times (modification, status change), size and inode. The identity of a file written a moment
 * before the read is not trusted: another write in the same tick of the file system's clock would not change it.
 *
 * Permissions: read of the folder.
 *
 * @module
 */
import { errorMessage } from "../kernel/text/error_message.ts";
import type { FileBound } from "../kernel/files/bounded.ts";
import { entriesOf, factsOf, NotRegularFile, readRegular } from "../kernel/files/regular.ts";
import { MAX_FILE_SIZE } from "./file.ts";
import type { FileRead } from "./index.ts";
import { isConfigName, isTemporaryName } from "./paths.ts";

/** Longest tick of a file system's clock, ms. On Linux a tick is at most 10 ms. */
const CLOCK_TICK_MS = 50;

/** Files looked at or read at the same time. */
const FILES_AT_ONCE = 32;
/**
 * Bytes read at the same time, which may mean fewer files; read files are parsed before the next files are read. With
 * 10 MB of files at once a server keeps 10 MiB more for ever, because the C library does not give the memory back.
 */
const BYTES_AT_ONCE = 128 * 1024;

/** The facts of a file before its read. */
export interface FileLook {
  readonly path: string;
  /** Whether the file may have changed since the last look. */
  readonly differs: boolean;
  /** Bytes; 0: unknown. */
  readonly size: number;
}

/** The files below a path. */
export interface FoundFiles {
  /**
   * Paths of the configuration files. A path with a configuration file's name that is not a file is included, and its
   * read reports the error.
   */
  readonly files: Set<string>;
  /** Paths without an answer: known files at or below them may still be there. */
  readonly unanswered: readonly string[];
}

/** The configuration files below a folder. Paths are relative to the folder; `""` is the root. */
export class FolderFiles {
  /** The identity of each file at the last look. */
  readonly #identities = new Map<string, string>();

  readonly #bound: FileBound;

  /**
   * @param root The folder, symbolic links resolved.
   * @param signal Ends all looks and reads.
   */
  constructor(readonly root: string, signal?: AbortSignal) {
    this.#bound = signal === undefined ? {} : { signal };
  }

  /** The folders of the last walk from the root, with the root; and whether any folder holds a named pipe. */
  found: { readonly folders: readonly string[]; readonly hasPipe: boolean } = { folders: [], hasPipe: false };

  /** All configuration files at or below a path. */
  async find(path: string): Promise<FoundFiles> {
    const walk: Walk = { files: new Set(), unanswered: [], seen: new Set(), folders: [], hasPipe: false };
    await this.#collect(path, walk);
    if (path === "") this.found = walk;
    return walk;
  }

  /** A file is gone. */
  forget(path: string): void {
    this.#identities.delete(path);
  }

  /** Looks whether files changed, in the order given. */
  async lookAll(paths: readonly string[]): Promise<FileLook[]> {
    const looks: FileLook[] = [];
    for (const some of inParts(paths)) looks.push(...await Promise.all(some.map((path) => this.#look(path))));
    return looks;
  }

  /** Reads files, some at a time: the next files are read when the caller asks for them. */
  async *readAll(looks: readonly FileLook[]): AsyncGenerator<readonly FileRead[], void, void> {
    for (const some of inParts(looks, ({ size }) => size)) {
      yield await Promise.all(some.map(({ path }) => this.read(path)));
    }
  }

  /**
   * Looks whether a file changed. Must be called before the read: a write in between then differs from the stored
   * identity, and the next look sees it.
   */
  async #look(path: string): Promise<FileLook> {
    try {
      const { mtime, ctime, size, ino } = await factsOf(`${this.root}/${path}`, this.#bound);
      const identity = `${mtime?.getTime()}:${ctime?.getTime()}:${size}:${ino}`;
      if (this.#identities.get(path) === identity) return { path, differs: false, size };
      if (Math.abs(Date.now() - (mtime?.getTime() ?? 0)) < CLOCK_TICK_MS) this.#identities.delete(path);
      else this.#identities.set(path, identity);
      return { path, differs: true, size };
    } catch {
      this.#identities.delete(path); // The read of the file reports the reason.
      return { path, differs: true, size: 0 };
    }
  }

  async read(path: string): Promise<FileRead> {
    try {
      return { path, bytes: await readRegular(`${this.root}/${path}`, { ...this.#bound, maxBytes: MAX_FILE_SIZE }) };
    } catch (error) {
      this.#identities.delete(path);
      if (error instanceof Deno.errors.NotFound) return { path, bytes: undefined };
      if (error instanceof NotRegularFile) return { path, bytes: `a regular file (got ${error.got})` };
      return { path, bytes: `a file that can be read (${errorMessage(error)})` };
    }
  }

  async #collect(path: string, walk: Walk): Promise<void> {
    const full = path === "" ? this.root : `${this.root}/${path}`;
    try {
      const info = await factsOf(full, this.#bound);
      if (!info.isDirectory) {
        walk.hasPipe ||= info.isFifo === true;
        if (isConfigName(path.slice(path.lastIndexOf("/") + 1))) walk.files.add(path);
        return;
      }
      const folder = `${info.dev}:${info.ino}`;
      if (walk.seen.has(folder)) return;
      walk.seen.add(folder); // Links to folders may make circles.
      const entries = await entriesOf(full, this.#bound);
      walk.folders.push(full);
      for (const entry of entries) {
        if (isTemporaryName(entry.name)) continue;
        const child = path === "" ? entry.name : `${path}/${entry.name}`;
        if (entry.isFile) {
          if (isConfigName(entry.name)) walk.files.add(child);
        } else await this.#collect(child, walk);
      }
    } catch (error) {
      // A file that has gone, or a link to nowhere, is not among the found files. The read reports every other error.
      if (error instanceof Deno.errors.NotFound) return;
      walk.files.add(path);
      if (error instanceof Deno.errors.TimedOut) walk.unanswered.push(path);
    }
  }
}

/** The results of a walk so far. */
interface Walk extends FoundFiles {
  readonly unanswered: string[];
  /** Identities of folders. */
  readonly seen: Set<string>;
  readonly folders: string[];
  hasPipe: boolean;
}

/** @param bytesOf How much an item counts; default: only the number of items does. */
function* inParts<T>(items: readonly T[], bytesOf: (item: T) => number = () => 0): Iterable<readonly T[]> {
  let part: T[] = [];
  let bytes = 0;
  for (const item of items) {
    part.push(item);
    bytes += bytesOf(item);
    if (part.length < FILES_AT_ONCE && bytes < BYTES_AT_ONCE) continue;
    yield part;
    part = [];
    bytes = 0;
  }
  if (part.length > 0) yield part;
}
