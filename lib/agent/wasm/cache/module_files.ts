/**
 * The folder with modules: one folder for each name, one file for each digest, written whole or not at all.
 *
 * Permissions: read, write (the folder).
 *
 * @module
 */
import { inTime } from "../../../kernel/files/bounded.ts";
import { isRegular } from "../../../kernel/files/regular.ts";
import { createHash } from "node:crypto";
import type { ByteStream } from "../fetch/bounded_bytes.ts";

/** User that reads the files. */
export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/** A file that is written and not yet in its place. */
export interface WrittenModule {
  readonly path: string;
  readonly size: number;
  /** SHA-256, hex. */
  readonly sha256: string;
}

/** A file that cannot be written: the disk is full, or the folder is not ours. */
class ModuleFileError extends Error {
  override readonly name = "ModuleFileError";
}

export class ModuleFiles {
  readonly #folder: string;
  readonly #owner: FileOwner | undefined;
  readonly #staleBefore: () => number;
  #made: Promise<void> | undefined;

  /**
   * @param owner undefined: our own user
   * @param staleBefore milliseconds since 1970 before which a file was written that an agent before us has left
   */
  constructor(folder: string, owner: FileOwner | undefined, staleBefore: () => number) {
    this.#folder = folder;
    this.#owner = owner;
    this.#staleBefore = staleBefore;
  }

  /** Whether a file is still there: agents of one machine share the folder, and disks are cleaned. */
  async isThere(path: string): Promise<boolean> {
    return await isRegular(path);
  }

  /** Writes a module beside its place. @throws {ModuleFileError}, and the errors of the source */
  async write(source: ByteStream): Promise<WrittenModule> {
    await (this.#made ??= this.#make());
    const path = `${this.#folder}/${crypto.randomUUID()}.part`;
    try {
      return await this.#writeTo(path, source);
    } catch (error) {
      await this.drop(path);
      throw error;
    }
  }

  async #writeTo(path: string, source: ByteStream): Promise<WrittenModule> {
    const hash = createHash("sha256");
    let size = 0;
    using file = await attempt(
      path,
      () => inTime(path, () => Deno.open(path, { write: true, createNew: true, mode: 0o600 })),
    );
    for await (const chunk of source) {
      hash.update(chunk);
      size += chunk.length;
      await attempt(path, () => inTime(path, () => writeAll(file, chunk)));
    }
    // Its name says what it holds: after a loss of power it must hold that, too.
    await attempt(path, () => file.sync());
    const owner = this.#owner;
    if (owner !== undefined) await attempt(path, () => Deno.chown(path, owner.uid, owner.gid));
    return { path, size, sha256: hash.digest("hex") };
  }

  /** Puts a module in its place; returns the place. @throws {ModuleFileError} */
  async keep({ path }: WrittenModule, name: string, checksum: string): Promise<string> {
    const folder = `${this.#folder}/${createHash("sha256").update(name).digest("hex")}`;
    const place = `${folder}/${checksum}.wasm`;
    await attempt(place, async () => {
      await Deno.mkdir(folder, { recursive: true, mode: 0o755 });
      await Deno.rename(path, place);
    });
    return place;
  }

  /** Removes a file. */
  async drop(path: string): Promise<void> {
    await Deno.remove(path).catch(() => {/* it is not there */});
  }

  async #make(): Promise<void> {
    try {
      await attempt(this.#folder, () => this.#clean());
    } catch (error) {
      this.#made = undefined;
      throw error;
    }
  }

  /** Removes files that agents before us left long ago. */
  async #clean(): Promise<void> {
    await Deno.mkdir(this.#folder, { recursive: true, mode: 0o755 });
    for await (const { name, isDirectory } of Deno.readDir(this.#folder)) {
      const path = `${this.#folder}/${name}`;
      if (!isDirectory) await this.#dropStale(path);
      else if (/^[0-9a-f]{64}$/.test(name)) {
        for await (const file of Deno.readDir(path)) await this.#dropStale(`${path}/${file.name}`);
        // Only one that is empty.
        await this.drop(path);
      }
    }
  }

  async #dropStale(path: string): Promise<void> {
    const { mtime, isFile } = await Deno.lstat(path);
    const isOurs = isFile && /\.(?:part|wasm)$/.test(path);
    if (isOurs && mtime !== null && mtime.getTime() < this.#staleBefore()) await this.drop(path);
  }
}

async function attempt<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new ModuleFileError(`${path} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
}
