/**
 * Places for questions: the number of answers at a time. An answer is held in memory until the client has taken it.
 *
 * @module
 */

/** Places of all clients. */
const AT_ONCE = 8;
/** Places of clients with the same identity, so that no identity keeps others from asking. */
const AT_ONCE_OF_ONE = 2;
/**
 * Places of clients with access only to their own proxies. Such clients are the many workloads, and must not keep
 * operators from asking.
 */
const AT_ONCE_CONFINED = 4;

/** Most places taken at a time. */
export interface MostPlaces {
  readonly all: number;
  readonly ofOne: number;
  /** Of all clients with access only to their own resources. */
  readonly confined: number;
}

export class QuestionPlaces {
  readonly #taken = new Map<string, number>();
  #all = 0;
  #confined = 0;
  readonly #most: MostPlaces;

  /** @param most Default: 8 in all, 2 of each identity, 4 of confined clients. */
  constructor(most: MostPlaces = { all: AT_ONCE, ofOne: AT_ONCE_OF_ONE, confined: AT_ONCE_CONFINED }) {
    this.#most = most;
  }

  /**
   * Takes a place.
   *
   * @param isConfined the client sees only its own resources
   * @returns a function that gives the place back at its first call; undefined: no place is free
   */
  take(identity: string, isConfined: boolean): (() => void) | undefined {
    const { all, ofOne, confined } = this.#most;
    const own = this.#taken.get(identity) ?? 0;
    if (own >= ofOne || this.#all >= all || (isConfined && this.#confined >= confined)) return undefined;
    const count = (by: 1 | -1) => {
      this.#all += by;
      if (isConfined) this.#confined += by;
      const left = (this.#taken.get(identity) ?? 0) + by;
      if (left === 0) this.#taken.delete(identity);
      else this.#taken.set(identity, left);
    };
    count(1);
    let isTaken = true;
    return () => {
      if (isTaken) count(-1);
      isTaken = false;
    };
  }
}
