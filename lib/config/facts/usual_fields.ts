/**
 * Checks of fields of facts that are read without a schema: `null`, and a value of another type, is left to the schema.
 *
 * @module
 */

/** Fields of which each may be left out. */
export type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object that was left out: none. */
export const NO_FIELDS: Fields = Object.freeze({});

/** Whether it is an object. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether it is a list of strings. */
export function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

/** Whether it is a boolean, or left out. */
export function maySay(value: unknown): value is boolean | undefined {
  return value === undefined || typeof value === "boolean";
}

/** Whether it is a string, or left out. */
export function mayName(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

/** Whether it is an integer, or left out. */
export function mayCount(value: unknown): value is number | undefined {
  return value === undefined || Number.isSafeInteger(value);
}

/** Whether it is an object of strings. */
export function isTextMap(value: unknown): value is Readonly<Record<string, string>> {
  if (!isFields(value)) return false;
  for (const key in value) if (typeof value[key] !== "string") return false;
  return true;
}

/** Reads each element of a list; undefined where one cannot be read. */
export function eachUsual<T>(list: readonly unknown[], read: (one: unknown) => T | undefined): T[] | undefined {
  const found: T[] = [];
  for (const one of list) {
    const value = read(one);
    if (value === undefined) return undefined;
    found.push(value);
  }
  return found;
}
