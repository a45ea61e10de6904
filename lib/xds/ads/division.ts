/**
 * The search for a rejected resource that the client did not name: the resources are sent again in smaller responses.
 *
 *     off ── a rejection names nothing ──> dividing ── each rejection halves the portion
 *      ^                                      │        each acknowledgement doubles it
 *      └── nothing is left to send, ──────────┘
 *          or the whole response is held
 *
 * Invariants: `portion` is finite while the search is on, and infinite while it is off. A search ends after
 * {@linkcode MAX_STEPS} rejections, so that a client which rejects everything is not asked for ever.
 *
 * @module
 */

/** Most rejections in one search. */
const MAX_STEPS = 200;

export class Division {
  #portion = Infinity;
  #steps = 0;

  /** Most bytes of resources in one response. */
  get portion(): number {
    return this.#portion;
  }

  get isOn(): boolean {
    return this.#portion !== Infinity;
  }

  /** Whether one more rejection may lead to one more response. */
  get mayGoOn(): boolean {
    return this.#steps < MAX_STEPS;
  }

  /** Takes a rejection. @param bytes of the rejected response, where halves of the response may be sent */
  rejected(bytes: number | undefined): void {
    if (bytes !== undefined) this.#portion = bytes / 2;
    if (this.isOn) this.#steps++;
  }

  /** Takes an acknowledgement. @param isAll whether nothing is left to send */
  acknowledged(isAll: boolean): void {
    this.#portion *= 2;
    if (isAll) this.end();
  }

  end(): void {
    this.#portion = Infinity;
    this.#steps = 0;
  }
}
