/**
 * HTTP/2 frames (RFC 9113, sections 4 and 6): reads frames from a byte stream, and writes frame heads.
 *
 * @module
 */
import { GrowingBuffer } from "../budget/growing_buffer.ts";
import { ErrorCode, Flag, FRAME_HEAD, FrameType, MAX_FRAME, PREFACE } from "./constants.ts";

/** A violation that ends the connection with an error code. */
export class ConnectionError extends Error {
  override name = "ConnectionError";
  constructor(readonly code: number, message: string) {
    super(message);
  }
}

/** A violation of the protocol in general. */
export function violation(what: string): ConnectionError {
  return new ConnectionError(ErrorCode.PROTOCOL_ERROR, what);
}

/** Writes a frame head, and returns the offset after the head. */
export function putHead(
  out: Uint8Array,
  at: number,
  length: number,
  type: number,
  flags: number,
  stream: number,
): number {
  out[at] = length >>> 16;
  out[at + 1] = length >>> 8;
  out[at + 2] = length;
  out[at + 3] = type;
  out[at + 4] = flags;
  out[at + 5] = stream >>> 24;
  out[at + 6] = stream >>> 16;
  out[at + 7] = stream >>> 8;
  out[at + 8] = stream;
  return at + FRAME_HEAD;
}

/** A whole frame. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array = NOTHING): Uint8Array {
  const out = new Uint8Array(FRAME_HEAD + payload.length);
  out.set(payload, putHead(out, 0, payload.length, type, flags, stream));
  return out;
}

/** A frame whose payload is 32-bit numbers. */
export function numberFrame(type: number, stream: number, ...numbers: number[]): Uint8Array {
  const payload = new Uint8Array(4 * numbers.length);
  numbers.forEach((number, i) => new DataView(payload.buffer).setUint32(4 * i, number));
  return frame(type, 0, stream, payload);
}

export function settingsFrame(settings: Readonly<Record<number, number>>): Uint8Array {
  const entries = Object.entries(settings);
  const payload = new Uint8Array(6 * entries.length);
  const view = new DataView(payload.buffer);
  entries.forEach(([id, value], i) => {
    view.setUint16(6 * i, Number(id));
    view.setUint32(6 * i + 2, value);
  });
  return frame(FrameType.SETTINGS, 0, 0, payload);
}

const NOTHING = new Uint8Array(0);

/** The payload of DATA or HEADERS without padding (section 6.1). */
export function unpadded(payload: Uint8Array, flags: number): Uint8Array {
  if ((flags & Flag.PADDED) === 0) return payload;
  const padding = payload[0];
  if (padding === undefined || padding >= payload.length) {
    throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, "padding longer than its frame");
  }
  return payload.subarray(1, payload.length - padding);
}

/** Cuts a byte stream into the preface and frames, one at a time. */
export class FrameReader {
  /** The frame found by {@linkcode FrameReader.next}. */
  type = 0;
  flags = 0;
  stream = 0;
  /**
   * A view of the bytes read by the socket. The bytes never change. Keeping the view keeps the whole read in memory.
   */
  payload: Uint8Array = NOTHING;
  #chunk: Uint8Array = NOTHING;
  #at = 0;
  #later: Uint8Array[] = [];
  readonly #partial = new GrowingBuffer();
  #preface: number;

  /** @param fromServer reads the stream of a server, without a preface; default: the stream of a client */
  constructor(fromServer = false) {
    this.#preface = fromServer ? PREFACE.length : 0;
  }

  /** The preface has come. */
  get started(): boolean {
    return this.#preface === PREFACE.length;
  }

  /** Unread bytes are left. */
  get unread(): boolean {
    return this.#at < this.#chunk.length || this.#later.length > 0;
  }

  /** All received bytes were read, and they end within a frame. */
  get insideFrame(): boolean {
    return this.#partial.length > 0 && !this.unread;
  }

  /** Adds the next bytes. */
  push(chunk: Uint8Array): void {
    if (this.unread) {
      this.#later.push(chunk);
    } else {
      this.#chunk = chunk;
      this.#at = 0;
    }
  }

  /**
   * Reads the next frame into the fields above; false: no whole frame has come.
   *
   * @throws ConnectionError for bytes without the preface, or a frame that is too large
   */
  next(): boolean {
    while (this.#more()) {
      if (!this.started) this.#readPreface();
      else if (this.#partial.length > 0 ? this.#complete() : this.#whole()) return true;
    }
    this.payload = NOTHING;
    return false;
  }

  /** Whether bytes are left. Steps to the next chunk at the end of a chunk. */
  #more(): boolean {
    if (this.#at < this.#chunk.length) return true;
    // A used-up chunk must not be kept until the next chunk comes.
    this.#chunk = this.#later.shift() ?? NOTHING;
    this.#at = 0;
    return this.#chunk.length > 0;
  }

  #readPreface(): void {
    while (!this.started && this.#at < this.#chunk.length) {
      if (this.#chunk[this.#at++] !== PREFACE[this.#preface++]) {
        throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, "not an HTTP/2 connection");
      }
    }
  }

  /** Reads a frame that lies whole in the chunk. The beginning of an incomplete frame is kept. */
  #whole(): boolean {
    const left = this.#chunk.length - this.#at;
    const size = left < FRAME_HEAD ? FRAME_HEAD : FRAME_HEAD + payloadLength(this.#chunk, this.#at);
    if (left < size) {
      this.#keep(left, size);
      return false;
    }
    this.#set(this.#chunk.subarray(this.#at, this.#at += size));
    return true;
  }

  /** Continues a frame whose beginning came before. */
  #complete(): boolean {
    const partial = this.#partial;
    if (partial.length < FRAME_HEAD) {
      this.#keep(FRAME_HEAD - partial.length, FRAME_HEAD);
      if (partial.length < FRAME_HEAD) return false;
    }
    const size = FRAME_HEAD + payloadLength(partial.bytes, 0);
    this.#keep(size - partial.length, size);
    if (partial.length < size) return false;
    this.#set(partial.take());
    return true;
  }

  #keep(wanted: number, size: number): void {
    const to = Math.min(this.#chunk.length, this.#at + wanted);
    this.#partial.append(this.#chunk.subarray(this.#at, to), size);
    this.#at = to;
  }

  #set(bytes: Uint8Array): void {
    this.type = bytes[3]!;
    this.flags = bytes[4]!;
    this.stream = (bytes[5]! & 127) * 0x1000000 + (bytes[6]! << 16 | bytes[7]! << 8 | bytes[8]!);
    this.payload = bytes.subarray(FRAME_HEAD);
  }
}

/** @throws ConnectionError for a frame above the accepted size */
function payloadLength(bytes: Uint8Array, at: number): number {
  const length = bytes[at]! << 16 | bytes[at + 1]! << 8 | bytes[at + 2]!;
  if (length > MAX_FRAME) {
    throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, `a frame of ${length} bytes, limit ${MAX_FRAME}`);
  }
  return length;
}
