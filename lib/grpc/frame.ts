/**
 * gRPC message framing: one byte of flags (1 = compressed), four bytes of length, the message.
 * Rule: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 *
 * @module
 */
import { gunzipSync } from "node:zlib";
import { Code } from "./codes.ts";
import { RpcError } from "./status.ts";

/** Compressions that a client may use for its messages, as offered in `grpc-accept-encoding`. */
export const ACCEPTED_ENCODINGS = "identity,gzip";

/** The five bytes before a message. */
export function frameHead(length: number, compressed: boolean): Uint8Array {
  const head = new Uint8Array(5);
  head[0] = compressed ? 1 : 0;
  new DataView(head.buffer).setUint32(1, length);
  return head;
}

/** Cuts a byte stream into messages. */
export class MessageReader {
  #chunks: Uint8Array[] = [];
  #buffered = 0;

  /**
   * @param encoding value of the `grpc-encoding` header: `identity`, `gzip` or absent
   * @param maxSize largest message in bytes, before and after decompression
   */
  constructor(private readonly encoding: string | undefined, private readonly maxSize: number) {}

  /**
   * Takes the next bytes of the stream and returns the messages that they complete.
   *
   * @throws RpcError RESOURCE_EXHAUSTED for a message above `maxSize`, INTERNAL for bytes that are no frames or a
   * broken compression, UNIMPLEMENTED for a compressed message without a known `grpc-encoding`
   */
  push(chunk: Uint8Array): Uint8Array[] {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    const messages: Uint8Array[] = [];
    if (this.#buffered < 5) return messages;
    const data = this.#joined();
    let at = 0;
    while (data.length - at >= 5) {
      const flags = data[at]!;
      if (flags > 1) throw new RpcError(Code.INTERNAL, `message flags ${flags}: expected 0 or 1`);
      const length = new DataView(data.buffer, data.byteOffset + at).getUint32(1);
      if (length > this.maxSize) throw this.#tooLarge(`${length} bytes`);
      const end = at + 5 + length;
      if (end > data.length) break;
      const message = data.subarray(at + 5, end);
      messages.push(flags === 1 ? this.#inflate(message) : message);
      at = end;
    }
    if (at > 0) {
      this.#buffered = data.length - at;
      // What is left is copied: a view of no bytes would keep a large request alive as long as the stream.
      this.#chunks = this.#buffered === 0 ? [] : [data.slice(at)];
    }
    return messages;
  }

  /** Whether the stream may end here. */
  get atBoundary(): boolean {
    return this.#buffered === 0;
  }

  #joined(): Uint8Array {
    if (this.#chunks.length === 1) return this.#chunks[0]!;
    const first = this.#chunks[0]!;
    // While a large message arrives in pieces, look only at its head, so that joining stays linear.
    if (first.length >= 5) {
      const length = new DataView(first.buffer, first.byteOffset).getUint32(1);
      if (length <= this.maxSize && this.#buffered < 5 + length) return first;
    }
    const data = new Uint8Array(this.#buffered);
    let at = 0;
    for (const chunk of this.#chunks) {
      data.set(chunk, at);
      at += chunk.length;
    }
    this.#chunks = [data];
    return data;
  }

  #inflate(message: Uint8Array): Uint8Array {
    if (this.encoding !== "gzip") {
      throw new RpcError(Code.UNIMPLEMENTED, `compressed message with grpc-encoding ${this.encoding ?? "identity"}`);
    }
    try {
      return gunzipSync(message, { maxOutputLength: this.maxSize });
    } catch (error) {
      if (error instanceof RangeError) throw this.#tooLarge("after decompression");
      throw new RpcError(Code.INTERNAL, `broken gzip message: ${(error as Error).message}`);
    }
  }

  #tooLarge(size: string): RpcError {
    return new RpcError(Code.RESOURCE_EXHAUSTED, `message too large: ${size}, limit ${this.maxSize} bytes`);
  }
}
