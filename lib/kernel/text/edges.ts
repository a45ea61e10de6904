/**
 * Parts of a text before a sign, and texts without the signs at an end.
 *
 * A regular expression such as `/\/+$/` searches for the end from every slash of a text, so its time grows with the
 * square of a long row of slashes. The functions here look at each character once.
 *
 * @module
 */

/** The text before the first occurrence of a sign, or the whole text without an occurrence. */
export function before(text: string, sign: string): string {
  const at = text.indexOf(sign);
  return at < 0 ? text : text.slice(0, at);
}

/**
 * The text without trailing signs.
 *
 * @param signs The characters to remove, in any order.
 */
export function withoutEnd(text: string, signs: string): string {
  let end = text.length;
  while (end > 0 && signs.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}

/** The text without leading and trailing signs. */
export function withoutEdges(text: string, signs: string): string {
  let from = 0;
  while (from < text.length && signs.includes(text[from]!)) from++;
  return withoutEnd(text.slice(from), signs);
}

const BEGIN = "-----BEGIN CERTIFICATE-----";
const END = "-----END CERTIFICATE-----";

/** The certificates of a PEM text as texts, in order, with their first and last lines. Nothing is decoded. */
export function certificateTexts(pem: string): string[] {
  const found: string[] = [];
  let behind = 0;
  for (let end = pem.indexOf(END); end >= 0; end = pem.indexOf(END, behind)) {
    const begin = pem.slice(behind, end).lastIndexOf(BEGIN);
    if (begin >= 0) found.push(pem.slice(behind + begin, end + END.length));
    behind = end + END.length;
  }
  return found;
}
