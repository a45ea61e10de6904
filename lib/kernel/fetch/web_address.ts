/**
 * Rules for web addresses that somebody else has written and that the program requests: which texts are allowed, and
 * how an address is shown.
 *
 * Parsers repair addresses: they drop line breaks, turn backslashes into slashes, and resolve dots. So the checks here
 * judge the text as written, and the program requests an address only if every parser reads it alike.
 *
 * @module
 */

/** Longest allowed address, in characters. */
const MAX_LENGTH = 8192;

/** The expectation for an address that {@linkcode isWebAddress} rejects. */
export const WEB_ADDRESS = "an address that begins with https:// or http://, without a user, a password and a fragment";

/** The expectation for an address that {@linkcode isBaseAddress} rejects. */
export const BASE_ADDRESS =
  "https://host:port, with a plain path before it where the server lies behind one: no query, fragment, user or password";

/** Scheme, authority, and the rest. Only visible ASCII is matched, because parsers repair other characters. */
const WRITTEN = /^(https?):\/\/([^/?#]+)([/?#].*)?$/i;

/** A path segment without parameters. */
const SEGMENT = /^(?:[A-Za-z0-9._~:-]|%[0-9a-fA-F]{2})+$/;

/**
 * An encoded dot, slash, backslash or control character. Some parsers decode such a character before reading the path.
 */
const ENCODED = /%(?:2[eEfF]|5[cC]|7[fF]|[01][0-9a-fA-F])/;

/** Whether a text is an address for a request as written: without user, password and fragment. */
export function isWebAddress(text: string): boolean {
  const parts = partsOf(text);
  return parts !== undefined && !parts.rest.includes("#");
}

/**
 * Whether paths may be appended to an address: besides scheme and host, it may have only a path of plain segments.
 * Behind a query or a fragment the appended path would no longer be a path, and the address alone would choose the
 * requested page.
 */
export function isBaseAddress(text: string): boolean {
  const parts = partsOf(text);
  return parts !== undefined && isPrefix(parts.rest);
}

/** An address for people: without the password, and of bounded length. */
export function shownAddress(text: string): string {
  const shown = text.replace(/^([a-z0-9+.-]{1,20}:\/\/)[^/?#]*@/i, "$1***@");
  return shown.length <= 200 ? shown : `${shown.slice(0, 200)}...`;
}

/** Whether every parser reads a path alike when another path is appended. The path may end with a slash. */
function isPrefix(path: string): boolean {
  const [first, ...segments] = path.split("/");
  if (segments.at(-1) === "") segments.pop();
  const isPlain = (one: string) => SEGMENT.test(one) && !ENCODED.test(one) && one !== "." && one !== "..";
  return first === "" && segments.every(isPlain);
}

function partsOf(text: string): { readonly rest: string } | undefined {
  if (text.length > MAX_LENGTH || !/^[\x21-\x7e]+$/.test(text) || text.includes("\\")) return undefined;
  const [, , authority = "", rest = ""] = WRITTEN.exec(text) ?? [];
  // Some parsers let an @ begin the host, whatever stands before the @.
  if (authority === "" || authority.includes("@") || !URL.canParse(text)) return undefined;
  return { rest };
}
