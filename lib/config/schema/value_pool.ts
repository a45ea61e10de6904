/**
 * Equal values as one: names, addresses and sets of labels repeat within an object and from one to the next.
 *
 * @module
 */
import type { StringMap } from "./json.ts";
import { sameEntries } from "./same_entries.ts";

/** Longer strings rarely repeat. */
const LONGEST = 256;

/** Places for values; a power of two. Of values that fall into one place the last one is known. */
const PLACES = 16_384;

/** Places for the values of one document; the most that a pool begins with. */
const FEW_PLACES = 256;

/** Up to this length a part of a string is a string of its own in V8. */
const ALWAYS_COPIED = 12;

/** The prime of FNV-1a. */
const PRIME = 0x01000193;

/**
 * Values that were seen lately, for the time of one reading.
 *
 * A string that a parser cuts out of a text may keep that whole text alive, so each one that is not known is copied.
 */
export class ValuePool {
  #mask = 0;
  #strings: (string | undefined)[] = [];
  #keys: (string | undefined)[] = [];
  #maps: (StringMap | undefined)[] = [];
  /** Values that may come before the pool gets more places. */
  #room = 0;
  readonly #most: number;

  /**
   * A pool for any number of documents: it begins small, because most changes are one document, and has 16,384 places
   * once many values have come.
   *
   * @param most Places that it may have, a power of two.
   */
  constructor(most = PLACES) {
    this.#most = most;
    this.#begin(Math.min(most, FEW_PLACES));
  }

  /** A pool for one document. */
  static small(): ValuePool {
    return new ValuePool(FEW_PLACES);
  }

  /** Makes places for values; `places` is a power of two. The pool forgets the values that it knew. */
  #begin(places: number): void {
    this.#mask = places - 1;
    this.#room = places < this.#most ? places : Infinity;
    this.#strings = new Array(places).fill(undefined);
    this.#keys = new Array(places).fill(undefined);
    this.#maps = new Array(places).fill(undefined);
  }

  /** A value has come that was not known. */
  #came(): void {
    if (--this.#room < 0) this.#begin(this.#most);
  }

  /** A string with that text: the one that was given for it before, where that is still known. */
  string(text: string): string {
    if (text.length > LONGEST) return copied(text);
    const place = hashOf(text, 0, text.length) & this.#mask;
    const known = this.#strings[place];
    if (known === text) return known;
    this.#came();
    return this.#strings[hashOf(text, 0, text.length) & this.#mask] = copied(text);
  }

  /** The same for a part of a text, which is cut out only where it is not known. */
  part(text: string, start: number, end: number): string {
    if (end - start > LONGEST) return copied(text.slice(start, end));
    const place = hashOf(text, start, end) & this.#mask;
    const known = this.#strings[place];
    if (known !== undefined && isAt(known, text, start, end)) return known;
    this.#came();
    return this.#strings[hashOf(text, start, end) & this.#mask] = copied(text.slice(start, end));
  }

  /** A part of a text as a key of objects; undefined for one that `valid` refuses, which is asked when it is not known. */
  key(text: string, start: number, end: number, valid: (key: string) => boolean): string | undefined {
    const place = hashOf(text, start, end) & this.#mask;
    const known = this.#keys[place];
    if (known !== undefined && isAt(known, text, start, end)) return known;
    const cut = text.slice(start, end);
    if (!valid(cut)) return undefined;
    // The engine keeps one string for each key of objects; with that one they are found fastest.
    const [key] = Object.keys({ [cut]: 0 });
    return this.#keys[place] = key;
  }

  /** A map with these entries in this order, as `string` gives a string. It is shared and must not be changed. */
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

/** A hash of the length and five characters: names that follow one another differ in the last ones or in the middle. */
function hashOf(text: string, start: number, end: number): number {
  const length = end - start;
  if (length === 0) return 0;
  // Written out: this runs for every string of the configuration. Of short strings characters count twice.
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
