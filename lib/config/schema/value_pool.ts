/**
 * Equal values as one: names, addresses and sets of labels repeat within an object and from one to the next.
 *
 * @module
 */

import type { StringMap } from "../kinds/common/types.ts";

/** Longer strings rarely repeat. */
const LONGEST = 256;

/** Places for values; a power of two. Of values that fall into one place the last one is known. */
const PLACES = 16_384;

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
  readonly #strings: (string | undefined)[] = new Array(PLACES).fill(undefined);
  readonly #maps: (StringMap | undefined)[] = new Array(PLACES).fill(undefined);

  /** A string with that text: the one that was given for it before, where that is still known. */
  string(text: string): string {
    if (text.length > LONGEST) return JSON.parse(JSON.stringify(text));
    const place = placeOf(text);
    const known = this.#strings[place];
    if (known === text) return known;
    const copy: string = text.length <= ALWAYS_COPIED ? text : JSON.parse(JSON.stringify(text));
    this.#strings[place] = copy;
    return copy;
  }

  /** A map with these entries in this order, as `string` gives a string. It is shared and must not be changed. */
  map(entries: StringMap): StringMap {
    let place = 0;
    for (const key in entries) place = (31 * place + placeOf(entries[key]!)) & (PLACES - 1);
    const known = this.#maps[place];
    if (known !== undefined && sameEntries(known, entries)) return known;
    this.#maps[place] = entries;
    return entries;
  }
}

/** A place from the length and five characters: names that follow one another differ in the last ones or in the middle. */
function placeOf(text: string): number {
  const { length } = text;
  // Written out: this runs for every string of the configuration.
  let hash = Math.imul(length ^ text.charCodeAt(length - 1), PRIME);
  hash = Math.imul(hash ^ text.charCodeAt(length - 2), PRIME);
  hash = Math.imul(hash ^ text.charCodeAt(length - 3), PRIME);
  hash = Math.imul(hash ^ text.charCodeAt(length >> 1), PRIME);
  hash = Math.imul(hash ^ text.charCodeAt(length >> 2), PRIME);
  return (hash ^ (hash >>> 15)) & (PLACES - 1);
}

function sameEntries(a: StringMap, b: StringMap): boolean {
  let count = 0;
  for (const key in a) {
    if (a[key] !== b[key]) return false;
    count++;
  }
  for (const _ in b) count--;
  return count === 0;
}
