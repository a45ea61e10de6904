/**
 * Header blocks: joins the fragments from HEADERS and CONTINUATION frames, and decodes the blocks (RFC 9113, sections
 * 4.3, 6.2 and 6.10).
 *
 * @module
 */
import { GrowingBuffer } from "../budget/growing_buffer.ts";
import type { RemoteTime } from "../../sockets/patience.ts";
import { ErrorCode, Flag, FrameType } from "./constants.ts";
import { ConnectionError, unpadded, violation } from "./frames.ts";
import { HeaderList } from "./headers.ts";
import { HpackDecoder } from "./hpack.ts";
import type { Nuisances } from "./nuisances.ts";

/** Largest header block and header list of a request, in bytes. */
export const MAX_HEADERS = 32 * 1024;

/** A decoded block. */
export interface HeaderBlock {
  readonly stream: number;
  readonly list: HeaderList;
  /** The client sends nothing more on the stream. */
  readonly ended: boolean;
}

/** The fragments of an unfinished block. */
interface Fragments {
  readonly stream: number;
  readonly flags: number;
  readonly bytes: GrowingBuffer;
  readonly since: number;
}

/** The header blocks of one connection. Decoding a block changes the table for the next block. */
export class HeaderBlocks {
  readonly #hpack = new HpackDecoder();
  readonly #nuisances: Nuisances;
  readonly #time: RemoteTime;
  #fragments: Fragments | undefined;

  constructor(nuisances: Nuisances, time: RemoteTime) {
    this.#nuisances = nuisances;
    this.#time = time;
  }

  /** When the unfinished block began; undefined: between blocks. */
  get insideSince(): number | undefined {
    return this.#fragments?.since;
  }

  /** @throws ConnectionError for a frame that may not come inside the present block */
  check(type: number, stream: number): void {
    const inside = this.#fragments;
    if (inside !== undefined && (type !== FrameType.CONTINUATION || stream !== inside.stream)) {
      throw violation("a header block is interrupted");
    }
  }

  /** Takes a HEADERS frame; returns a whole block. */
  headers(flags: number, stream: number, payload: Uint8Array): HeaderBlock | undefined {
    let bytes = unpadded(payload, flags);
    if (flags & Flag.PRIORITY) {
      if (bytes.length < 5) throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, "HEADERS");
      bytes = bytes.subarray(5);
    }
    if (stream % 2 === 0) throw violation(`HEADERS on stream ${stream}`);
    if (flags & Flag.END_HEADERS) return this.#decode(stream, flags, bytes);
    this.#fragments = { stream, flags, bytes: new GrowingBuffer(), since: this.#time.now };
    this.#fragments.bytes.append(bytes, MAX_HEADERS);
    return undefined;
  }

  /** Takes a CONTINUATION frame; returns the block at its end. */
  continuation(flags: number, payload: Uint8Array): HeaderBlock | undefined {
    const fragments = this.#fragments;
    if (fragments === undefined) throw violation("CONTINUATION without HEADERS");
    if (payload.length === 0) this.#nuisances.add();
    if (fragments.bytes.length + payload.length > MAX_HEADERS) {
      throw new ConnectionError(ErrorCode.ENHANCE_YOUR_CALM, "header block too large");
    }
    fragments.bytes.append(payload, MAX_HEADERS);
    if ((flags & Flag.END_HEADERS) === 0) return undefined;
    this.#fragments = undefined;
    return this.#decode(fragments.stream, fragments.flags, fragments.bytes.bytes);
  }

  #decode(stream: number, flags: number, bytes: Uint8Array): HeaderBlock {
    const list = new HeaderList(MAX_HEADERS);
    this.#hpack.decode(bytes, list);
    return { stream, list, ended: (flags & Flag.END_STREAM) !== 0 };
  }
}
