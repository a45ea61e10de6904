/**
 * Reads the header `x-forwarded-client-cert` by one strict grammar. A header that departs from the grammar anywhere is
 * refused as a whole: a client could exploit any disagreement between readers about the border of an element.
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

/** Most characters of a header. Chains of certificates from gateways have some thousand characters. */
export const MAX_XFCC_LENGTH = 64 * 1024;

/** Keys in lower case (the header's case is ignored), and whether an element may repeat the key. */
const KEYS: ReadonlyMap<string, boolean> = new Map([
  ...["by", "uri", "dns"].map((key) => [key, true] as const),
  ...["hash", "cert", "chain", "subject"].map((key) => [key, false] as const),
]);

/** A pair, and the separator behind the pair. An empty separator is the end. */
const PAIR =
  /([A-Za-z]{1,16})=(?:"([^"\\\p{Cc}]*(?:\\\P{Cc}[^"\\\p{Cc}]*)*)"|([^"\\,;=\s\p{Cc}]*))(;|[ \t]*,[ \t]*|$)/uy;

/** The pairs of one element. Keys are in lower case. A quoted value has lost its quotes; its backslashes stay. */
export type XfccElement = readonly (readonly [key: string, value: string])[];

/**
 * The elements of a header, in order. Each proxy adds an element; the nearest proxy added the last.
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

/** Characters of the header in a refusal: enough to find the place, too few for a certificate. */
const SHOWN = 40;

function departure(header: string, at: number): NotAuthenticated {
  const got = shownText(header.slice(at, at + SHOWN));
  return new NotAuthenticated(`character ${at + 1}: got ${got}, expected key=value or key="value", closed by ; or ,`);
}
