/**
 * Parses the text of a flag by type, with the ranges and syntax of Istio's flag library, and prints values for help.
 *
 * @module
 */
import { DURATION_EXPECTED, parseSpan, readableDuration } from "../kernel/time/duration.ts";
import type { Flag, FlagValue } from "./flag.ts";

/** A value, or the unmet expectation. */
export type ParsedFlag = { readonly value: FlagValue } | { readonly expected: string };

const RANGES = {
  int: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint16: [0, 65535],
  Level: [-(2 ** 31), 2 ** 31 - 1],
} as const;

const FLOAT32_MAX = 3.4028234663852886e38;

const TRUE = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const FALSE = new Set(["0", "f", "F", "false", "FALSE", "False"]);

/** Reads one occurrence of a flag. `before` is the value of earlier occurrences, which lists and maps extend. */
export function parseFlagValue(flag: Flag, text: string, before?: FlagValue): ParsedFlag {
  switch (flag.type) {
    case "bool":
      return TRUE.has(text) ? { value: true } : FALSE.has(text) ? { value: false } : { expected: "true or false" };
    case "string":
      return allowed(flag, [text]) ?? { value: text };
    case "stringArray":
      return allowed(flag, [text]) ?? { value: [...(before as string[] | undefined ?? []), text] };
    case "stringSlice":
      return list(flag, text, before as string[] | undefined);
    case "stringToString":
      return pairs(text, before as Record<string, string> | undefined);
    case "float32":
      return float(text);
    case "duration": {
      const value = parseSpan(text);
      return value === undefined ? { expected: DURATION_EXPECTED } : { value };
    }
    default: {
      const [min, max] = RANGES[flag.type];
      const value = parseGoInteger(text);
      return value === undefined || value < min || value > max ? { expected: integerExpected(flag.type) } : { value };
    }
  }
}

function integerExpected(type: keyof typeof RANGES): string {
  if (type === "int") return "a whole number";
  return `a whole number from ${RANGES[type][0]} to ${RANGES[type][1]}`;
}

function allowed(flag: Flag, values: readonly string[]): { expected: string } | undefined {
  if (flag.allowed === undefined) return undefined;
  const bad = values.find((v) => !flag.allowed?.includes(v) && v !== flag.default);
  return bad === undefined ? undefined : { expected: `one of ${flag.allowed.join(", ")}` };
}

function list(flag: Flag, text: string, before: readonly string[] = []): ParsedFlag {
  const values = splitList(text)?.map((value) => flag.spelledAlso?.[value] ?? value);
  if (values === undefined) return { expected: "a comma-separated list with balanced double quotes" };
  return allowed(flag, values) ?? { value: [...before, ...values] };
}

function pairs(text: string, before: Readonly<Record<string, string>> = {}): ParsedFlag {
  const result = new Map(Object.entries(before));
  for (const part of splitList(text) ?? [""]) {
    const at = part.indexOf("=");
    if (at < 1) return { expected: "pairs in the form key1=value1,key2=value2" };
    result.set(part.slice(0, at), part.slice(at + 1));
  }
  return { value: Object.fromEntries(result) };
}

/** Splits at commas outside double quotes (`""` is a quote); undefined when quotes do not balance. Empty text: no value. */
export function splitList(text: string): string[] | undefined {
  if (text === "") return [];
  const values: string[] = [];
  for (let at = 0;;) {
    const found = /^(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/.exec(text.slice(at));
    if (found === null) return undefined;
    const [whole, quoted, plain = "", comma] = found;
    values.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (comma === "") return values;
    at += whole.length;
  }
}

/** A whole number in the syntax of Go's base-0 parser: decimal, 0x, 0o, 0b, leading 0 (octal). */
function parseGoInteger(text: string): number | undefined {
  const sign = text.startsWith("-") ? -1 : 1;
  const body = text.replace(/^[+-]/, "");
  let value: number | undefined;
  if (/^(0|[1-9]\d*)$/.test(body)) value = Number(body);
  else if (/^0x[0-9a-f]+$/i.test(body) || /^0b[01]+$/i.test(body) || /^0o[0-7]+$/i.test(body)) value = Number(body);
  else if (/^0[0-7]+$/.test(body)) value = parseInt(body, 8);
  return value !== undefined && Number.isSafeInteger(value) ? sign * value : undefined;
}

function float(text: string): ParsedFlag {
  const number = /^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN;
  return Math.abs(number) <= FLOAT32_MAX ? { value: number } : { expected: "a number" };
}

/** Text of a value, as help prints defaults and as a flag would be given. */
export function showFlagValue(flag: Flag, value: FlagValue = flag.default): string {
  if (Array.isArray(value)) return `[${value.join(",")}]`;
  if (typeof value === "object") return `[${Object.entries(value).map(([k, v]) => `${k}=${v}`).join(",")}]`;
  return flag.type === "duration" ? readableDuration(value as number) : String(value);
}
