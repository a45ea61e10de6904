/**
 * Reads the header `x-forwarded-client-cert` by one strict grammar. A header that departs from the grammar anywhere is
 * refused whole: where two readers may disagree about the border of an element, a client could move that border.
 *
 *     header  = element *( OWS "," OWS element )
 *     element = pair *( ";" pair )
 *     pair    = key "=" ( quoted | bare )
 *     quoted  = DQUOTE *( character without DQUOTE, backslash and controls | backslash character ) DQUOTE
 *     bare    = *( visible character without DQUOTE, backslash, ",", ";" and "=" )
 *
 * Format: https://www.envoyproxy.io/docs/envoy/v1.40.0/configuration/http/http_conn_man/headers
 *
 * @module
 */
import { NotAuthenticated } from "./caller.ts";
import { shownText } from "./trust.ts";

/** Longest header that is read, in characters. Chains of certificates that gateways forward have some thousand. */
export const MAX_XFCC_LENGTH = 64 * 1024;

/** Keys in lower case (their case does not count), each with whether one element may have it more than once. */
const KEYS: ReadonlyMap<string, boolean> = new Map([
  ...["by", "uri", "dns"].map((key) => [key, true] as const),
  ...["hash", "cert", "chain", "subject"].map((key) => [key, false] as const),
]);

/** One pair, and the separator behind the pair; an empty separator is the end. */
const PAIR =
  /([A-Za-z]{1,16})=(?:"([^"\\\p{Cc}]*(?:\\\P{Cc}[^"\\\p{Cc}]*)*)"|([^"\\,;=\s\p{Cc}]*))(;|[ \t]*,[ \t]*|$)/uy;

/** The pairs of one element. Keys are in lower case. A quoted value is without its quotes, its backslashes stay. */
export type XfccElement = readonly (readonly [key: string, value: string])[];

/**
 * The elements of a header, in order: each was added by one proxy, the last by the nearest.
 *
 * @throws {NotAuthenticated} naming the place at which the header departs from the grammar, or the key at fault
 */
export function parseXfcc(header: string): readonly XfccElement[] {
  if (header.length > MAX_XFCC_LENGTH) {
    throw new NotAuthenticated(`got a header of ${header.length} characters, expected at most ${MAX_XFCC_LENGTH}`);
  }
  const elements: (readonly [string, string])[][] = [[]];
  for (let at = 0;;) {
    PAIR.lastIndex = at;
    const match = PAIR.exec(header);
    if (match === null) throw departure(header, at);
    const [, name = "", quoted, bare = "", separator = ""] = match;
    add(elements.at(-1)!, name, quoted ?? bare);
    if (separator === "") return elements;
    if (separator !== ";") elements.push([]);
    at = PAIR.lastIndex;
  }
}

function add(element: (readonly [string, string])[], name: string, value: string): void {
  const key = name.toLowerCase();
  const mayRepeat = KEYS.get(key);
  if (mayRepeat === undefined) {
    throw new NotAuthenticated(`got key ${shownText(name)}, expected ${[...KEYS.keys()].join(", ")}`);
  }
  if (!mayRepeat && element.some(([other]) => other === key)) {
    throw new NotAuthenticated(`got key ${shownText(name)} twice in one element`);
  }
  element.push([key, value]);
}

/** Characters of the header that a refusal shows: enough to find the place, too few for a certificate. */
const SHOWN = 40;

function departure(header: string, at: number): NotAuthenticated {
  const got = shownText(header.slice(at, at + SHOWN));
  return new NotAuthenticated(`character ${at + 1}: got ${got}, expected key=value or key="value", closed by ; or ,`);
}
