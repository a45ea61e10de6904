/**
 * Checks of fields for readers without a schema. The readers leave `null`, and values of other types, to the schema.
 *
 * @module
 */

/** Optional fields. */
export type Fields = Readonly<Record<string, unknown>>;

/** The fields of a missing object: none. */
export const NO_FIELDS: Fields = Object.freeze({});

/** Whether a value is an object. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is a list of strings. */
export function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

/** Whether a value is a boolean or missing. */
export function isOptionalBoolean(value: unknown): value is boolean | undefined {
  return value === undefined || typeof value === "boolean";
}

/** Whether a value is a string or missing. */
export function isOptionalText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

/** Whether a value is an integer or missing. */
export function isOptionalInteger(value: unknown): value is number | undefined {
  return value === undefined || Number.isSafeInteger(value);
}

/** Whether a value is an object of strings. */
export function isTextMap(value: unknown): value is Readonly<Record<string, string>> {
  if (!isFields(value)) return false;
  for (const key in value) if (typeof value[key] !== "string") return false;
  return true;
}

/** Reads each element of a list; undefined if an element cannot be read. */
export function eachUsual<T>(list: readonly unknown[], read: (one: unknown) => T | undefined): T[] | undefined {
  const found: T[] = [];
  for (const one of list) {
    const value = read(one);
    if (value === undefined) return undefined;
    found.push(value);
  }
  return found;
}
