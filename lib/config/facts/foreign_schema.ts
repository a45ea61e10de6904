/**
 * Pieces of the schemas of facts. In schemas of foreign JSON the message of a check is what was expected; `null` is as
 * if nothing was written.
 *
 * @module
 */
import { z } from "zod";

/** A string. */
export const text = z.string({ error: "a string" });

/** An integer. */
export const integer = z.int({ error: "an integer" });

/** Strings. */
export const texts = listOf(text, "a list of strings");

/** A string that may be left out. */
export function textOr(otherwise: string) {
  return text.nullish().transform((written) => written ?? otherwise);
}

/** A list that may be left out, which is as if it were empty. */
export function listOf<T extends z.ZodType>(element: T, expected: string) {
  return z.array(element, { error: expected }).nullish().transform((list) => list ?? []);
}

/** A map that may be left out, which is as if it were empty. */
export function mapOf<T extends z.ZodType>(value: T) {
  return z.record(z.string(), value, { error: "a map" }).nullish().transform((map) => map ?? {});
}

/** An object of which these fields are read, the others are not. */
export function fields<S extends z.ZodRawShape>(shape: S, expected = "an object") {
  return z.object(shape, { error: expected });
}

/** An object without the fields that are undefined. */
export function defined<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

/** What was written, or undefined: `null` is as if nothing was written. */
export function optional<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((written) => written ?? undefined);
}
