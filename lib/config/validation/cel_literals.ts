/**
 * Literals of CEL: which numbers and texts a proxy can compile.
 *
 * @module
 */
import { looksLikeRe2 } from "./regex_syntax.ts";

const LARGEST = 2n ** 63n - 1n;
const LARGEST_UNSIGNED = 2n ** 64n - 1n;

/** Whether a number has a place in 64 bits. @param isNegative There is a minus before it. */
export function isNumberOfCel(text: string, isNegative: boolean): boolean {
  const isHex = /^0x/i.test(text);
  if (!isHex && /[.eE]/.test(text)) return true;
  const isUnsigned = /u$/i.test(text);
  const value = BigInt(isUnsigned ? text.slice(0, -1) : text);
  return value <= (isUnsigned ? LARGEST_UNSIGNED : isNegative ? LARGEST + 1n : LARGEST);
}

/** Prefix, quotes and content of a text. */
const PARTS = /^([bB]?[rR]?|[rR][bB])("""|'''|"|')([^]*)\2$/;
const ESCAPE = /\\(?:[abfnrtv\\'"`?]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})/g;

/** Whether all that begins with a backslash in a text is known. */
export function isTextOfCel(text: string): boolean {
  const [, prefix = "", , content = ""] = PARTS.exec(text) ?? [];
  return /r/i.test(prefix) || !content.replaceAll(ESCAPE, "").includes("\\");
}

/** Whether a text that is searched with is an expression of RE2; anything but a text is known only to the proxy. */
export function isPatternOfCel(argument: string): boolean {
  const found = PARTS.exec(argument.trim());
  if (found === null) return true;
  const [, prefix = "", quotes = "", content = ""] = found;
  if (content.includes(quotes)) return true; // Several texts, with something between them.
  return looksLikeRe2(/r/i.test(prefix) ? content : content.replaceAll(/\\([\\'"`?])/g, "$1"));
}
