/**
 * Free-form values of specs.
 *
 * @module
 */

/** Any JSON value: the free-form parts of a spec (patches, plugin configuration). */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
/** A JSON object; keys `__proto__` never occur. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** String keys to string values (labels, headers). `__proto__` never occurs as a key. */
export type StringMap = Readonly<Record<string, string>>;
