/**
 * Equal values as one: names, addresses and sets of labels repeat within an object and from one to the next.
 *
 * @module
 */

/** Longer strings rarely repeat. */
const LONGEST = 256;

/** Most values of each form that are known at a time. */
const MOST = 1_000_000;

/**
 * Values that were seen, for the time of one reading.
 *
 * A string that a parser cuts out of a text may keep that whole text alive (V8 does so from 13 characters on), so each
 * new one is copied.
 */
export class ValuePool {
  readonly #strings = new Map<string, string>();
  readonly #maps = new Map<string, Readonly<Record<string, string>>>();

  /** The one string with that text. */
  string(text: string): string {
    if (text.length > LONGEST) return text;
    const known = this.#strings.get(text);
    if (known !== undefined) return known;
    if (this.#strings.size >= MOST) this.#strings.clear();
    const copy = text.length < 13 ? text : JSON.parse(JSON.stringify(text));
    this.#strings.set(copy, copy);
    return copy;
  }

  /** The one map with these entries in this order. It is shared: nobody may change it. */
  map(entries: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    let text = "";
    for (const key in entries) text += `${key}\0${entries[key]}\0`;
    if (text.length > LONGEST) return entries;
    const known = this.#maps.get(text);
    if (known !== undefined) return known;
    if (this.#maps.size >= MOST) this.#maps.clear();
    this.#maps.set(text, entries);
    return entries;
  }
}
