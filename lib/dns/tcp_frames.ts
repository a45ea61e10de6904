/**
 * Messages over TCP: each with its length before it (RFC 1035, 4.2.2).
 *
 * Permissions: none.
 *
 * @module
 */
import { MAX_TCP_SIZE, setUint16, uint16 } from "./packet/wire.ts";

/** What frames are read from and written to. */
export interface ByteStream {
  read(into: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
}

/** Reads messages one by one; bytes beyond a message are kept for the next. */
export class FrameReader {
  #buffer = new Uint8Array(1024);
  #start = 0;
  #end = 0;

  constructor(private readonly stream: ByteStream) {}

  /** The next message, a view that holds until the next call; undefined at the end of the stream. */
  async next(): Promise<Uint8Array | undefined> {
    if (!await this.#fill(2)) return undefined;
    const length = uint16(this.#buffer, this.#start);
    if (!await this.#fill(2 + length)) return undefined;
    const at = this.#start + 2;
    this.#start = at + length;
    return this.#buffer.subarray(at, at + length);
  }

  /** Whether a part of a message is there already. */
  get started(): boolean {
    return this.#end > this.#start;
  }

  async #fill(wanted: number): Promise<boolean> {
    while (this.#end - this.#start < wanted) {
      this.#makeRoom(wanted);
      const count = await this.stream.read(this.#buffer.subarray(this.#end));
      if (count === null) return false;
      this.#end += count;
    }
    return true;
  }

  #makeRoom(wanted: number): void {
    if (this.#start + wanted <= this.#buffer.length) return;
    const rest = this.#buffer.subarray(this.#start, this.#end);
    const grown = wanted > this.#buffer.length
      ? new Uint8Array(Math.min(MAX_TCP_SIZE + 2, Math.max(wanted, this.#buffer.length * 2)))
      : this.#buffer;
    if (grown === this.#buffer) grown.copyWithin(0, this.#start, this.#end);
    else grown.set(rest);
    this.#end = rest.length;
    this.#start = 0;
    this.#buffer = grown;
  }
}

/** A message with its length before it. */
export function frame(message: Uint8Array): Uint8Array {
  const framed = new Uint8Array(message.length + 2);
  setUint16(framed, 0, message.length);
  framed.set(message, 2);
  return framed;
}

/** Writes all bytes. */
export async function writeAll(stream: ByteStream, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await stream.write(bytes.subarray(at));
}
