/**
 * Places for questions: how many are answered at a time. An answer is held in memory until its client has taken it.
 *
 * @module
 */

/** Of all clients. */
const AT_ONCE = 8;
/** Of clients with the same identity, so that none keeps the others from asking. */
const AT_ONCE_OF_ONE = 2;

/** How many are taken at a time. */
export interface MostPlaces {
  readonly all: number;
  readonly ofOne: number;
}

/** See the module. */
export class QuestionPlaces {
  readonly #taken = new Map<string, number>();
  readonly #most: MostPlaces;

  /** @param most Default: 8, and 2 of each identity. */
  constructor(most: MostPlaces = { all: AT_ONCE, ofOne: AT_ONCE_OF_ONE }) {
    this.#most = most;
  }

  /**
   * Takes a place.
   *
   * @returns the way to give it back, of which the first call counts; undefined: there is none
   */
  take(identity: string): (() => void) | undefined {
    const own = this.#taken.get(identity) ?? 0;
    const all = this.#taken.values().reduce((sum, count) => sum + count, 0);
    if (own >= this.#most.ofOne || all >= this.#most.all) return undefined;
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
