/**
 * Keeps equal texts of clients as one string: a mistake in configuration has all proxies of a mesh say the same.
 *
 * @module
 */

/** Distinct texts that are compared with. With 8 kB each they take at most 1 MB, or 2 MB outside Latin-1. */
const KEPT = 128;

/** The texts that came last. */
export class RecentTexts {
  readonly #texts = new Map<string, string>();

  /** Returns the string that was kept for an equal text, or keeps this one. */
  unique(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#texts.set(text, text);
    if (this.#texts.size > KEPT) this.#texts.delete(this.#texts.keys().next().value!);
    return text;
  }
}
