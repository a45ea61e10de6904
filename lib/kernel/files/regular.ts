/**
 * Reads files that others may have put in place: configuration, certificates, tokens, templates. Every read of such a
 * file goes through this module.
 *
 * Only regular files are opened. Opening a named pipe waits for a writer, perhaps for ever. Opening a device may have
 * an effect. And some reads of the runtime open files on the thread of the event loop, where one endless wait stops the
 * process. Files have a size limit, and reads have a time limit (see `./bounded.ts`).
 *
 * Permissions: read of the files.
 *
 * @module
 */
import { type FileBound, inTime } from "./bounded.ts";

/** Default limit of a file's size, bytes. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** Longest single read, bytes. */
const CHUNK = 1024 * 1024;

/** How a file is read. */
export interface ReadBound extends FileBound {
  /** Largest size, bytes. Default {@linkcode MAX_FILE_BYTES}. */
  readonly maxBytes?: number;
}

/** The path does not lead to a regular file. */
export class NotRegularFile extends Error {
  override readonly name = "NotRegularFile";

  /** @param got The thing at the path: "a named pipe". */
  constructor(path: string, readonly got: string) {
    super(`${path}: got ${got}, expected a regular file`);
  }
}

/** The file is larger than the reader's limit. */
export class FileTooLarge extends Error {
  override readonly name = "FileTooLarge";
}

/**
 * The content of a regular file.
 *
 * @throws {NotRegularFile}, {FileTooLarge}, {Deno.errors.TimedOut}, and the errors of the system: `Deno.errors.NotFound` ...
 */
export function readRegular(
  path: string,
  { maxBytes = MAX_FILE_BYTES, ...bound }: ReadBound = {},
): Promise<Uint8Array> {
  return inTime(path, () => readOpened(path, maxBytes), bound);
}

/** The content of a regular file as text. Bytes that are not UTF-8 become U+FFFD. */
export async function readRegularText(path: string, bound: ReadBound = {}): Promise<string> {
  return textOf(await readRegular(path, bound));
}

/**
 * The content of a regular file, read without a time limit. For programs that do a single task and end: the node's
 * plugin, commands.
 */
export function readRegularSync(path: string, maxBytes: number = MAX_FILE_BYTES): Uint8Array {
  requireRegular(path, Deno.statSync(path));
  using file = Deno.openSync(path);
  const info = file.statSync();
  const parts = new GrowingContent(path, info, maxBytes);
  while (parts.take(file.readSync(parts.room()))) { /* there is more */ }
  return parts.whole();
}

/** The content of a regular file as text, read without a time limit. */
export function readRegularTextSync(path: string, maxBytes: number = MAX_FILE_BYTES): string {
  return textOf(readRegularSync(path, maxBytes));
}

/**
 * Checks a path before it is opened for writing. The path may be absent.
 *
 * @throws {NotRegularFile} when the path has something other than a regular file.
 */
export function requireRegularSync(path: string): void {
  let info: Deno.FileInfo;
  try {
    info = Deno.statSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw error;
  }
  requireRegular(path, info);
}

/**
 * The metadata of a path, links followed.
 *
 * @throws {Deno.errors.TimedOut} and the errors of the system.
 */
export function factsOf(path: string, bound: FileBound = {}): Promise<Deno.FileInfo> {
  return inTime(path, () => Deno.stat(path), bound);
}

/** Whether a path leads to a regular file. */
export async function isRegular(path: string, bound: FileBound = {}): Promise<boolean> {
  return await factsOf(path, bound).then(({ isFile }) => isFile, () => false);
}

/**
 * The entries of a folder.
 *
 * @throws {Deno.errors.TimedOut} and the errors of the system.
 */
export function entriesOf(path: string, bound: FileBound = {}): Promise<Deno.DirEntry[]> {
  return inTime(path, () => Array.fromAsync(Deno.readDir(path)), bound);
}

/** @throws {Deno.errors.TimedOut} and the errors of the system. */
export function realPathOf(path: string, bound: FileBound = {}): Promise<string> {
  return inTime(path, () => Deno.realPath(path), bound);
}

async function readOpened(path: string, maxBytes: number): Promise<Uint8Array> {
  requireRegular(path, await Deno.stat(path));
  using file = await Deno.open(path);
  // Another file may have taken the place since the check.
  const info = await file.stat();
  const parts = new GrowingContent(path, info, maxBytes);
  while (parts.take(await file.read(parts.room()))) { /* there is more */ }
  return parts.whole();
}

/** The bytes of a file read so far. */
class GrowingContent {
  #bytes: Uint8Array<ArrayBuffer>;
  #length = 0;

  constructor(readonly path: string, readonly info: Deno.FileInfo, readonly maxBytes: number) {
    requireRegular(path, info);
    this.#refuse(info.size);
    // Files of /sys and /proc report a size of 0 or 4096, whatever the content.
    this.#bytes = new Uint8Array(info.size === 0 ? Math.min(4096, maxBytes + 1) : info.size);
  }

  /** The space for the next bytes. */
  room(): Uint8Array<ArrayBuffer> {
    if (this.#length === this.#bytes.length) {
      const larger = new Uint8Array(Math.min(2 * this.#length + 1, this.#length + CHUNK, this.maxBytes + 1));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    return this.#bytes.subarray(this.#length, this.#length + CHUNK);
  }

  /** Counts new bytes. False after the last bytes. */
  take(size: number | null): boolean {
    this.#length += size ?? 0;
    this.#refuse(this.#length);
    // At the reported size, another read would only confirm the end.
    return size !== null && size !== 0 && this.#length !== this.info.size;
  }

  whole(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #refuse(size: number): void {
    if (size <= this.maxBytes) return;
    throw new FileTooLarge(`${this.path}: the file has ${size} bytes, expected at most ${this.maxBytes}`);
  }
}

function requireRegular(path: string, info: Deno.FileInfo): void {
  if (!info.isFile) throw new NotRegularFile(path, whatItIs(info));
}

function whatItIs(info: Deno.FileInfo): string {
  if (info.isDirectory) return "a folder";
  if (info.isFifo) return "a named pipe";
  if (info.isSocket) return "a socket";
  return info.isCharDevice || info.isBlockDevice ? "a device" : "something else";
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
