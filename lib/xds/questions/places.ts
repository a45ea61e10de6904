/**
 * Places for questions: how many are answered at a time. An answer is held in memory until its client has taken it.
 *
 * @module
 */

/** Of all clients. */
const AT_ONCE = 8;
/** Of clients with the same identity, so that none keeps the others from asking. */
const AT_ONCE_OF_ONE = 2;

/** See the module. */
export class QuestionPlaces {
  readonly #taken = new Map<string, number>();

  /**
   * Takes a place.
   *
   * @returns the way to give it back, of which the first call counts; undefined: there is none
   */
  take(identity: string): (() => void) | undefined {
    const own = this.#taken.get(identity) ?? 0;
    const all = this.#taken.values().reduce((sum, count) => sum + count, 0);
    if (own >= AT_ONCE_OF_ONE || all >= AT_ONCE) return undefined;
    this.#taken.set(identity, own + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const left = this.#taken.get(identity)! - 1;
      if (left === 0) this.#taken.delete(identity);
      else this.#taken.set(identity, left);
    };
  }
}
