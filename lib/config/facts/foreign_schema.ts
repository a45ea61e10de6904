/**
 * Pieces of the schemas of facts. In schemas of foreign JSON the message of a check is the expectation; `null` is as
 * if nothing was written.
 *
 * @module
 */
import * as z from "zod";

/** A string. */
export const text = z.string({ error: "a string" });

export const integer = z.int({ error: "an integer" });

/** Strings. */
export const texts = listOf(text, "a list of strings");

/** An optional string. */
export function textOr(otherwise: string) {
  return written((value, context) => typeof value === "string" ? value : refuse(value, "a string", context), otherwise);
}

/** An optional list. A missing list counts as empty. */
export function listOf<T extends z.ZodType>(element: T, expected: string) {
  return written((value, context): z.output<T>[] => {
    if (!Array.isArray(value)) return refuse(value, expected, context);
    return value.map((one, index) => inside(element, one, context, index));
  }, []);
}

/**
 * An optional map of texts. A missing map counts as empty. A value of `null` is an empty text, as for an API server: a
 * selector that asks for a label does not become a selector without conditions.
 */
export function mapOf<T extends z.ZodType>(element: T) {
  return written((value, context): Record<string, z.output<T>> => {
    if (typeof value !== "object" || Array.isArray(value)) return refuse(value, "a map", context);
    return Object.fromEntries(
      Object.entries(value!).map(([key, one]) => [key, inside(element, one ?? "", context, key)]),
    );
  }, {});
}

/** An object with the fields to read; other fields are not read. */
export function fields<S extends z.ZodRawShape>(shape: S, expected = "an object") {
  return z.object(shape, { error: expected });
}

/** An object without its undefined fields. */
export function defined<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const found: Partial<T> = {};
  for (const key in object) if (object[key] !== undefined) found[key] = object[key];
  return found as { [K in keyof T]: Exclude<T[K], undefined> };
}

/** The written value, or undefined: `null` counts as not written. */
export function optional<T extends z.ZodType>(schema: T) {
  return written((value, context): z.output<T> | undefined => inside(schema, value, context), undefined);
}

type Context = z.core.ParsePayload;

/**
 * An optional field. One step of zod instead of the four of `nullish().transform()`: a mesh has hundreds of thousands
 * of such fields.
 *
 * @param otherwise The value of a missing field; must not be changed.
 */
function written<T>(read: (value: unknown, context: Context) => T, otherwise: T): z.ZodTransform<T, unknown> {
  return z.transform((value: unknown, context): T =>
    value === undefined || value === null ? otherwise : read(value, context)
  );
}

/** Reads a value inside another value. */
function inside<T extends z.ZodType>(schema: T, value: unknown, context: Context, ...path: PropertyKey[]): z.output<T> {
  const { data, error } = schema.safeParse(value);
  if (error === undefined) return data as z.output<T>;
  for (const issue of error.issues) {
    context.issues.push({ code: "custom", message: issue.message, path: [...path, ...issue.path], input: value });
  }
  return z.NEVER;
}

function refuse(input: unknown, message: string, { issues }: Context): never {
  issues.push({ code: "custom", message, input });
  return z.NEVER;
}
