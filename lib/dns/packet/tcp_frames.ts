/**
 * Messages over TCP, each after its length (RFC 1035, 4.2.2).
 *
 * @module
 */
import { setUint16, uint16 } from "./wire.ts";

/** Finds messages in a stream of parts of any size. */
export class FrameParser {
  #buffer: Uint8Array = new Uint8Array(0);
  #start = 0;
  #end = 0;

  /** Takes a part of the stream. A part that is needed for longer is copied. */
  push(part: Uint8Array): void {
    const rest = this.#end - this.#start;
    if (rest === 0) {
      this.#buffer = part;
      this.#start = 0;
      this.#end = part.length;
      return;
    }
    const joined = new Uint8Array(rest + part.length);
    joined.set(this.#buffer.subarray(this.#start, this.#end));
    joined.set(part, rest);
    this.#buffer = joined;
    this.#start = 0;
    this.#end = joined.length;
  }

  /** The next complete message, as a view that is valid until the next push. Undefined: there is none. */
  next(): Uint8Array | undefined {
    if (this.#end - this.#start < 2) return undefined;
    const from = this.#start + 2;
    const to = from + uint16(this.#buffer, this.#start);
    if (to > this.#end) return undefined;
    this.#start = to;
    return this.#buffer.subarray(from, to);
  }
}

/** A message with its length in front. */
export function frame(message: Uint8Array): Uint8Array {
  const framed = new Uint8Array(message.length + 2);
  setUint16(framed, 0, message.length);
  framed.set(message, 2);
  return framed;
}
