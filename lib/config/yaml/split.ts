/**
 * Cuts the bytes of a YAML file into its documents, without parsing them; and cuts again after an edit, at the cost of what changed.
 *
 * A line that begins with `---` or `...` (then white space or the line's end) is a marker by YAML's own rules, wherever it stands: block
 * scalars and quoted text cannot contain one. So the cut is exact, and a file costs one pass over its bytes.
 *
 * @module
 */
import { Buffer } from "node:buffer";

/** One document of a file: from the first line that is neither blank nor comment to the next marker, or the end. */
export interface DocumentRange {
  /** Byte where it begins. */
  readonly start: number;
  /** Byte after it: where the next marker's line begins, or the end of the file. */
  readonly end: number;
  /** 1-based line of the file where it begins. */
  readonly line: number;
}

const NEWLINE = 10;
const DASH = 45;
const DOT = 46;
const PERCENT = 37;
/** `---` and the byte after it. */
const MARKER_LENGTH = 4;

/** Cuts a file into documents; empty ones (blank lines and comments only) are left out. */
export function splitDocuments(bytes: Uint8Array): DocumentRange[] {
  return splitRange(bytes, 0, bytes.length, 1);
}

/** The text of a document. A string of its own: it does not keep the file's text alive. @throws TypeError when it is not UTF-8 */
export function documentText(bytes: Uint8Array, { start, end }: DocumentRange): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(start, end));
}

/** Cuts the part of a file from the start of a line to another one (or the end); `line` is the number of the first. */
function splitRange(bytes: Uint8Array, from: number, to: number, line: number): DocumentRange[] {
  const out: DocumentRange[] = [];
  let start = from;
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
  for (let at = from; at < to; line++) {
    const end = Math.min(lineEnd(bytes, at), to);
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

/** The documents of a file after an edit. */
export interface Recut {
  readonly ranges: readonly DocumentRange[];
  /** How many documents at the start are byte by byte those of before. */
  readonly sameBefore: number;
  /** How many at the end are. */
  readonly sameAfter: number;
}

/** Cuts a file again after an edit: only the part between the first and the last difference is looked at. */
export function recutDocuments(old: Uint8Array, ranges: readonly DocumentRange[], now: Uint8Array): Recut {
  const prefix = commonPrefix(old, now);
  if (prefix === old.length && prefix === now.length) return { ranges, sameBefore: ranges.length, sameAfter: 0 };
  const suffix = commonSuffix(old, now, Math.min(old.length, now.length) - prefix);
  const shift = now.length - old.length;
  // Documents before the one in which the first difference may lie.
  const isMarkerSame = (index: number) => index === 0 || (ranges[index - 1]?.end ?? 0) + MARKER_LENGTH <= prefix;
  const sameBefore = Math.max(0, ranges.findLastIndex(({ start }, index) => start <= prefix && isMarkerSame(index)));
  const first = ranges[sameBefore];
  const isInside = first !== undefined && first.start <= prefix;
  const from = isInside ? first.start : 0;
  // Documents after a marker that, with the newline before it, lies in what is the same at the end.
  const unchangedFrom = old.length - suffix;
  const next = ranges.findIndex((range, index) =>
    index >= sameBefore && range.end > unchangedFrom && range.end + shift > from
  );
  const last = next < 0 ? undefined : ranges[next];
  const isMiddle = last !== undefined && last.end < old.length;
  const to = isMiddle ? last.end + shift : now.length;
  // A directive in between could claim the marker after it.
  if (hasDirective(now, from, to) || hasDirective(old, from, isMiddle ? last.end : old.length)) {
    return { ranges: splitDocuments(now), sameBefore: 0, sameAfter: 0 };
  }
  const middle = splitRange(now, from, to, isInside ? first.line : 1);
  if (!isMiddle) return { ranges: [...ranges.slice(0, sameBefore), ...middle], sameBefore, sameAfter: 0 };
  const lines = countLines(now, from, to) - countLines(old, from, last.end);
  const after = ranges.slice(next + 1).map(({ start, end, line }) => ({
    start: start + shift,
    end: end + shift,
    line: line + lines,
  }));
  return { ranges: [...ranges.slice(0, sameBefore), ...middle, ...after], sameBefore, sameAfter: after.length };
}

/** Bytes compared at once, natively: a file of a megabyte takes a tenth of a millisecond. */
const BLOCK = 16 * 1024;

function commonPrefix(a: Uint8Array, b: Uint8Array): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length + BLOCK <= most && isSame(a, length, b, length, BLOCK)) length += BLOCK;
  while (length < most && a[length] === b[length]) length++;
  return length;
}

function commonSuffix(a: Uint8Array, b: Uint8Array, most: number): number {
  let length = 0;
  while (length + BLOCK <= most && isSame(a, a.length - length - BLOCK, b, b.length - length - BLOCK, BLOCK)) {
    length += BLOCK;
  }
  while (length < most && a[a.length - 1 - length] === b[b.length - 1 - length]) length++;
  return length;
}

function isSame(a: Uint8Array, atA: number, b: Uint8Array, atB: number, length: number): boolean {
  const left = Buffer.from(a.buffer, a.byteOffset + atA, length);
  return left.equals(Buffer.from(b.buffer, b.byteOffset + atB, length));
}

function countLines(bytes: Uint8Array, from: number, to: number): number {
  const part = bytes.subarray(from, to);
  let count = 0;
  for (let at = part.indexOf(NEWLINE); at >= 0; at = part.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

/** Whether a line begins with `%`; the file's first may do so after a byte order mark. */
function hasDirective(bytes: Uint8Array, from: number, to: number): boolean {
  const part = bytes.subarray(from, to);
  for (let at = part.indexOf(PERCENT); at >= 0; at = part.indexOf(PERCENT, at + 1)) {
    const place = from + at;
    if (place === 0 || place === 3 || bytes[place - 1] === NEWLINE) return true;
  }
  return false;
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

/** Start of the first line with content, and how many lines come before it; the file's byte order mark counts as blank. */
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
