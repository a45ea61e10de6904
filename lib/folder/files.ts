/**
 * The files below a folder: found by walking it, read when they differ from the last read.
 *
 * A file's identity is its times (modification, status change), size and inode; that of a file that was written a moment before it was
 * read is not trusted, since another write in the same tick of the file system's clock leaves it as it is.
 *
 * Permissions: read of the folder.
 *
 * @module
 */
import type { FileRead } from "./index.ts";
import { isConfigName, isTemporaryName } from "./paths.ts";

/** Longest tick of a file system's clock, ms: those of Linux take up to 10. */
const CLOCK_TICK_MS = 50;

/** The configuration files below one folder. Paths are relative to it; `""` is the folder itself. */
export class FolderFiles {
  /** The identity of each file at its last read. */
  readonly #identities = new Map<string, string>();

  /** @param root The folder, symbolic links resolved. */
  constructor(readonly root: string) {}

  /** All configuration files at or below a path. */
  async find(path: string): Promise<Set<string>> {
    const found = new Set<string>();
    await this.#collect(path, found, new Set());
    return found;
  }

  /** A file is gone. */
  forget(path: string): void {
    this.#identities.delete(path);
  }

  /** Reads a file; undefined when it has not changed since the last read (unless `anyway`). */
  async read(path: string, anyway: boolean): Promise<FileRead | undefined> {
    const full = `${this.root}/${path}`;
    try {
      const { mtime, ctime, size, ino } = await Deno.stat(full);
      const identity = `${mtime?.getTime()}:${ctime?.getTime()}:${size}:${ino}`;
      if (!anyway && this.#identities.get(path) === identity) return undefined;
      if (Math.abs(Date.now() - (mtime?.getTime() ?? 0)) < CLOCK_TICK_MS) this.#identities.delete(path);
      else this.#identities.set(path, identity);
      return { path, bytes: await Deno.readFile(full) };
    } catch (error) {
      this.#identities.delete(path);
      if (error instanceof Deno.errors.NotFound) return { path, bytes: undefined };
      return { path, bytes: `a file that can be read (${error instanceof Error ? error.message : String(error)})` };
    }
  }

  async #collect(path: string, found: Set<string>, folders: Set<string>): Promise<void> {
    const full = path === "" ? this.root : `${this.root}/${path}`;
    try {
      const info = await Deno.stat(full);
      if (info.isFile) {
        if (isConfigName(path.slice(path.lastIndexOf("/") + 1))) found.add(path);
        return;
      }
      const folder = `${info.dev}:${info.ino}`;
      if (!info.isDirectory || folders.has(folder)) return;
      folders.add(folder); // Links to folders may make circles.
      for await (const entry of Deno.readDir(full)) {
        if (isTemporaryName(entry.name)) continue;
        const child = path === "" ? entry.name : `${path}/${entry.name}`;
        if (entry.isFile) {
          if (isConfigName(entry.name)) found.add(child);
        } else await this.#collect(child, found, folders);
      }
    } catch (error) {
      // Gone meanwhile, or a link to nowhere: then it is not found, which is what the caller asks. Anything else shows when it is read.
      if (!(error instanceof Deno.errors.NotFound)) found.add(path);
    }
  }
}
