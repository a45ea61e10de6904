/**
 * Buffers for batches of frames, used again and again: a new array of 64 kB is filled with zeros first, in pages that the
 * system hands out anew, which takes longer than the copying.
 *
 * @module
 */
import { Buffer } from "node:buffer";

/** Bytes of one buffer: the largest batch with the heads of its frames and some control frames. */
const BUFFER = 72 * 1024;

/** Batches below this many bytes get a part of a small array that Node shares out: a fifth of the time of a new one. */
const LEAST = 8 * 1024;

/** Free buffers that are kept: those beyond are the collector's. */
const MOST_FREE = 64;

/** Free buffers of all connections of a server, at most 4.7 MB. */
export class BatchBuffers {
  readonly #free: Uint8Array[] = [];

  /** An array for a batch of that size; what is in it is undefined. */
  take(size: number): Uint8Array {
    if (size < LEAST) return Buffer.allocUnsafe(size);
    if (size > BUFFER) return new Uint8Array(size);
    return (this.#free.pop() ?? new Uint8Array(BUFFER)).subarray(0, size);
  }

  /** Gives an array back that {@linkcode BatchBuffers.take} gave. Nobody may read it any more: not a socket either. */
  giveBack(batch: Uint8Array): void {
    if (batch.buffer.byteLength !== BUFFER || this.#free.length >= MOST_FREE) return;
    this.#free.push(new Uint8Array(batch.buffer as ArrayBuffer));
  }
}
