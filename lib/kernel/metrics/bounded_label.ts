/**
 * A label of a metric whose values others choose.
 *
 * @module
 */

/** Values that are shown; a series takes about 150 bytes of a scrape. */
const MOST = 500;
/** UTF-16 units of a value. */
const LONGEST = 256;

/** The first values are shown as they are, later ones as `other`: they are made up without end. */
export class BoundedLabel {
  readonly #shown = new Set<string>();
  readonly #most: number;

  /** @param most values that are shown; default 500 */
  constructor(most: number = MOST) {
    this.#most = most;
  }

  /** The label's value. */
  of(text: string): string {
    const value = text.slice(0, LONGEST);
    if (this.#shown.has(value)) return value;
    if (this.#shown.size >= this.#most) return "other";
    this.#shown.add(value);
    return value;
  }
}
