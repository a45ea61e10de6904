/**
 * The memory for unfinished bodies of requests. When all bodies together are too large, the oldest unfinished body is
 * given up. A body sent without a pause is complete within a moment. So slow clients, however many, do not keep others
 * from sending.
 *
 * @module
 */

/** An unfinished body. */
export class HeldBody {
  bytes = 0;
  readonly #all: HeldBodies;
  readonly #giveUp: () => void;

  constructor(all: HeldBodies, giveUp: () => void) {
    this.#all = all;
    this.#giveUp = giveUp;
  }

  /** More bytes have come. */
  add(bytes: number): void {
    this.#all.add(this, bytes);
  }

  /** The body is complete or refused, or nobody waits for the rest. */
  release(): void {
    this.#all.release(this);
  }

  /** Closes the connection of the body. */
  giveUp(): void {
    this.release();
    this.#giveUp();
  }
}

export class HeldBodies {
  /** Unfinished bodies, the oldest first. */
  readonly #bodies = new Set<HeldBody>();
  readonly #limit: number;
  #bytes = 0;

  /** @param limit bytes of all bodies together */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Number of held bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A body begins to come. `giveUp` closes the connection. */
  begin(giveUp: () => void): HeldBody {
    const body = new HeldBody(this, giveUp);
    this.#bodies.add(body);
    return body;
  }

  /** More of a body has come. After giving a body up, nothing of it is held. */
  add(body: HeldBody, bytes: number): void {
    if (!this.#bodies.has(body)) return;
    body.bytes += bytes;
    this.#bytes += bytes;
    for (const oldest of this.#bodies) {
      if (this.#bytes <= this.#limit) return;
      oldest.giveUp();
    }
  }

  /** A body is no longer held. */
  release(body: HeldBody): void {
    if (this.#bodies.delete(body)) this.#bytes -= body.bytes;
  }
}
