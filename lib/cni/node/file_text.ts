/**
 * Files as text without loss. Bytes that are not UTF-8 become lone surrogates (U+DC80 for 0x80, up to U+DCFF), which a
 * file's text cannot have otherwise, and turn into the same bytes again. Runtimes read such files, so the installer has
 * to read them too, and must keep every byte.
 *
 * @module
 */

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

/** Number added to a byte that is not UTF-8. */
const ESCAPE = 0xdc00;

/** The text of a file. */
export function textOfBytes(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  let text = "";
  let start = 0;
  for (let i = 0; i < bytes.length;) {
    const length = characterLength(bytes, i);
    if (length === 0) {
      text += lenient.decode(bytes.subarray(start, i)) + String.fromCharCode(ESCAPE + bytes[i]!);
      start = i + 1;
    }
    i += length || 1;
  }
  return text + lenient.decode(bytes.subarray(start));
}

/** The bytes of a text from {@link textOfBytes}, or of any other text. */
export function bytesOfText(text: string): Uint8Array {
  if (text.isWellFormed()) return new TextEncoder().encode(text);
  const pieces = text.split(/(?<![\ud800-\udbff])([\udc80-\udcff])/);
  const bytes = pieces.map((piece, i) =>
    i % 2 === 1 ? Uint8Array.of(piece.charCodeAt(0) - ESCAPE) : new TextEncoder().encode(piece)
  );
  const joined = new Uint8Array(bytes.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of bytes) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** Length of the character at index `at`, in bytes. 0: there is no valid character (RFC 3629, section 4). */
function characterLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!;
  if (first < 0x80) return 1;
  const length = first >= 0xc2 && first < 0xe0
    ? 2
    : first >= 0xe0 && first < 0xf0
    ? 3
    : first >= 0xf0 && first < 0xf5
    ? 4
    : 0;
  const second = bytes[at + 1] ?? 0;
  // Overlong forms, surrogates, and code points beyond U+10FFFF.
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (length === 0 || second < low || second > high) return 0;
  for (let i = 2; i < length; i++) if (((bytes[at + i] ?? 0) & 0xc0) !== 0x80) return 0;
  return length;
}
