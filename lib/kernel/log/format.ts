/**
 * Log lines as text: console (tab separated) or JSON.
 *
 * @module
 */
import type { LogSeverity } from "./level.ts";

/** Values written beside a message. */
export type LogFields = Readonly<Record<string, unknown>>;

/** The content of a line. */
export interface Line {
  /** Wall time, milliseconds since 1970, with fractions. */
  readonly time: number;
  readonly level: LogSeverity;
  readonly scope: string;
  readonly message: string;
  readonly fields: LogFields | undefined;
  /** `file.ts:12`, when asked for. */
  readonly caller: string | undefined;
  /** Stack, when asked for. */
  readonly stack: string | undefined;
}

/** UTC time with microseconds: `2026-01-02T03:04:05.678901Z`. */
export function timeText(ms: number): string {
  const whole = Math.floor(ms);
  const micros = Math.min(999, Math.round((ms - whole) * 1000));
  return new Date(whole).toISOString().slice(0, -1) + String(micros).padStart(3, "0") + "Z";
}

/** Escape codes of the levels on a terminal. */
const COLOURS: Readonly<Record<LogSeverity, string>> = {
  debug: "2",
  info: "36",
  warn: "33",
  error: "31",
  fatal: "1;31",
};

/**
 * Console: time, level, scope, [caller,] message, key=value, tab separated; the stack on the lines below. Fields without a
 * value are left out.
 *
 * @param colour Whether the level is coloured.
 */
export function consoleLine(line: Line, colour = false): string {
  const level = colour ? `\x1b[${COLOURS[line.level]}m${line.level}\x1b[0m` : line.level;
  const parts = [timeText(line.time), level, line.scope];
  if (line.caller !== undefined) parts.push(line.caller);
  parts.push(oneLine(line.message));
  for (const [key, value] of Object.entries(line.fields ?? {})) {
    // JSON output drops undefined fields without a check.
    if (value !== undefined) parts.push(`${key}=${fieldText(value)}`);
  }
  return parts.join("\t") + (line.stack === undefined ? "\n" : `\n${line.stack}\n`);
}

/** A message must not forge further lines: line breaks and other control characters are written as escapes. */
function oneLine(text: string): string {
  // deno-lint-ignore no-control-regex -- control characters are what is looked for
  return text.replace(/[\u0000-\u0008\u000a-\u001f\u007f]/g, (c) => JSON.stringify(c).slice(1, -1));
}

/** The text of a value: plain for a single word, else JSON. */
function fieldText(value: unknown): string {
  const text = typeof value === "string" ? value : toJson(value);
  return typeof value === "string" && !/^[^\s"=\u007f]+$/.test(value) ? JSON.stringify(value) : text;
}

/** JSON: time, level, scope, [caller,] msg, the fields, [stack]. Fields without a value are left out. */
export function jsonLine(line: Line): string {
  const head: Record<string, unknown> = { time: timeText(line.time), level: line.level, scope: line.scope };
  if (line.caller !== undefined) head["caller"] = line.caller;
  head["msg"] = line.message;
  for (const [key, value] of Object.entries(line.fields ?? {})) {
    // A field never hides a key of the line.
    head[Object.hasOwn(head, key) || key === "stack" ? `field.${key}` : key] = plainValue(value);
  }
  if (line.stack !== undefined) head["stack"] = line.stack;
  return toJson(head) + "\n";
}

/** Errors become messages, big numbers become text, and other values stay the same. */
function plainValue(value: unknown): unknown {
  if (value instanceof Error) return value.message;
  return typeof value === "bigint" ? String(value) : value;
}

/** JSON text without exceptions: a value such as a circular object is replaced by a short note. */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(plainValue(value), (_key, inner) => plainValue(inner)) ?? String(value);
  } catch (error) {
    return JSON.stringify(`[cannot be written: ${error instanceof Error ? error.message.split("\n")[0] : "unknown"}]`);
  }
}
