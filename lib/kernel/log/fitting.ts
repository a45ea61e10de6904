/**
 * Limits the length of log lines, because a client may choose a text in a line and log collectors accept only lines of
 * limited length.
 *
 * @module
 */
import type { Line } from "./format.ts";

/** Longest line, bytes. Collectors of logs cut lines of 16 KiB into several. */
export const MAX_LINE_BYTES = 8192;

/**
 * The kept characters of each text and the kept parts of each list. The steps are tried in order until the line fits.
 */
const STEPS = [[2000, 20], [500, 10], [100, 5], [20, 2]] as const;

/** The bytes of a line, with shorter texts where the whole line would be too long. */
export function fittingLine(line: Line, encode: (line: Line) => Uint8Array): Uint8Array {
  let bytes = encode(line);
  for (const [characters, parts] of STEPS) {
    if (bytes.length <= MAX_LINE_BYTES) return bytes;
    bytes = encode(shortened(line, characters, parts));
  }
  return bytes.length <= MAX_LINE_BYTES ? bytes : encode({ ...shortened(line, 20, 0), fields: undefined });
}

function shortened(line: Line, characters: number, parts: number): Line {
  const entries = Object.entries(line.fields ?? {}).slice(0, 20);
  return {
    ...line,
    message: cut(line.message, characters),
    fields: Object.fromEntries(entries.map(([key, value]) => [key, shortValue(value, characters, parts)])),
    stack: line.stack === undefined ? undefined : cut(line.stack, characters * 2),
  };
}

function shortValue(value: unknown, characters: number, parts: number): unknown {
  if (typeof value === "string") return cut(value, characters);
  if (value instanceof Error) return cut(value.message, characters);
  if (Array.isArray(value)) {
    const kept = value.slice(0, parts).map((one) => shortValue(one, Math.max(20, characters / 2), parts));
    return value.length <= parts ? kept : [...kept, `and ${value.length - parts} more`];
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const kept = entries.slice(0, parts).map(([key, one]) =>
    [cut(key, 80), shortValue(one, Math.max(20, characters / 2), parts)] as const
  );
  return Object.fromEntries(entries.length <= parts ? kept : [...kept, ["more", entries.length - parts]]);
}

function cut(text: string, characters: number): string {
  const kept = Math.floor(characters);
  return text.length <= kept ? text : `${text.slice(0, kept)}... (${text.length} characters)`;
}
