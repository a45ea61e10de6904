/**
 * Cuts the bytes of a YAML file into its documents, without parsing them.
 *
 * A line that begins with `---` or `...` (then white space or the line's end) is a marker by YAML's own rules, wherever it stands: block
 * scalars and quoted text cannot contain one. So the cut is exact, and a file costs one pass over its bytes.
 * @module
 * Permissions: none.
 */

/** One document of a file. */
export interface DocumentText {
  /** Its text from the first line that is neither blank nor comment. A string of its own: it does not keep the file's text alive. */
  readonly text: string;
  /** 1-based line of the file where the text begins. */
  readonly line: number;
}

const NEWLINE = 10;
const DASH = 45;
const DOT = 46;

/**
 * Cuts a file into documents; empty ones (blank lines and comments only) are left out.
 * @throws TypeError when the bytes are not UTF-8
 */
export function splitDocuments(bytes: Uint8Array): DocumentText[] {
  const out: DocumentText[] = [];
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let start = 0;
  let startLine = 1;
  let line = 1;
  let directives = false;
  const emit = (end: number) => {
    const found = firstContent(bytes, start, end);
    if (found === undefined) return;
    // Directives (%YAML, %TAG) belong to the document after the next marker.
    if (bytes[found.at] === 37 && !directives && end < bytes.length) {
      directives = true;
      start = found.at;
      startLine += found.lines;
      return;
    }
    directives = false;
    out.push({ text: decoder.decode(bytes.subarray(found.at, end)), line: startLine + found.lines });
  };
  for (let at = 0; at < bytes.length; line++) {
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
  emit(bytes.length);
  return out;
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

/** Start of the first line with content, and how many lines come before it; a byte order mark counts as blank. */
function firstContent(bytes: Uint8Array, start: number, end: number): { at: number; lines: number } | undefined {
  let lines = 0;
  let at = bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf ? start + 3 : start;
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
