/**
 * Fields with limits: the shape of a value stays as it is, and the value must also fit. The limits of the Gateway API's
 * definitions are of this form; in a folder no API server checks them.
 *
 * @module
 */
import type { Field, FieldLimits } from "./field.ts";

/** A field whose decoded values must also pass a test that equals some limits. */
export function limited<T>(
  field: Field<T>,
  { expected, limits, fits }: {
    readonly expected: string;
    /** The test in words of JSON Schema. */
    readonly limits: FieldLimits;
    readonly fits: (value: T) => boolean;
  },
): Field<T> {
  return {
    ...field,
    expected,
    limits: { ...field.limits, ...limits },
    decode(value, context) {
      const decoded = field.decode(value, context);
      if (decoded === undefined || fits(decoded)) return decoded;
      context.fail(value, expected);
      return undefined;
    },
  };
}

/** Bounds of a length or a number, inclusive. */
export interface Bounds {
  /** Default: 0. */
  readonly min?: number;
  readonly max: number;
}

/** A text of a bounded length that fits a pattern. */
export function limitedText(
  field: Field<string>,
  expected: string,
  { min = 0, max }: Bounds,
  pattern?: RegExp,
): Field<string> {
  return limited(field, {
    expected: `${expected} (${min > 0 ? `${min} to ` : "at most "}${max} characters)`,
    limits: {
      ...(min > 0 ? { minLength: min } : {}),
      maxLength: max,
      ...(pattern === undefined ? {} : { pattern: pattern.source }),
    },
    fits: (text) => text.length >= min && text.length <= max && (pattern === undefined || pattern.test(text)),
  });
}

/** A list with a bounded number of elements. */
export function limitedList<T>(field: Field<readonly T[]>, { min = 0, max }: Bounds): Field<readonly T[]> {
  return limited(field, {
    expected: min > 0 ? `a list of ${min} to ${max} elements` : `a list of at most ${max} elements`,
    limits: { ...(min > 0 ? { minItems: min } : {}), maxItems: max },
    fits: (list) => list.length >= min && list.length <= max,
  });
}

/** A map with a bounded number of keys. */
export function limitedMap<T>(
  field: Field<Readonly<Record<string, T>>>,
  { max }: Pick<Bounds, "max">,
): Field<Readonly<Record<string, T>>> {
  return limited(field, {
    expected: `a map of at most ${max} keys`,
    limits: { maxProperties: max },
    fits: (map) => Object.keys(map).length <= max,
  });
}

/** A number between bounds. Unlike a number without bounds it is never in quotes. */
export function limitedNumber(field: Field<number>, { min = 0, max }: Bounds): Field<number> {
  return unquoted(limited(field, {
    expected: `a number, ${min} to ${max}`,
    limits: { minimum: min, maximum: max },
    fits: (number) => number >= min && number <= max,
  }));
}

/** One of some numbers, never in quotes. */
export function limitedChoice(field: Field<number>, choices: readonly number[]): Field<number> {
  return unquoted(limited(field, {
    expected: `one of ${choices.join(", ")}`,
    limits: { enum: choices },
    fits: (number) => choices.includes(number),
  }));
}

function unquoted(field: Field<number>): Field<number> {
  return {
    ...field,
    decode(value, context) {
      if (typeof value !== "string") return field.decode(value, context);
      context.fail(value, `${field.expected}, without quotes`);
      return undefined;
    },
  };
}

/** A field whose text, before it is decoded, must fit a pattern. */
export function limitedForm<T>(field: Field<T>, expected: string, pattern: RegExp): Field<T> {
  return {
    ...field,
    expected,
    limits: { ...field.limits, pattern: pattern.source },
    decode(value, context) {
      if (typeof value === "string" && pattern.test(value)) return field.decode(value, context);
      context.fail(value, expected);
      return undefined;
    },
  };
}
