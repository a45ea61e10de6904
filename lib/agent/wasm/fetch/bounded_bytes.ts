/**
 * Bytes in chunks, bounded and checked as they arrive.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { concatBytes } from "../../../resource/block.ts";
import { FetchFault } from "./fetch_fault.ts";

/** Bytes in chunks. */
export type ByteStream = AsyncIterable<Uint8Array>;

/** Passes bytes on. @throws {FetchFault} when there are more */
export async function* bounded(source: ByteStream, limit: number, of: string): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of source) {
    length += chunk.length;
    if (length > limit) throw new FetchFault(`${of} has more than ${limit} bytes`, "download_failure");
    yield chunk;
  }
}

/**
 * Passes bytes on.
 * @throws {FetchFault} At the end of the bytes, when their SHA-256 (hex) differs.
 */
export async function* digested(source: ByteStream, sha256: string, of: string): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  for await (const chunk of source) {
    hash.update(chunk);
    yield chunk;
  }
  const found = hash.digest("hex");
  if (found !== sha256) throw new FetchFault(`${of} has the digest sha256:${found}`, "checksum_mismatched");
}

/** All bytes at once. */
export async function wholeBytes(source: ByteStream): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(concatBytes([new Uint8Array(0), ...await Array.fromAsync(source)]));
}

/** Reads bytes in portions of the reader's own. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #held: Uint8Array = new Uint8Array(0);

  constructor(source: ByteStream) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** The next bytes, which stay unread. Fewer bytes at the end. */
  async peek(count: number): Promise<Uint8Array> {
    while (this.#held.length < count) {
      const { done, value } = await this.#source.next();
      if (done) break;
      this.#held = concatBytes([this.#held, value]);
    }
    return this.#held.subarray(0, count);
  }

  /** The next bytes, fewer when there are no more. */
  async read(count: number): Promise<Uint8Array> {
    const read = await this.peek(count);
    this.#held = this.#held.subarray(read.length);
    return read;
  }

  /** The next bytes as they arrive, at most `count`. */
  async *some(count: number): AsyncGenerator<Uint8Array> {
    for (let left = count; left > 0;) {
      const chunk = this.#held.length > 0 ? this.#held : await this.peek(1) && this.#held;
      if (chunk.length === 0) return;
      const part = chunk.subarray(0, left);
      this.#held = chunk.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  /** The remaining bytes. */
  rest(): AsyncGenerator<Uint8Array> {
    return this.some(Number.MAX_SAFE_INTEGER);
  }

  /** Gives up the remaining bytes. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }
}
