/**
 * The end of a start: the memory that reading and analysis took is given back.
 *
 * @module
 */

/** What the end of a start waits for, and asks. */
export interface StartWork {
  /** Resolves when reading and analysis are over. */
  readonly done: () => Promise<void>;
  /** Whether anybody would have to wait for a collection: a proxy that is served, or the end of the program. */
  readonly isBusy: () => boolean;
  readonly giveBack: () => void;
}

/**
 * Gives memory back once, when the work of a start is over. Not where somebody is busy then: proxies would wait for it,
 * and need the memory again.
 */
export async function tidyUp({ done, isBusy, giveBack }: StartWork): Promise<void> {
  await done();
  if (!isBusy()) giveBack();
}
