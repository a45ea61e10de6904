/**
 * The files below a folder: found by walking it, and told from what they were.
 *
 * A file's identity is its times (modification, status change), size and inode; that of a file that was written a moment before it was
 * read is not trusted, since another write in the same tick of the file system's clock leaves it as it is.
 *
 * Permissions: read of the folder.
 *
 * @module
 */
import type { FileBound } from "../kernel/files/bounded.ts";
import { entriesOf, factsOf, NotRegularFile, readRegular } from "../kernel/files/regular.ts";
import { MAX_FILE_SIZE } from "./file.ts";
import type { FileRead } from "./index.ts";
import { isConfigName, isTemporaryName } from "./paths.ts";

/** Longest tick of a file system's clock, ms: those of Linux take up to 10. */
const CLOCK_TICK_MS = 50;

/** Files looked at or read at the same time. */
const FILES_AT_ONCE = 32;
/**
 * Fewer are read at the same time where they have this many bytes together, and read files are parsed before more are
 * read: with 10 MB of files at once a server has 10 MiB more for ever, because the C library does not give them back.
 */
const BYTES_AT_ONCE = 128 * 1024;

/** The facts of a file that are known before it is read. */
export interface FileLook {
  readonly path: string;
  /** Whether it may be another one than at the last look. */
  readonly differs: boolean;
  /** Bytes; 0 where that is unknown. */
  readonly size: number;
}

/** What is found below a path. */
export interface FoundFiles {
  /** Paths of the configuration files; and of what has such a name and is not a file, so that its read says so. */
  readonly files: Set<string>;
  /** Paths that did not answer: what was known at or below them may still be there. */
  readonly unanswered: readonly string[];
}

/** The configuration files below one folder. Paths are relative to it; `""` is the folder itself. */
export class FolderFiles {
  /** The identity of each file when it was last looked at. */
  readonly #identities = new Map<string, string>();

  readonly #bound: FileBound;

  /**
   * @param root The folder, symbolic links resolved.
   * @param signal Ends all looks and reads.
   */
  constructor(readonly root: string, signal?: AbortSignal) {
    this.#bound = signal === undefined ? {} : { signal };
  }

  /** The folders that the last find of the root went through, with the root; and whether a named pipe is in one. */
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

  /** Reads files, some at a time: the next are read when they are asked for. */
  async *readAll(looks: readonly FileLook[]): AsyncGenerator<readonly FileRead[], void, void> {
    for (const some of inParts(looks, ({ size }) => size)) {
      yield await Promise.all(some.map(({ path }) => this.read(path)));
    }
  }

  /**
   * Looks whether a file changed. To be done before it is read: a write between goes with the identity before it, so
   * that the next look tells.
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
      this.#identities.delete(path); // Reading it says why.
      return { path, differs: true, size: 0 };
    }
  }

  /** Reads a file. */
  async read(path: string): Promise<FileRead> {
    try {
      return { path, bytes: await readRegular(`${this.root}/${path}`, { ...this.#bound, maxBytes: MAX_FILE_SIZE }) };
    } catch (error) {
      this.#identities.delete(path);
      if (error instanceof Deno.errors.NotFound) return { path, bytes: undefined };
      if (error instanceof NotRegularFile) return { path, bytes: `a regular file (got ${error.got})` };
      return { path, bytes: `a file that can be read (${error instanceof Error ? error.message : String(error)})` };
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
      // Gone meanwhile, or a link to nowhere: then it is not found, which is what the caller asks. Anything else shows when it is read.
      if (error instanceof Deno.errors.NotFound) return;
      walk.files.add(path);
      if (error instanceof Deno.errors.TimedOut) walk.unanswered.push(path);
    }
  }
}

/** What a walk has met so far. */
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
