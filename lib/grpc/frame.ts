/**
 * gRPC message framing: one byte of flags (1 = compressed), four bytes of length, the message.
 *
 * Rule: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { gunzipSync } from "node:zlib";
import { Code } from "./codes.ts";
import { Pieces } from "./budget/pieces.ts";
import { RpcError } from "./status.ts";

/** Compressions that a client may use, as offered in `grpc-accept-encoding`. */
export const ACCEPTED_ENCODINGS = "identity,gzip";

/** Bytes before a message. */
const HEAD = 5;

/** The five bytes before a message. */
export function frameHead(length: number, compressed: boolean): Uint8Array {
  const head = Buffer.allocUnsafe(HEAD); // a tenth of the time of a new array
  head[0] = compressed ? 1 : 0;
  head.writeUInt32BE(length, 1);
  return head;
}

/** Bytes unpacked at a time: unpacking 4 MB in pieces of 16 kB takes half as long again as in 256 kB. */
const CHUNKS = { least: 16 * 1024, most: 256 * 1024 };

/** A gzip file ends with the size of the content (RFC 1952, section 2.3.1). A wrong size only costs time. */
function chunkSize(message: Uint8Array): number {
  if (message.length < 18) return CHUNKS.least;
  const size = new DataView(message.buffer, message.byteOffset + message.length - 4).getUint32(0, true);
  return Math.min(CHUNKS.most, Math.max(CHUNKS.least, size));
}

const NOTHING = new Uint8Array(0);

/** Bytes from which a message always has memory of its own: far more than an HTTP/2 frame. */
const OWN = 256 * 1024;

/** Whether nothing else lies in the memory of a message of {@linkcode MessageReader}. */
export function isOwn(message: Uint8Array): boolean {
  return message.length >= OWN && message.buffer.byteLength <= message.length + HEAD;
}

/**
 * Gives the memory of a large message back at once, instead of at some later collection of garbage. The message and all
 * views of it are empty afterwards. Messages that share their memory are left alone.
 */
export function freeMessage(message: Uint8Array): void {
  if (isOwn(message) && message.buffer instanceof ArrayBuffer) message.buffer.transfer(0);
}

/** Cuts a byte stream into messages. */
export class MessageReader {
  readonly #partial = new Pieces();
  /** Bytes after the message at which reading stopped. */
  #rest: Uint8Array = NOTHING;

  readonly #encoding: string | undefined;
  readonly #maxSize: number;

  /**
   * @param encoding value of the `grpc-encoding` header: `identity`, `gzip` or absent
   * @param maxSize largest message in bytes, before and after decompression
   */
  constructor(encoding: string | undefined, maxSize: number) {
    this.#encoding = encoding;
    this.#maxSize = maxSize;
  }

  /**
   * Takes the next bytes of the stream, and calls back with each completed message. A message that lies whole in the
   * bytes is a view of the bytes.
   *
   * @param onMessage returns false to stop reading; {@linkcode MessageReader.resume} continues
   * @throws RpcError RESOURCE_EXHAUSTED for a message above `maxSize`, INTERNAL for bytes that are not frames or a
   * broken compression, UNIMPLEMENTED for a compressed message without a known `grpc-encoding`
   */
  push(chunk: Uint8Array, onMessage: (message: Uint8Array) => boolean): void {
    const partial = this.#partial;
    let at = 0;
    while (partial.length > 0 && at < chunk.length) {
      const size = partial.length < HEAD ? HEAD : this.#size(partial.start, 0);
      const part = chunk.subarray(at, at + size - partial.length);
      partial.append(part, size);
      at += part.length;
      if (partial.length < HEAD || partial.length < this.#size(partial.start, 0)) continue;
      if (!onMessage(this.#content(partial.take()))) return this.#stop(chunk.subarray(at));
    }
    while (chunk.length - at >= HEAD) {
      const end = at + this.#size(chunk, at);
      if (end > chunk.length) break;
      const message = this.#content(chunk.subarray(at, end));
      at = end;
      if (!onMessage(message)) return this.#stop(chunk.subarray(at));
    }
    if (at < chunk.length) {
      const rest = chunk.subarray(at);
      partial.append(rest, rest.length < HEAD ? HEAD : this.#size(rest, 0));
    }
  }

  #stop(rest: Uint8Array): void {
    this.#rest = rest;
  }

  /** Whether reading stopped before the end of the received bytes. */
  get stopped(): boolean {
    return this.#rest.length > 0;
  }

  /**
   * Continues where reading stopped, like {@linkcode MessageReader.push}. Nothing may be pushed before the rest is
   * read.
   */
  resume(onMessage: (message: Uint8Array) => boolean): void {
    const rest = this.#rest;
    this.#rest = NOTHING;
    this.push(rest, onMessage);
  }

  /** Bytes of the unfinished message. */
  get held(): number {
    return this.#partial.length;
  }

  /** Bytes of the unfinished message and its head when the message is complete. 0: the head is not there yet. */
  get expected(): number {
    return this.#partial.length < HEAD ? 0 : this.#size(this.#partial.start, 0);
  }

  /** Bytes of memory for the unfinished message. At most twice the held bytes, plus 64, plus one read of the socket. */
  get capacity(): number {
    return this.#partial.capacity;
  }

  /** Drops the received part of a message. */
  clear(): void {
    this.#partial.clear();
    this.#rest = NOTHING;
  }

  /** Size of a message and its head. */
  #size(bytes: Uint8Array, at: number): number {
    const flags = bytes[at]!;
    if (flags > 1) throw new RpcError(Code.INTERNAL, `message flags ${flags}: expected 0 or 1`);
    const length = new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(1);
    if (length > this.#maxSize) throw this.#tooLarge(`${length} bytes`);
    return HEAD + length;
  }

  #content(framed: Uint8Array): Uint8Array {
    const message = framed.subarray(HEAD);
    return framed[0] === 1 ? this.#inflate(message) : message;
  }

  #inflate(message: Uint8Array): Uint8Array {
    if (this.#encoding !== "gzip") {
      throw new RpcError(Code.UNIMPLEMENTED, `compressed message with grpc-encoding ${this.#encoding ?? "identity"}`);
    }
    try {
      return gunzipSync(message, { maxOutputLength: this.#maxSize, chunkSize: chunkSize(message) });
    } catch (error) {
      if (error instanceof RangeError) throw this.#tooLarge("after decompression");
      throw new RpcError(Code.INTERNAL, `broken gzip message: ${(error as Error).message}`);
    }
  }

  #tooLarge(size: string): RpcError {
    return new RpcError(Code.RESOURCE_EXHAUSTED, `message too large: ${size}, limit ${this.#maxSize} bytes`);
  }
}
