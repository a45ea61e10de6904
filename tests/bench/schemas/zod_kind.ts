/**
 * A kind's schema in zod, derived from the kind's own schema, so both read the same: two spellings of names, null and
 * zero for unset values, numbers in quotes, enumerations by name or number, groups with at most one member.
 *
 * @module
 */
import { z } from "zod";
import { type Field, isObject, type MessageShape, type PresentField } from "../../../lib/config/schema/field.ts";
import { BASE64, INTEGER_TEXT, NUMBER_TEXT } from "../../../lib/config/schema/scalars.ts";
import { FIELD_SPELLINGS, VALUE_SPELLINGS } from "../../../lib/config/spelling/spelling.ts";
import { parseDuration } from "../../../lib/kernel/time/duration.ts";

/** The same structure, without spellings, null, zero values, numbers in quotes and groups: zod's best case. */
export function toPlainZod({ shape, expected }: Field<unknown>): z.ZodType {
  switch (shape.type) {
    case "integer":
      return z.int({ error: expected });
    case "number":
      return z.number({ error: expected });
    case "duration":
    case "base64":
      return z.string({ error: expected });
    case "enum":
      return z.enum(shape.names as [string, ...string[]], { error: expected });
    case "list":
      return z.array(toPlainZod(shape.element), { error: expected });
    case "map":
      return z.record(z.string(), toPlainZod(shape.value), { error: expected });
    case "message":
      return z.strictObject(Object.fromEntries(
        Object.entries(shape.fields).map(([name, field]) => [name, toPlainZod(field).optional()]),
      ));
    default:
      return toZod({ shape, expected } as Field<unknown>);
  }
}

type AnyField = Field<unknown> & Partial<PresentField<unknown>>;

/** The same schema in zod. */
export function toZod({ shape, expected }: Field<unknown>): z.ZodType {
  switch (shape.type) {
    case "string":
      return z.string({ error: expected });
    case "boolean":
      return z.boolean({ error: expected });
    case "integer": {
      const inRange = z.int({ error: expected }).min(shape.minimum, { error: expected }).max(shape.maximum, {
        error: expected,
      });
      const quoted = z.string().regex(INTEGER_TEXT, { error: expected }).transform(Number).pipe(inRange);
      return z.union([inRange, quoted], { error: expected });
    }
    case "number": {
      const quoted = z.string().regex(NUMBER_TEXT, { error: expected }).transform(Number);
      return z.union([z.number({ error: expected }), quoted], { error: expected });
    }
    case "duration":
      return z.string({ error: expected }).transform((text, context) => {
        const parsed = parseDuration(text);
        if (parsed === undefined) context.addIssue({ code: "custom", message: expected });
        return parsed ?? z.NEVER;
      });
    case "base64":
      return z.string({ error: expected }).regex(BASE64, { error: expected });
    case "struct":
      return z.record(z.string(), z.unknown(), { error: expected });
    case "enum": {
      const names = z.enum(shape.names as [string, ...string[]], { error: expected });
      return z.preprocess(
        (value) => typeof value === "number" ? shape.names[value] : VALUE_SPELLINGS[String(value)] ?? value,
        names,
      );
    }
    case "list":
      return z.array(toZod(shape.element), { error: expected });
    case "map":
      return z.record(z.string(), toZod(shape.value), { error: expected });
    case "message":
      return messageOf(shape);
  }
}

function messageOf(shape: MessageShape): z.ZodType {
  const fields = Object.entries(shape.fields);
  const spellings = new Map(fields.flatMap(([name]) => spellingsOf(name).map((spelling) => [spelling, name] as const)));
  const properties = Object.fromEntries(fields.map(([name, field]) => [name, propertyOf(field)]));
  return z.preprocess(
    (value) => respelled(value, spellings),
    z.strictObject(properties).transform((value) => {
      const written: Record<string, unknown> = {};
      for (const [name] of fields) if (value[name] !== undefined) written[name] = value[name];
      return written;
    }).superRefine((value, context) => {
      for (const group of shape.oneOf) {
        const set = group.filter((name) => value[name] !== undefined);
        if (set.length > 1) {
          context.addIssue({ code: "custom", message: `only one of ${group.join(", ")}`, input: set });
        }
      }
    }),
  );
}

function propertyOf(field: AnyField): z.ZodType {
  const written = toZod(field).nullish().transform((value) =>
    value === null || (value !== undefined && field.isZero?.(value) === true) ? undefined : value
  );
  if (field.present !== true) return written;
  if (field.fallback !== undefined) return written.transform((value) => value ?? field.fallback?.());
  return written.refine((value) => value !== undefined, { error: field.expected });
}

function respelled(value: unknown, spellings: ReadonlyMap<string, string>): unknown {
  if (!isObject(value)) return value;
  const keys = Object.keys(value);
  if (keys.every((key) => spellings.get(key) === key)) return value;
  return Object.fromEntries(keys.map((key) => [spellings.get(key) ?? key, value[key]]));
}

function spellingsOf(name: string): string[] {
  const aliases = [name, ...Object.entries(FIELD_SPELLINGS).filter(([, own]) => own === name).map(([alias]) => alias)];
  return aliases.flatMap((alias) => [alias, alias.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]);
}
