/**
 * The connections whose large messages may come at a time.
 *
 * After a restart of the network, each node tunnel of a mesh reports all resources that it has, in a message of
 * megabytes. If all messages came side by side, the server would hold all of them before the first is complete. So a
 * few connections at a time send on, and the windows of the others stay shut after the first quarter of a MiB.
 *
 *     small ──more bytes──> waiting ──a place is free──> entered ──message complete──> small
 *                                                           └──too slow──> late (takes no place)
 *
 * A slow client takes a place only for a moment, so that it cannot keep the others waiting: between two sweeps at least
 * an eighth of its bytes must come. What late connections hold is limited by the limits of all held bytes.
 *
 * @module
 */

/** Bytes of incomplete messages up to which a connection needs no place. */
export const SMALL = 64 * 1024;

/** Bytes of the messages that connections with a place may bring, in all. */
export const LARGE_IN_ALL = 16 * 1024 * 1024;

/** Bytes of complete large messages after which the memory that they came in is worth a collection. */
export const GARBAGE = 8 * 1024 * 1024;

/** The part of its bytes that a connection must bring between two sweeps, while others wait. */
const PROGRESS = 1 / 8;

/** A connection's incomplete messages. */
export interface MessageSource {
  /** Bytes held for them. */
  readonly ofMessages: number;
  /** Bytes held when all incomplete messages are complete. */
  readonly expected: number;
  /** Called when the connection has waited and may go on. */
  onTurn: (() => void) | undefined;
}

/** The places for large messages. */
export class LargeMessages {
  readonly #limit: number;
  readonly #waiting = new Set<MessageSource>();
  /** The expected bytes of connections with a place, and the bytes at the last sweep; undefined: no sweep yet. */
  readonly #entered = new Map<MessageSource, { readonly bytes: number; atSweep: number | undefined }>();
  readonly #late = new Set<MessageSource>();
  #bytes = 0;
  readonly #onGarbage: () => void;
  #garbage = 0;

  /**
   * @param limit bytes of the messages that may come at a time; default 16 MiB. One message may always come.
   * @param onGarbage called each time that so many bytes of large messages are over ({@linkcode GARBAGE})
   */
  constructor(limit = LARGE_IN_ALL, onGarbage: () => void = () => {}) {
    this.#limit = limit;
    this.#onGarbage = onGarbage;
  }

  /** Whether the connection must not send on. */
  waits(source: MessageSource): boolean {
    return this.#waiting.has(source);
  }

  /** The bytes of a connection have changed. */
  changed(source: MessageSource): void {
    if (source.ofMessages <= SMALL) this.#leave(source);
    else if (!this.#entered.has(source) && !this.#late.has(source)) this.#waiting.add(source);
    else return;
    this.#enter();
  }

  /** Takes the places of slow connections away, if others wait. Called about once a second. */
  sweep(): void {
    if (this.#waiting.size === 0) return;
    for (const [source, place] of this.#entered) {
      const { bytes, atSweep } = place;
      place.atSweep = source.ofMessages;
      if (atSweep === undefined || source.ofMessages - atSweep >= PROGRESS * bytes) continue;
      this.#giveUpPlace(source);
      this.#late.add(source);
    }
    this.#enter();
  }

  #leave(source: MessageSource): void {
    this.#waiting.delete(source);
    this.#late.delete(source);
    this.#giveUpPlace(source);
  }

  #giveUpPlace(source: MessageSource): void {
    const place = this.#entered.get(source);
    if (place === undefined) return;
    this.#bytes -= place.bytes;
    this.#entered.delete(source);
    this.#garbage += place.bytes;
    if (this.#garbage < GARBAGE) return;
    this.#garbage = 0;
    this.#onGarbage();
  }

  #enter(): void {
    for (const source of this.#waiting) {
      const { expected: bytes } = source;
      if (this.#entered.size > 0 && this.#bytes + bytes > this.#limit) return;
      this.#waiting.delete(source);
      this.#bytes += bytes;
      this.#entered.set(source, { bytes, atSweep: undefined });
      source.onTurn?.();
    }
  }
}
