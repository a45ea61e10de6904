/**
 * Parts of a text before a sign, and texts without the signs at their end.
 *
 * A regular expression such as `/\/+$/` looks for the end from every slash of a text, so its time grows with the square
 * of a long row of slashes. These functions look at each character once.
 *
 * @module
 */

/** The text before the first of a sign; the whole text where the sign is not in it. */
export function before(text: string, sign: string): string {
  const at = text.indexOf(sign);
  return at < 0 ? text : text.slice(0, at);
}

/**
 * The text without the row of signs at its end.
 *
 * @param signs The characters that are taken away, in any order.
 */
export function withoutEnd(text: string, signs: string): string {
  let end = text.length;
  while (end > 0 && signs.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}

/** The text without the rows of signs at its beginning and at its end. */
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
