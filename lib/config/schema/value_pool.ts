/**
 * Makes equal values one: names, addresses and sets of labels repeat within an object and between objects.
 *
 * @module
 */
import type { StringMap } from "./json.ts";
import { sameEntries } from "./same_entries.ts";

/** Longer strings rarely repeat. */
const LONGEST = 256;

/** Places for values; a power of two. If several values share a place, the pool knows the last value. */
const PLACES = 16_384;

/** Places for the values of one document; a pool's first size at most. */
const FEW_PLACES = 256;

/** Up to this length V8 copies a part of a string. */
const ALWAYS_COPIED = 12;

/** The prime of FNV-1a. */
const PRIME = 0x01000193;

/**
 * Recent values, during one reading.
 *
 * A string cut out of a text by a parser may keep the whole text alive, so each unknown string is copied.
 */
export class ValuePool {
  #mask = 0;
  #strings: (string | undefined)[] = [];
  #keys: (string | undefined)[] = [];
  #maps: (StringMap | undefined)[] = [];
  /** Number of new values until the pool grows. */
  #room = 0;
  readonly #most: number;

  /**
   * A pool for any number of documents. The pool begins small, because most changes are one document, and grows to
   * 16,384 places after many values.
   *
   * @param most Most places, a power of two.
   */
  constructor(most = PLACES) {
    this.#most = most;
    this.#begin(Math.min(most, FEW_PLACES));
  }

  /** A pool for one document. */
  static small(): ValuePool {
    return new ValuePool(FEW_PLACES);
  }

  /** Makes places for values; `places` is a power of two. The pool forgets all known values. */
  #begin(places: number): void {
    this.#mask = places - 1;
    this.#room = places < this.#most ? places : Infinity;
    this.#strings = new Array(places).fill(undefined);
    this.#keys = new Array(places).fill(undefined);
    this.#maps = new Array(places).fill(undefined);
  }

  /** Counts a new value. */
  #came(): void {
    if (--this.#room < 0) this.#begin(this.#most);
  }

  /** A string with this text: the earlier string if the pool still knows it. */
  string(text: string): string {
    if (text.length > LONGEST) return copied(text);
    const place = hashOf(text, 0, text.length) & this.#mask;
    const known = this.#strings[place];
    if (known === text) return known;
    this.#came();
    return this.#strings[hashOf(text, 0, text.length) & this.#mask] = copied(text);
  }

  /** Like `string`, for a part of a text. A known part is not cut out. */
  part(text: string, start: number, end: number): string {
    if (end - start > LONGEST) return copied(text.slice(start, end));
    const place = hashOf(text, start, end) & this.#mask;
    const known = this.#strings[place];
    if (known !== undefined && isAt(known, text, start, end)) return known;
    this.#came();
    return this.#strings[hashOf(text, start, end) & this.#mask] = copied(text.slice(start, end));
  }

  /**
   * A part of a text as a key of objects; undefined: `valid` refuses the key. `valid` is called for unknown keys only.
   */
  key(text: string, start: number, end: number, valid: (key: string) => boolean): string | undefined {
    const place = hashOf(text, start, end) & this.#mask;
    const known = this.#keys[place];
    if (known !== undefined && isAt(known, text, start, end)) return known;
    const cut = text.slice(start, end);
    if (!valid(cut)) return undefined;
    // The engine keeps one string for each key of objects, and finds keys fastest by this string.
    const [key] = Object.keys({ [cut]: 0 });
    return this.#keys[place] = key;
  }

  /** A map with these entries in this order, as `string` gives a string. The map is shared and must not be changed. */
  map(entries: StringMap): StringMap {
    let hash = 0;
    for (const key in entries) hash = 31 * hash + hashOf(entries[key]!, 0, entries[key]!.length) | 0;
    const place = hash & this.#mask;
    const known = this.#maps[place];
    if (known !== undefined && sameEntries(known, entries)) return known;
    this.#maps[place] = entries;
    return entries;
  }
}

/** A hash of the length and five characters: successive names differ at the end or in the middle. */
function hashOf(text: string, start: number, end: number): number {
  const length = end - start;
  if (length === 0) return 0;
  // Written out, because this runs for every string of the configuration. In short strings characters count twice.
  let hash = Math.imul(length ^ text.charCodeAt(end - 1), PRIME);
  hash = Math.imul(hash ^ text.charCodeAt(start + ((length - 1) >> 1)), PRIME);
  if (length > 2) {
    hash = Math.imul(hash ^ text.charCodeAt(end - 2), PRIME);
    hash = Math.imul(hash ^ text.charCodeAt(end - 3), PRIME);
    hash = Math.imul(hash ^ text.charCodeAt(start + (length >> 2)), PRIME);
  }
  return hash ^ (hash >>> 15);
}

function isAt(known: string, text: string, start: number, end: number): boolean {
  return known.length === end - start && text.startsWith(known, start);
}

function copied(text: string): string {
  return text.length <= ALWAYS_COPIED ? text : JSON.parse(JSON.stringify(text));
}
