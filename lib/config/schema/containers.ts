/**
 * Fields with many values: lists, maps, free-form objects.
 *
 * @module
 */
import type { JsonObject } from "./json.ts";
import { ownKey, ownLabelValue } from "../spelling/spelling.ts";
import { type DecodeContext, type Field, isObject } from "./field.ts";
import { string } from "./scalars.ts";

/** A list; empty counts as not written. */
export function list<T>(element: Field<T>): Field<readonly T[]> {
  const expected = `a list (each ${element.expected})`;
  return {
    shape: { type: "list", element },
    expected,
    zero: () => [],
    isZero: (value) => value.length === 0,
    decode(value, context) {
      if (!Array.isArray(value)) {
        context.fail(value, expected);
        return undefined;
      }
      const out: T[] = new Array(value.length);
      for (let index = 0; index < value.length; index++) {
        context.enter(index);
        out[index] = decodeElement(element, value[index], context);
        context.leave();
      }
      return out;
    },
  };
}

/** A map with string keys; empty counts as not written. Keys come out sorted, so that equal maps give equal text. */
export function map<T>(element: Field<T>, key: (text: string) => string = same): Field<Readonly<Record<string, T>>> {
  return {
    shape: { type: "map", value: element },
    expected: `a map (each value ${element.expected})`,
    zero: () => ({}),
    isZero: isEmpty,
    decode: (value, context) => decodeMap(value, context, element, key, undefined),
  };
}

/** Labels: a map of strings with keys turned into our spelling. */
export function labels(): Field<Readonly<Record<string, string>>> {
  return LABELS;
}

/** A map of strings to strings, keys as written. */
export function stringMap(): Field<Readonly<Record<string, string>>> {
  return STRING_MAP;
}

/** A free-form JSON object, kept as written. */
export function struct(): Field<JsonObject> {
  return {
    shape: { type: "struct" },
    expected: "an object",
    zero: () => ({}),
    decode(value, context) {
      // Input trees are JSON already (see `lib/config/document/document.ts`), with depth and `__proto__` checked on the way in.
      if (isObject(value)) return value as JsonObject;
      context.fail(value, "an object");
      return undefined;
    },
  };
}

const same = (text: string) => text;
const STRING_MAP = map(string());
const LABELS: Field<Readonly<Record<string, string>>> = {
  shape: { type: "map", value: string() },
  expected: "a map of labels (each value a string)",
  zero: () => ({}),
  isZero: isEmpty,
  decode: (value, context) => {
    const decoded = decodeMap(value, context, string(), ownKey, ownLabelValue);
    return decoded === undefined || context.pool === undefined ? decoded : context.pool.map(decoded);
  },
};

function isEmpty(value: object): boolean {
  for (const _ in value) return false;
  return true;
}

function decodeElement<T>(element: Field<T>, value: unknown, context: DecodeContext): T {
  if (value === null || value === undefined) {
    context.fail(null, element.expected);
    return element.zero();
  }
  return element.decode(value, context) ?? element.zero();
}

function decodeMap<T>(
  value: unknown,
  context: DecodeContext,
  element: Field<T>,
  key: (text: string) => string,
  respell: ((key: string, value: T) => T) | undefined,
): Readonly<Record<string, T>> | undefined {
  if (!isObject(value)) {
    context.fail(value, `a map (each value ${element.expected})`);
    return undefined;
  }
  const names = Object.keys(value);
  if (names.length > 1) names.sort();
  const out: Record<string, T> = {};
  for (const name of names) {
    context.enter(name);
    // An assignment to this key would change the object's prototype.
    if (name === "__proto__") context.fail(value[name], "another key");
    else {
      const owned = key(name);
      const decoded = decodeElement(element, value[name], context);
      out[owned] = respell === undefined ? decoded : respell(owned, decoded);
    }
    context.leave();
  }
  return out;
}
