/**
 * Keeps equal texts of clients as one string: after a mistake in the configuration all proxies of a mesh send the same
 * text.
 *
 * @module
 */

/** Number of kept texts. With 8 kB each, the texts take at most 1 MB, or 2 MB outside Latin-1. */
const KEPT = 128;

/** The latest texts. */
export class RecentTexts {
  readonly #texts = new Map<string, string>();

  /** Returns the kept string that equals the text, or keeps the text. */
  unique(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#texts.set(text, text);
    if (this.#texts.size > KEPT) this.#texts.delete(this.#texts.keys().next().value!);
    return text;
  }
}
