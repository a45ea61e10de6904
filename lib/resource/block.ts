/**
 * A run of bytes that many responses share, plain and compressed, each made at most once and only when asked for.
 *
 * @module
 */
import { gzipSync } from "node:zlib";
import { storedGzipMember } from "./gzip.ts";

/**
 * zlib level of shared blocks. A block is compressed once and sent to many, so size counts more than time: all 3.1 MB
 * of a proxy of a mesh of 1,000 services take 340 kB and 14 ms at level 2, 285 kB and 30 ms at level 6, and level 9
 * gains nothing for twice the time.
 */
export const BLOCK_GZIP_LEVEL = 6;

/** Bytes from which a block is compressed as soon as anyone wants it compressed: few of those are one proxy's own. */
const COMPRESS_AT_ONCE = 40 * 1024;

/** The two forms of the protocol: `delta` = `Resource` runs, `sotw` = `Any` runs. */
export type Form = "delta" | "sotw";

/** Concatenates byte runs. A single part is returned as it is. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  let length = 0;
  for (const part of parts) length += part.length;
  const out = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** No inner blocks: one object for the many that have none. */
export const NO_BLOCKS: readonly InnerBlock[] = [];

/** A block within another one, as a filter chain that many listeners have. */
export interface InnerBlock {
  /** Offset in the bytes of the outer block. */
  readonly at: number;
  readonly block: Block;
}

/** A shared run of bytes. Immutable from outside; caches its forms. */
export class Block {
  /** Plain size in bytes. */
  readonly size: number;
  #parts: readonly Uint8Array[];
  readonly #inner: readonly InnerBlock[];
  #gzip: Uint8Array | undefined;
  /** Was given uncompressed once. */
  #asked = false;

  /**
   * @param parts byte runs; must not change afterwards
   * @param inner blocks whose bytes are among these, from the first to the last
   */
  constructor(parts: readonly Uint8Array[], inner: readonly InnerBlock[] = NO_BLOCKS) {
    this.#parts = parts;
    this.#inner = inner;
    let size = 0;
    for (const part of parts) size += part.length;
    this.size = size;
  }

  /** The bytes, concatenated. */
  get plain(): Uint8Array {
    if (this.#parts.length !== 1) this.#parts = [concatBytes(this.#parts)];
    return this.#parts[0]!;
  }

  /**
   * The bytes as one gzip member. Members concatenate to one valid gzip stream (RFC 1952, section 2.2). A small block
   * is given uncompressed the first time, apart from what it shares with others: most are one proxy's own, and are never
   * asked for again.
   */
  get gzip(): Uint8Array {
    if (this.#gzip !== undefined) return this.#gzip;
    // Compressing needs the plain bytes once; keeping them as well would double the memory for blocks that are never
    // sent plain.
    const bytes = concatBytes(this.#parts);
    if (!this.#asked && (this.size < COMPRESS_AT_ONCE || this.#inner.length > 0)) {
      this.#asked = true;
      return this.#inner.length === 0 ? storedGzipMember(bytes) : this.#members(bytes);
    }
    return this.#gzip = gzipSync(bytes, { level: BLOCK_GZIP_LEVEL });
  }

  /** A member for each inner block, and one for what is between them. */
  #members(bytes: Uint8Array): Uint8Array {
    const members: Uint8Array[] = [];
    let at = 0;
    for (const { at: start, block } of this.#inner) {
      if (start > at) members.push(storedGzipMember(bytes.subarray(at, start)));
      members.push(block.gzip);
      at = start + block.size;
    }
    if (at < bytes.length) members.push(storedGzipMember(bytes.subarray(at)));
    return concatBytes(members);
  }
}
