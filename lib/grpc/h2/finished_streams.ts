/**
 * Memory of streams that are over, so that late frames are judged rightly: a frame that was on its way when we closed
 * the stream is ignored, a frame after the client's own end of the stream is an error (RFC 9113, section 5.1).
 *
 * @module
 */

/** Streams remembered; a client that breaks the rule does so soon after, and ignoring the rest does no harm. */
const REMEMBERED = 100;

/** The last streams of one connection that are over. */
export class FinishedStreams {
  readonly #ended = new Uint32Array(REMEMBERED);
  #next = 0;
  /** Streams that ended without a reset of the client, each of which it may still reset once. */
  #resettable = 0;

  /**
   * A stream is over.
   *
   * @param ended its client had sent END_STREAM
   * @param reset its client has reset it
   */
  add(id: number, ended: boolean, reset: boolean): void {
    if (!reset) this.#resettable++;
    if (ended || reset) this.#remember(id);
  }

  /** Whether the client had ended the stream itself; false of older ones. */
  endedByClient(id: number): boolean {
    return this.#ended.includes(id);
  }

  /**
   * A client resets a stream that is over, as many do with every call that they are done with.
   *
   * @returns false when it has reset more streams than there were
   */
  reset(id: number): boolean {
    if (this.#resettable === 0) return false;
    this.#resettable--;
    this.#remember(id);
    return true;
  }

  #remember(id: number): void {
    this.#ended[this.#next] = id;
    this.#next = (this.#next + 1) % REMEMBERED;
  }
}
