/**
 * A run of bytes shared by many responses, plain and compressed. Each form is made at most once, on request.
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
const BLOCK_GZIP_LEVEL = 6;

/**
 * Size in bytes from which a block is compressed at the first request for gzip. Few blocks of this size belong to a
 * single proxy.
 */
const COMPRESS_AT_ONCE = 40 * 1024;

/** The two forms of the protocol: `delta` = `Resource` runs, `sotw` = `Any` runs. */
export type Form = "delta" | "sotw";

/** Concatenates byte runs. A single part is returned unchanged. */
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

/** A run of bytes: unshared bytes, or a block shared with others. */
export type ByteRun = Uint8Array | Block;

/** Plain size of some runs, in bytes. */
export function sizeOf(runs: readonly ByteRun[]): number {
  let size = 0;
  for (const run of runs) size += run instanceof Block ? run.size : run.length;
  return size;
}

/** The plain bytes of some runs, concatenated. */
export function bytesOf(runs: readonly ByteRun[]): Uint8Array {
  return concatBytes(runs.map((run) => run instanceof Block ? run.plain : run));
}

/** A shared run of bytes. Immutable from outside. Caches its forms. */
export class Block {
  /** Plain size in bytes. */
  readonly size: number;
  #runs: readonly ByteRun[];
  #gzip: readonly Uint8Array[] | undefined;
  /** Was sent uncompressed once. */
  #asked = false;

  /**
   * @param runs Must not change afterwards. Blocks among the runs, such as a filter chain of many listeners, are not
   * copied.
   */
  constructor(runs: readonly ByteRun[]) {
    this.#runs = runs;
    this.size = sizeOf(runs);
  }

  /** The bytes, concatenated. */
  get plain(): Uint8Array {
    return concatBytes(this.plainParts);
  }

  /** The bytes, in one part if no block is inside. Inner blocks are not copied. */
  get plainParts(): readonly Uint8Array[] {
    // Kept, so that the many small runs of most blocks are joined once.
    this.#runs = joinedRuns(this.#runs);
    return this.#runs.flatMap((run) => run instanceof Block ? run.plainParts : [run]);
  }

  /**
   * The bytes as members of gzip, at least one per part. Members concatenate to a valid gzip stream (RFC 1952, section
   * 2.2). At the first request a small block is stored uncompressed, except its inner blocks: most small blocks belong
   * to a single proxy and are never requested again.
   */
  get gzipParts(): readonly Uint8Array[] {
    if (this.#gzip !== undefined) return this.#gzip;
    const shares = this.#runs.some((run) => run instanceof Block);
    // Compressing needs the plain bytes once. Keeping the plain bytes would double the memory of blocks that are never
    // sent plain.
    if (!this.#asked && (this.size < COMPRESS_AT_ONCE || shares)) {
      this.#asked = true;
      return joinedRuns(this.#runs).flatMap((run) => run instanceof Block ? run.gzipParts : [storedGzipMember(run)]);
    }
    return this.#gzip = [gzipSync(bytesOf(this.#runs), { level: BLOCK_GZIP_LEVEL })];
  }
}

/** The same bytes, with a single run between two blocks. */
function joinedRuns(runs: readonly ByteRun[]): readonly ByteRun[] {
  if (runs.length === 1) return runs;
  const joined: ByteRun[] = [];
  let own: Uint8Array[] = [];
  const join = () => {
    if (own.length > 0) joined.push(concatBytes(own));
    own = [];
  };
  for (const run of runs) {
    if (run instanceof Uint8Array) own.push(run);
    else {
      join();
      joined.push(run);
    }
  }
  join();
  return joined;
}
