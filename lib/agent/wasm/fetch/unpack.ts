/**
 * Unpacks a module: gzip, tar, or one in the other. Holds a few chunks at a time.
 *
 * Formats: RFC 1952; POSIX.1-1988 (ustar) for tar.
 *
 * @module
 */
import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { bounded, ByteReader, type ByteStream } from "./bounded_bytes.ts";
import { FetchFault } from "./fetch_fault.ts";
import { before, withoutEnd } from "../../../kernel/text/edges.ts";

/** Largest module, and largest package, compressed or not, bytes. */
export const MAX_MODULE_BYTES = 256 * 1024 * 1024;
/** Most packings around a module, such as a gzip in a tar in a gzip. */
const MAX_PACKINGS = 4;
const BLOCK = 512;

/** Chooses the module's file in an archive. Absent: the first file. */
export type FileChoice = (path: string) => boolean;

/**
 * The module in a stream. The source is read to its end.
 * @throws {FetchFault} When there is no module, or too much data.
 */
export async function* unpacked(source: ByteStream, of: string, isModule?: FileChoice): AsyncGenerator<Uint8Array> {
  yield* open(bounded(source, MAX_MODULE_BYTES, of), of, isModule, 0);
}

async function* open(
  source: ByteStream,
  of: string,
  isModule: FileChoice | undefined,
  depth: number,
): AsyncGenerator<Uint8Array> {
  const reader = new ByteReader(source);
  try {
    const head = await reader.peek(BLOCK);
    if (isWasm(head)) {
      yield* reader.rest();
      return;
    }
    if (depth >= MAX_PACKINGS) throw new FetchFault(`${of} is packed more than ${MAX_PACKINGS} times`, "fetch_failure");
    if (head[0] === 0x1f && head[1] === 0x8b) {
      yield* open(bounded(gunzipped(reader.rest(), of), MAX_MODULE_BYTES, `${of}, unpacked,`), of, isModule, depth + 1);
    } else if (ascii(head.subarray(257, 262)) === "ustar") {
      yield* open(tarFile(reader, of, isModule), of, isModule, depth + 1);
    } else throw new FetchFault(`${of} is neither a Wasm module nor gzip nor tar`, "fetch_failure");
  } finally {
    await reader.close();
  }
}

/** `\0asm`, and a version. */
function isWasm(head: Uint8Array): boolean {
  return head.length >= 8 && head[0] === 0 && ascii(head.subarray(1, 4)) === "asm";
}

async function* gunzipped(source: ByteStream, of: string): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip();
  let failed: Error | undefined;
  // The error also comes out of the stream. Here the original error is kept.
  pipeline(Readable.from(source, { objectMode: true }), gunzip, (error) => failed = error ?? undefined);
  try {
    for await (const chunk of gunzip) yield chunk as Uint8Array;
  } catch (error) {
    const reason = failed ?? error as Error;
    throw reason instanceof FetchFault ? reason : new FetchFault(`${of}: ${reason.message}`, "fetch_failure");
  }
}

/** The content of one file. The bytes after the file are read and dropped. */
async function* tarFile(reader: ByteReader, of: string, isModule?: FileChoice): AsyncGenerator<Uint8Array> {
  let found = false;
  for (let head = await reader.read(BLOCK); head.length === BLOCK && head[0] !== 0; head = await reader.read(BLOCK)) {
    const { path, size, isFile } = tarHead(head, of);
    const isWanted: boolean = !found && isFile && (isModule?.(path) ?? true);
    let left = size;
    for await (const part of reader.some(size)) {
      left -= part.length;
      if (isWanted) yield part;
    }
    if (left > 0) throw new FetchFault(`${of} ends within ${path}`, "fetch_failure");
    found ||= isWanted;
    await reader.read((BLOCK - size % BLOCK) % BLOCK);
  }
  for await (const _ of reader.rest()) { /* read to the end, for the digest of the whole archive */ }
  if (!found) throw new FetchFault(`${of} has no Wasm module in its archive`, "fetch_failure");
}

/** Name at 0, size as octal digits at 124, kind at 156. */
function tarHead(head: Uint8Array, of: string) {
  const path = before(ascii(head.subarray(0, 100)), "\0");
  const digits = withoutEnd(ascii(head.subarray(124, 136)), "\0 ").trim();
  if (!/^[0-7]*$/.test(digits)) throw new FetchFault(`${of} has a file ${path} without a size`, "fetch_failure");
  const size = parseInt(digits || "0", 8);
  if (size > MAX_MODULE_BYTES) throw new FetchFault(`${of} has a file ${path} of ${size} bytes`, "download_failure");
  return { path, size, isFile: head[156] === 0 || head[156] === 0x30 };
}

function ascii(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}
