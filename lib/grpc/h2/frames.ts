/**
 * HTTP/2 frames (RFC 9113, sections 4 and 6): reading them from a byte stream, writing their heads.
 *
 * @module
 */

import { ErrorCode, Flag, FRAME_HEAD, FrameType, MAX_FRAME, PREFACE } from "./constants.ts";

/** A violation that ends the connection with this error code. */
export class ConnectionError extends Error {
  override name = "ConnectionError";
  constructor(readonly code: number, message: string) {
    super(message);
  }
}

/** Writes a frame head; returns the offset after it. */
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

/** A SETTINGS frame. */
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

/** Takes a frame; the payload is a view that is only valid during the call unless it is kept as it is. */
export type OnFrame = (type: number, flags: number, stream: number, payload: Uint8Array) => void;

/** Cuts a byte stream into the preface and frames. */
export class FrameReader {
  #rest: Uint8Array = NOTHING;
  #preface = 0;

  /** The preface has come. */
  get started(): boolean {
    return this.#preface === PREFACE.length;
  }

  /**
   * Takes the next bytes and calls back for each frame that they complete.
   *
   * @throws ConnectionError for bytes that do not begin with the preface, or a frame that is too large
   */
  push(chunk: Uint8Array, onFrame: OnFrame): void {
    let data = chunk;
    if (this.#rest.length > 0) {
      data = new Uint8Array(this.#rest.length + chunk.length);
      data.set(this.#rest);
      data.set(chunk, this.#rest.length);
      this.#rest = NOTHING;
    }
    let at = 0;
    while (this.#preface < PREFACE.length && at < data.length) {
      if (data[at++] !== PREFACE[this.#preface++]) {
        throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, "not an HTTP/2 connection");
      }
    }
    while (data.length - at >= FRAME_HEAD) {
      const length = data[at]! << 16 | data[at + 1]! << 8 | data[at + 2]!;
      if (length > MAX_FRAME) {
        throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, `a frame of ${length} bytes, limit ${MAX_FRAME}`);
      }
      const end = at + FRAME_HEAD + length;
      if (end > data.length) break;
      const stream = (data[at + 5]! & 127) * 0x1000000 + (data[at + 6]! << 16 | data[at + 7]! << 8 | data[at + 8]!);
      onFrame(data[at + 3]!, data[at + 4]!, stream, data.subarray(at + FRAME_HEAD, end));
      at = end;
    }
    if (at < data.length) this.#rest = data.slice(at);
  }
}
