/**
 * Cuts the bytes of a YAML file into its documents, without parsing.
 *
 * By YAML's own rules a line that begins with `---` or `...` (then white space or the line's end) is a marker at every
 * place: block scalars and quoted text cannot contain such a line. So the cut is exact, and a file costs one pass over
 * its bytes.
 *
 * @module
 */
/** One document of a file: from the first line that is neither blank nor comment to the next marker, or the end. */
export interface DocumentRange {
  /** First byte. */
  readonly start: number;
  /** Byte after the last: the beginning of the next marker's line, or the end of the file. */
  readonly end: number;
  /** Line of the document's beginning in the file, from 1. */
  readonly line: number;
}

const NEWLINE = 10;
const DASH = 45;
const DOT = 46;
const PERCENT = 37;

/** Cuts a file into documents, without empty documents (blank lines and comments only). */
export function splitDocuments(bytes: Uint8Array): DocumentRange[] {
  const out: DocumentRange[] = [];
  const to = bytes.length;
  let start = 0;
  let line = 1;
  let startLine = line;
  let directives = false;
  const emit = (end: number) => {
    const found = firstContent(bytes, start, end);
    if (found === undefined) return;
    const first = startLine + found.lines;
    // Directives (%YAML, %TAG) belong to the document after the next marker.
    directives = bytes[found.at] === PERCENT && !directives && end < to;
    if (directives) [start, startLine] = [found.at, first];
    else out.push({ start: found.at, end, line: first });
  };
  for (let at = 0; at < to; line++) {
    const end = lineEnd(bytes, at);
    if (isMarker(bytes, at)) {
      emit(at);
      if (!directives) {
        // Text on the marker's own line is part of the document, and then so is the marker.
        const bare = bytes[at] === DOT || firstContent(bytes, at + 3, end) === undefined;
        start = bare ? end : at;
        startLine = bare ? line + 1 : line;
      }
    }
    at = end;
  }
  emit(to);
  return out;
}

/** Keeps nothing from one text to the next, because each text is decoded whole. */
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/**
 * The text of a document, as a string of its own: the string does not keep the file's text alive. @throws TypeError
 * when the bytes are not UTF-8
 */
export function documentText(bytes: Uint8Array, { start, end }: DocumentRange): string {
  return UTF8.decode(bytes.subarray(start, end));
}

/** Position after the line's newline, or the end. */
function lineEnd(bytes: Uint8Array, at: number): number {
  const newline = bytes.indexOf(NEWLINE, at);
  return newline < 0 ? bytes.length : newline + 1;
}

function isMarker(bytes: Uint8Array, at: number): boolean {
  const first = bytes[at];
  if ((first !== DASH && first !== DOT) || bytes[at + 1] !== first || bytes[at + 2] !== first) return false;
  const next = bytes[at + 3];
  return next === undefined || next === NEWLINE || next === 13 || next === 32 || next === 9;
}

/** Start of the first line with content, and the number of lines before; the file's byte order mark counts as blank. */
function firstContent(bytes: Uint8Array, start: number, end: number): { at: number; lines: number } | undefined {
  let lines = 0;
  let at = start === 0 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : start;
  while (at < end) {
    let cursor = at;
    while (cursor < end && (bytes[cursor] === 32 || bytes[cursor] === 9 || bytes[cursor] === 13)) cursor++;
    const byte = bytes[cursor];
    if (cursor < end && byte !== NEWLINE && byte !== 35) return { at, lines };
    at = lineEnd(bytes, cursor);
    lines += 1;
  }
  return undefined;
}
