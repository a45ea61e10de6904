/**
 * The kinds' schemas as JSON Schema (draft 2020-12), for editors and for the definitions of an orchestrator.
 *
 * JSON Schema says the same as decoding: both spellings of names, null for unset fields, numbers in quotes,
 * enumerations by name or number, required fields whose zero value counts as not written, groups of which one field may
 * be written. JSON Schema cannot say three rules: a number in quotes is in range, a duration is at most 292 years, and
 * a field is written in one spelling only. Rules across fields are left out.
 *
 * @module
 */
import { FIELD_SPELLINGS, VALUE_SPELLINGS } from "../spelling/spelling.ts";
import type { Field, FieldLimits, FieldShape, MessageShape, PresentField } from "./field.ts";
import { BASE64, INTEGER_TEXT, NUMBER_TEXT } from "./scalars.ts";

export type JsonSchema = { readonly [keyword: string]: unknown };

/** The comment of a type's declaration, for people. */
export interface TypeComment {
  /** Name of the type; absent: no name of its own. */
  readonly name?: string;
  readonly description?: string;
  /** The descriptions of a field of an object, and of the field's type. */
  field(name: string): { readonly description?: string; readonly type: TypeComment } | undefined;
  /** The type of elements or values, of a list or map. */
  readonly element?: TypeComment;
}

/** Collects the definitions of all messages below one field. */
export class JsonSchemaPrinter {
  /** By name of the type. */
  readonly #definitions = new Map<string, JsonSchema>();

  /** The definitions behind the references `#/$defs/NAME` of the printed schemas, sorted by name. */
  definitions(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#definitions].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /**
   * The schema of a field's values, without null.
   *
   * @param path Names a message without a name of its own.
   */
  print({ shape, limits = {} }: Field<unknown>, comment: TypeComment | undefined, path: string): JsonSchema {
    switch (shape.type) {
      case "list":
        return { type: "array", items: this.print(shape.element, elementOf(comment), `${path}.item`), ...limits };
      case "map":
        return {
          type: "object",
          additionalProperties: this.print(shape.value, elementOf(comment), `${path}.value`),
          ...limits,
        };
      case "message":
        return { $ref: `#/$defs/${this.#define(shape, comment, comment?.name ?? path)}` };
      default:
        return scalar(shape, limits);
    }
  }

  #define(shape: MessageShape, comment: TypeComment | undefined, name: string): string {
    if (this.#definitions.has(name)) return name;
    // Also ends the walk if a message contains itself.
    this.#definitions.set(name, {});
    const properties: Record<string, JsonSchema> = {};
    const aliases: Record<string, JsonSchema> = {};
    for (const [key, field] of Object.entries(shape.fields)) {
      const about = comment?.field(key);
      const values = this.print(field, about && describedBy(about.type, about.description), `${name}.${key}`);
      properties[key] = described(valuesOrUnset(values, field), about?.description ?? about?.type.description);
      for (const alias of aliasesOf(key)) aliases[alias] = { $ref: `#/$defs/${name}/properties/${key}` };
    }
    for (const key of shape.ignored) aliases[key] = { description: "Accepted without effect.", deprecated: true };
    const rules = [...requirements(shape), ...shape.oneOf.flatMap((group) => exclusions(group, shape))];
    this.#definitions.set(name, {
      ...(comment?.description === undefined ? {} : { description: comment.description }),
      type: "object",
      properties: { ...properties, ...aliases },
      additionalProperties: false,
      ...(rules.length === 0 ? {} : { allOf: rules }),
    });
    return name;
  }
}

/** A type without a description gets the description of its use. */
function describedBy(type: TypeComment, description: string | undefined): TypeComment {
  return type.description !== undefined || description === undefined ? type : { ...type, description };
}

function elementOf(comment: TypeComment | undefined): TypeComment | undefined {
  return comment?.element && describedBy(comment.element, comment.description);
}

function described(schema: JsonSchema, description: string | undefined): JsonSchema {
  return description === undefined ? schema : { description, ...schema };
}

function scalar(shape: FieldShape, limits: FieldLimits): JsonSchema {
  switch (shape.type) {
    case "string":
    case "boolean":
      return { type: shape.type, ...limits };
    case "integer":
      // A number with limits is never in quotes.
      if (Object.keys(limits).length > 0) return { type: "integer", ...limits };
      return {
        anyOf: [
          { type: "integer", minimum: shape.minimum, maximum: shape.maximum },
          { type: "string", pattern: INTEGER_TEXT.source },
        ],
      };
    case "number":
      return { anyOf: [{ type: "number" }, { type: "string", pattern: NUMBER_TEXT.source }] };
    case "duration":
      return { type: "string", pattern: limits.pattern ?? DURATION_TEXT, examples: ["5s", "250ms", "1h30m"] };
    case "base64":
      return { type: "string", pattern: BASE64.source };
    case "enum": {
      const known = new Set(shape.names);
      const respelled = Object.entries(VALUE_SPELLINGS).filter(([, own]) => known.has(own)).map(([alias]) => alias);
      const numbers = { type: "integer", minimum: 0, maximum: shape.names.length - 1 };
      return { anyOf: [{ enum: [...shape.names, ...respelled] }, numbers] };
    }
    default:
      return { type: "object" };
  }
}

export const DURATION_TEXT = "^[-+]?(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$";

/** A value, or null for unset. A required field may not be null. */
function valuesOrUnset(values: JsonSchema, field: Field<unknown> & Partial<PresentField<unknown>>): JsonSchema {
  if (!isRequired(field)) return { anyOf: [values, { type: "null" }] };
  const zero = zeroOf(field);
  return zero === undefined ? values : { allOf: [values, { not: zero }] };
}

function isRequired(field: Field<unknown> & Partial<PresentField<unknown>>): boolean {
  return field.present === true && field.fallback === undefined;
}

/** The values that count as not written; undefined: none. */
function zeroOf(field: Field<unknown>): JsonSchema | undefined {
  if (field.isZero === undefined) return undefined;
  switch (field.shape.type) {
    case "string":
    case "base64":
      return { const: "" };
    case "boolean":
      return { const: false };
    case "integer":
    case "number":
      return { anyOf: [{ const: 0 }, { type: "string", pattern: "^[+-]?0*\\.?0*([eE][+-]?\\d+)?$" }] };
    case "list":
      return { type: "array", maxItems: 0 };
    case "map":
      return { type: "object", maxProperties: 0 };
    default:
      return undefined;
  }
}

/** Required fields, in either spelling. */
function requirements({ fields }: MessageShape): JsonSchema[] {
  return Object.entries(fields).filter(([, field]) => isRequired(field)).map(([key]) => {
    const spellings = [key, ...aliasesOf(key)].map((spelling) => ({ required: [spelling] }));
    return spellings.length === 1 ? { required: [key] } : { anyOf: spellings };
  });
}

/** At most one of two fields of a group is written. */
function exclusions(group: readonly string[], { fields }: MessageShape): JsonSchema[] {
  return group.flatMap((one, index) =>
    group.slice(index + 1).map((other) => ({
      not: { allOf: [one, other].map((key) => writtenIn(key, fields[key])) },
    }))
  );
}

function writtenIn(key: string, field: Field<unknown> | undefined): JsonSchema {
  const zero = field === undefined ? undefined : zeroOf(field);
  const unset = { anyOf: [{ type: "null" }, ...zero === undefined ? [] : [zero]] };
  return {
    anyOf: [key, ...aliasesOf(key)].map((spelling) => ({
      required: [spelling],
      properties: { [spelling]: { not: unset } },
    })),
  };
}

/** Other names of a field: Istio's name if different, and each name with underscores. */
function aliasesOf(key: string): string[] {
  const names = [key, ...Object.entries(FIELD_SPELLINGS).filter(([, own]) => own === key).map(([alias]) => alias)];
  const snakes = names.flatMap((name) => [snakeCase(name), snakeCase(name.replace(/([a-z])(?=\d)/g, "$1_"))]);
  return [...new Set([...names, ...snakes])].filter((name) => name !== key);
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
