/**
 * Places for questions: how many are answered at a time. An answer is held in memory until its client has taken it.
 *
 * @module
 */

/** Of all clients. */
const AT_ONCE = 8;
/** Of clients with the same identity, so that none keeps the others from asking. */
const AT_ONCE_OF_ONE = 2;
/** Of clients that see their own proxies alone: workloads, of which there are many, do not keep operators from asking. */
const AT_ONCE_CONFINED = 4;

/** How many are taken at a time. */
export interface MostPlaces {
  readonly all: number;
  readonly ofOne: number;
  /** Of all clients that are confined to their own resources. */
  readonly confined: number;
}

export class QuestionPlaces {
  readonly #taken = new Map<string, number>();
  #all = 0;
  #confined = 0;
  readonly #most: MostPlaces;

  /** @param most Default: 8, 2 of each identity, 4 of those that are confined. */
  constructor(most: MostPlaces = { all: AT_ONCE, ofOne: AT_ONCE_OF_ONE, confined: AT_ONCE_CONFINED }) {
    this.#most = most;
  }

  /**
   * Takes a place.
   *
   * @param isConfined the client sees its own resources alone
   * @returns the way to give it back, of which the first call counts; undefined: there is none
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
