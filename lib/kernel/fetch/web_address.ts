/**
 * Addresses on the web that somebody else has written, and that this program asks by itself: what may stand in one, and how
 * one is shown.
 *
 * Parsers of addresses mend what they read: they drop line breaks, turn backslashes into slashes, resolve dots. So a text is
 * judged as it was written, and only a text that every reader takes alike is asked.
 *
 * @module
 */

/** Longest address that is read, in characters. */
const MAX_LENGTH = 8192;

/** The expectation where an address is not one that {@linkcode isWebAddress} takes. */
export const WEB_ADDRESS = "an address that begins with https:// or http://, without a user, a password and a fragment";

/** The expectation where an address is not one that {@linkcode isBaseAddress} takes. */
export const BASE_ADDRESS =
  "https://host:port, with a plain path before it where the server lies behind one: no query, fragment, user or password";

/** Scheme, authority, and all that is behind. Only visible ASCII, since anything else is mended by readers. */
const WRITTEN = /^(https?):\/\/([^/?#]+)([/?#].*)?$/i;

/** A segment of a path, which has no parameters. */
const SEGMENT = /^(?:[A-Za-z0-9._~:-]|%[0-9a-fA-F]{2})+$/;

/** An encoded dot, slash, backslash or control character: some readers decode it before they look at the path. */
const ENCODED = /%(?:2[eEfF]|5[cC]|7[fF]|[01][0-9a-fA-F])/;

/** Whether a text is an address that can be asked as it is: no user, no password, no fragment. */
export function isWebAddress(text: string): boolean {
  const parts = partsOf(text);
  return parts !== undefined && !parts.rest.includes("#");
}

/**
 * Whether a text is an address to which paths are appended: beside scheme and host it has a path of plain segments at most.
 * Behind a query or a fragment the appended path would be no path any more, and the text alone would choose what is asked.
 */
export function isBaseAddress(text: string): boolean {
  const parts = partsOf(text);
  return parts !== undefined && isPrefix(parts.rest);
}

/** An address for people: without the password that it may hold, and of bounded length. */
export function shownAddress(text: string): string {
  const shown = text.replace(/^([a-z0-9+.-]{1,20}:\/\/)[^/?#]*@/i, "$1***@");
  return shown.length <= 200 ? shown : `${shown.slice(0, 200)}...`;
}

/** Whether a path is the same for every reader when another path is appended. A slash may end it. */
function isPrefix(path: string): boolean {
  const [first, ...segments] = path.split("/");
  if (segments.at(-1) === "") segments.pop();
  const isPlain = (one: string) => SEGMENT.test(one) && !ENCODED.test(one) && one !== "." && one !== "..";
  return first === "" && segments.every(isPlain);
}

function partsOf(text: string): { readonly rest: string } | undefined {
  if (text.length > MAX_LENGTH || !/^[\x21-\x7e]+$/.test(text) || text.includes("\\")) return undefined;
  const [, , authority = "", rest = ""] = WRITTEN.exec(text) ?? [];
  // An @ begins the host for some readers, whatever stands before it.
  if (authority === "" || authority.includes("@") || !URL.canParse(text)) return undefined;
  return { rest };
}
