/**
 * The pieces of a message until the end has come.
 *
 * A large piece stays a view of the bytes that the socket read, and all pieces are joined once at the end: a buffer
 * that grows with a message of 350 kB takes half as much time again. A view keeps the whole read in memory. Therefore
 * reads are counted whole, and a read that is less than half used is copied as soon as the next read comes. Small
 * pieces are copied at once.
 *
 * All pieces of a message of a MiB and more are copied at once, too, and the copies are freed as soon as they are
 * joined. The reads are garbage before the next read comes, and the cheapest collection frees them.
 *
 * @module
 */
import { GrowingBuffer } from "./growing_buffer.ts";

/** Pieces of at least this many bytes are kept as views. */
const LARGE = 4096;
/** No piece of a message of so many bytes is kept as a view. */
const COPIED = 1024 * 1024;

/** Pieces in order. */
export class Pieces {
  #pieces: Uint8Array[] = [];
  /** Bytes of the pieces; and bytes of memory behind the settled pieces. */
  #length = 0;
  #settled = 0;
  /** The read behind the last pieces, with the index of the first such piece and the bytes of all. */
  #read: { readonly buffer: ArrayBufferLike; readonly from: number; bytes: number } | undefined;
  /** Small pieces behind all others. */
  readonly #small = new GrowingBuffer();
  /** All pieces are copies, and nobody else has them. */
  #isCopied = false;

  /** Bytes held. */
  get length(): number {
    return this.#length + this.#small.length;
  }

  /** Bytes of memory in use. At most twice the held bytes, plus 64, plus one read. */
  get capacity(): number {
    return this.#settled + (this.#read?.buffer.byteLength ?? 0) + this.#small.capacity;
  }

  /** The beginning of the content, as far as it lies in one run. */
  get start(): Uint8Array {
    return this.#pieces[0] ?? this.#small.bytes;
  }

  /**
   * Adds a piece. The bytes must not change afterwards.
   *
   * @param total the final length of the message
   */
  append(bytes: Uint8Array, total: number): void {
    if (bytes.length < LARGE) {
      if (this.#read !== undefined) this.#settle();
      return this.#small.append(bytes, total - this.#length);
    }
    if (this.#small.length > 0) this.#keepSmall();
    if (total >= COPIED) {
      bytes = new Uint8Array(bytes); // a Buffer would give a view as its slice
      this.#isCopied = true;
    }
    if (this.#read?.buffer !== bytes.buffer) {
      this.#settle();
      this.#read = { buffer: bytes.buffer, from: this.#pieces.length, bytes: 0 };
    }
    this.#read!.bytes += bytes.length;
    this.#length += bytes.length;
    this.#pieces.push(bytes);
  }

  #keepSmall(): void {
    this.#settled += this.#small.capacity;
    this.#length += this.#small.length;
    this.#pieces.push(this.#small.take());
  }

  /** The last read gives no more pieces. */
  #settle(): void {
    if (this.#read === undefined) return;
    const { buffer, from, bytes } = this.#read;
    this.#read = undefined;
    const mostlyOurs = buffer.byteLength <= 2 * bytes;
    this.#settled += mostlyOurs ? buffer.byteLength : bytes;
    if (mostlyOurs) return;
    for (let i = from; i < this.#pieces.length; i++) this.#pieces[i] = new Uint8Array(this.#pieces[i]!);
  }

  /** Hands over the content as one run, and is empty afterwards. */
  take(): Uint8Array {
    if (this.#small.length > 0) this.#keepSmall();
    const pieces = this.#pieces;
    const bytes = pieces.length === 1 ? pieces[0]! : joined(pieces, this.#length);
    if (this.#isCopied) {
      for (const { buffer } of pieces) if (buffer !== bytes.buffer) (buffer as ArrayBuffer).transfer(0);
    }
    this.clear();
    return bytes;
  }

  /** Holds nothing any more. */
  clear(): void {
    this.#pieces = [];
    this.#length = this.#settled = 0;
    this.#isCopied = false;
    this.#read = undefined;
    this.#small.clear();
  }
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const out = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    out.set(piece, at);
    at += piece.length;
  }
  return out;
}
