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

/** Prefix and quotes of a text. */
const OPENING = /^(?:[bB]?[rR]?|[rR][bB])("""|'''|"|')/;
const ESCAPE = /\\(?:[abfnrtv\\'"`?]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})/g;

/** The parts of a text; undefined: it is none. */
function partsOf(
  text: string,
): { readonly isRaw: boolean; readonly quotes: string; readonly content: string } | undefined {
  const [opening = "", quotes = ""] = OPENING.exec(text) ?? [];
  const isWhole = quotes !== "" && text.length >= opening.length + quotes.length && text.endsWith(quotes);
  if (!isWhole) return undefined;
  return { isRaw: /r/i.test(opening), quotes, content: text.slice(opening.length, text.length - quotes.length) };
}

/** Whether all that begins with a backslash in a text is known. */
export function isTextOfCel(text: string): boolean {
  const { isRaw = false, content = "" } = partsOf(text) ?? {};
  return isRaw || !content.replaceAll(ESCAPE, "").includes("\\");
}

/** Whether a text that is searched with is an expression of RE2; anything but a text is known only to the proxy. */
export function isPatternOfCel(argument: string): boolean {
  const found = partsOf(argument.trim());
  if (found === undefined) return true;
  const { isRaw, quotes, content } = found;
  if (content.includes(quotes)) return true; // Several texts, with something between them.
  return looksLikeRe2(isRaw ? content : content.replaceAll(/\\([\\'"`?])/g, "$1"));
}
