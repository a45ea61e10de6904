/**
 * Bytes that arrive in pieces, copied together.
 *
 * Kept bytes must be copied: a piece of one byte is a view of the buffer that the socket read into, and keeping the
 * view would keep 16 kB and more. The buffer grows by doubling, so that its size is at most twice the content (but at
 * least 64 bytes).
 *
 * @module
 */

const SMALLEST = 64;
const NOTHING = new Uint8Array(0);

/** Bytes so far, and room for more. */
export class GrowingBuffer {
  #buffer = NOTHING;
  /** Bytes held. */
  length = 0;

  /** Bytes of memory in use. */
  get capacity(): number {
    return this.#buffer.length;
  }

  /** The content as a view. The next {@linkcode GrowingBuffer.append} may empty the view. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.length);
  }

  /**
   * Adds a copy of the bytes.
   *
   * @param total the final length, if known: the buffer does not grow beyond
   */
  append(bytes: Uint8Array, total = Infinity): void {
    const needed = this.length + bytes.length;
    if (needed > this.#buffer.length) {
      const doubled = Math.max(SMALLEST, 2 * this.#buffer.length);
      const size = total <= 2 * needed ? total : Math.max(needed, Math.min(doubled, total));
      // The former memory is freed at once, and only the new part is zeroed: 60 instead of 71 us of CPU for 90 kB in
      // pieces of 16 kB.
      this.#buffer = this.length === 0 ? new Uint8Array(size) : new Uint8Array(this.#buffer.buffer.transfer(size));
    }
    this.#buffer.set(bytes, this.length);
    this.length = needed;
  }

  /** Hands over the content, and is empty afterwards. */
  take(): Uint8Array {
    const { bytes } = this;
    this.clear();
    return bytes;
  }

  /** Holds nothing any more. */
  clear(): void {
    this.#buffer = NOTHING;
    this.length = 0;
  }
}
