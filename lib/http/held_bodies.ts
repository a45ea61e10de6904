/**
 * The memory that a server spends on bodies of requests that have not come whole. When all together are too large, the
 * one that has been coming longest is given up: a body that comes without a pause is there within a moment, so that
 * clients that send theirs slowly, however many, do not keep others from sending.
 *
 * @module
 */

/** A body of which a part has come. */
export class HeldBody {
  bytes = 0;
  readonly #all: HeldBodies;
  readonly #giveUp: () => void;

  constructor(all: HeldBodies, giveUp: () => void) {
    this.#all = all;
    this.#giveUp = giveUp;
  }

  /** This many bytes have come. */
  add(bytes: number): void {
    this.#all.add(this, bytes);
  }

  /** It is whole, refused, or not waited for any more. */
  release(): void {
    this.#all.release(this);
  }

  /** Has its connection closed. */
  giveUp(): void {
    this.release();
    this.#giveUp();
  }
}

export class HeldBodies {
  /** The one that has been coming longest comes first. */
  readonly #bodies = new Set<HeldBody>();
  readonly #limit: number;
  #bytes = 0;

  /** @param limit bytes of all bodies together */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes that are held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A body begins to come; `giveUp` closes its connection. */
  begin(giveUp: () => void): HeldBody {
    const body = new HeldBody(this, giveUp);
    this.#bodies.add(body);
    return body;
  }

  /** More of a body has come; nothing is held of one that was given up. */
  add(body: HeldBody, bytes: number): void {
    if (!this.#bodies.has(body)) return;
    body.bytes += bytes;
    this.#bytes += bytes;
    for (const oldest of this.#bodies) {
      if (this.#bytes <= this.#limit) return;
      oldest.giveUp();
    }
  }

  /** A body is held no longer. */
  release(body: HeldBody): void {
    if (this.#bodies.delete(body)) this.#bytes -= body.bytes;
  }
}
