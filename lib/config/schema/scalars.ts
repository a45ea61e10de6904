/**
 * Fields with a single value.
 *
 * @module
 */
import { parseDuration } from "./duration.ts";
import type { DecodeContext, Field } from "./field.ts";
import { VALUE_SPELLINGS } from "../spelling/spelling.ts";

/** A string; empty counts as not written. */
export function string(): Field<string> {
  return STRING;
}

const STRING: Field<string> = {
  shape: { type: "string" },
  expected: "a string",
  zero: () => "",
  isZero: (value) => value === "",
  decode(value, context) {
    if (typeof value === "string") return context.pool === undefined ? value : context.pool.string(value);
    const quote = typeof value === "number" || typeof value === "boolean" ? " (put it in quotes)" : "";
    context.fail(value, `a string${quote}`);
    return undefined;
  },
};

/** true or false; false counts as not written. */
export function bool(): Field<boolean> {
  return BOOL;
}

const BOOL: Field<boolean> = {
  shape: { type: "boolean" },
  expected: "true or false",
  zero: () => false,
  isZero: (value) => !value,
  decode(value, context) {
    if (typeof value === "boolean") return value;
    context.fail(value, typeof value === "string" ? meantByText(value) : "true or false");
    return undefined;
  },
};

/**
 * The boolean to write instead of a text: YAML 1.1 had other spellings of booleans, and YAML 1.2 reads these as text.
 */
function meantByText(text: string): string {
  const old = /^(?:(y|yes|on)|n|no|off)$/i.exec(text);
  if (old === null) return "true or false, without quotes";
  return `${old[1] === undefined ? "false" : "true"} (in YAML 1.2 ${text} is text)`;
}

/** An integer in quotes. */
export const INTEGER_TEXT = /^[+-]?\d+(?:\.0+)?$/;
/** A number in quotes. */
export const NUMBER_TEXT = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

function integer(minimum: number, maximum: number, expected: string): Field<number> {
  return {
    shape: { type: "integer", minimum, maximum },
    expected,
    zero: () => 0,
    isZero: (value) => value === 0,
    decode(value, context) {
      const number = typeof value === "string" && INTEGER_TEXT.test(value) ? Number(value) : value;
      if (typeof number === "number" && Number.isInteger(number) && number >= minimum && number <= maximum) {
        return number === 0 ? 0 : number;
      }
      context.fail(value, expected);
      return undefined;
    },
  };
}

const INT32 = integer(-(2 ** 31), 2 ** 31 - 1, "an integer");
const UINT32 = integer(0, 2 ** 32 - 1, "an integer, 0 or more");
const UINT64 = integer(0, Number.MAX_SAFE_INTEGER, "an integer, 0 or more");
const INT64 = integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, "an integer");

/** A 32-bit integer, as a number or a string of digits; 0 counts as not written. */
export function int32(): Field<number> {
  return INT32;
}

/** An integer 0..2^32-1; 0 counts as not written. */
export function uint32(): Field<number> {
  return UINT32;
}

/** An integer 0..2^53-1; 0 counts as not written. */
export function uint64(): Field<number> {
  return UINT64;
}

/** An integer of at most 53 bits; 0 counts as not written. */
export function int64(): Field<number> {
  return INT64;
}

/** A finite number; 0 counts as not written. */
export function double(): Field<number> {
  return DOUBLE;
}

const DOUBLE: Field<number> = {
  shape: { type: "number" },
  expected: "a number",
  zero: () => 0,
  isZero: (value) => value === 0,
  decode(value, context) {
    const number = typeof value === "string" && NUMBER_TEXT.test(value) ? Number(value) : value;
    if (typeof number === "number" && Number.isFinite(number)) return number;
    context.fail(value, "a number");
    return undefined;
  },
};

/** A duration in Go syntax, decoded to milliseconds; 0 is kept. */
export function duration(): Field<number> {
  return DURATION;
}

const DURATION: Field<number> = {
  shape: { type: "duration" },
  expected: "a duration such as 5s",
  zero: () => 0,
  decode(value, context) {
    const parsed = typeof value === "string" ? parseDuration(value) : undefined;
    if (parsed !== undefined) return parsed;
    context.fail(value, "a duration with a unit, such as 5s, 250ms or 1h30m");
    return undefined;
  },
};

/** Base64, standard or for URLs. */
export const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** Bytes in base64, kept as written. */
export function bytes(): Field<string> {
  return {
    shape: { type: "base64" },
    expected: "base64 text",
    zero: () => "",
    isZero: (value) => value === "",
    decode(value, context) {
      if (typeof value === "string" && BASE64.test(value)) return value;
      context.fail(value, "base64 text");
      return undefined;
    },
  };
}

/** One of the names, in protobuf's order from 0 (numbers are accepted too). Always kept, including the first name. */
export function enumOf<const T extends string>(...names: readonly T[]): Field<T> {
  const known = new Set<string>(names);
  const expected = `one of ${names.join(", ")}`;
  const isName = (value: unknown): value is T => typeof value === "string" && known.has(value);
  return {
    shape: { type: "enum", names },
    expected,
    zero: () => names[0] as T,
    decode(value: unknown, context: DecodeContext) {
      if (isName(value)) return value;
      const respelled = typeof value === "string" ? VALUE_SPELLINGS[value] : undefined;
      if (isName(respelled)) return respelled;
      const byNumber = typeof value === "number" ? names[value] : undefined;
      if (byNumber !== undefined) return byNumber;
      context.fail(value, expected);
      return undefined;
    },
  };
}
