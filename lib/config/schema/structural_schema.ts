/**
 * The kinds' schemas as structural schemas: the part of OpenAPI 3.0 that definitions of an orchestrator's API accept.
 *
 * Structural schemas accept less than decoding: names in one spelling, without underscores, beside Istio's names of
 * fields with other names here; enumerations as names; numbers as numbers, not as texts; null for everything but names
 * of enumerations. The server drops unknown fields, or refuses them if the client asks for that, as kubectl does.
 *
 * @module
 */
import { FIELD_SPELLINGS, VALUE_SPELLINGS } from "../spelling/spelling.ts";
import type { Field, FieldShape, MessageShape, PresentField } from "./field.ts";
import { DURATION_TEXT, type JsonSchema, type TypeComment } from "./json_schema.ts";
import { BASE64 } from "./scalars.ts";

/** Rules of a schema beyond its fields, by the names of types. */
export interface StructuralRules {
  /** Rules of messages. */
  readonly parts: Readonly<Record<string, readonly CelRule[]>>;
  /** The longest lists of messages: the server refuses rules with too many possible evaluations. */
  readonly maxItems: Readonly<Record<string, number>>;
}

/** A rule across fields, in the Common Expression Language. */
export interface CelRule {
  /** Over `self`; true for accepted values. */
  readonly rule: string;
  /** The expectation, for the server's error. */
  readonly message: string;
}

/** Any JSON value. */
const ANY: JsonSchema = { "x-kubernetes-preserve-unknown-fields": true };

/** The keyword for rules across fields. */
const RULES = "x-kubernetes-validations";

type MessageField = Field<unknown> & Partial<PresentField<unknown>>;

/**
 * The schema of a field's values.
 *
 * @param comment Description for people.
 * @param whole Rules of the field's own values.
 */
export function structuralSchema(
  field: Field<unknown>,
  comment: TypeComment | undefined,
  rules: StructuralRules,
  whole: readonly CelRule[] = [],
): JsonSchema {
  const schema = new StructuralPrinter(rules).print(field, comment);
  const all = [...schema[RULES] as readonly CelRule[] | undefined ?? [], ...whole];
  return all.length === 0 ? schema : { ...schema, [RULES]: all };
}

class StructuralPrinter {
  readonly #rules: StructuralRules;
  /** The messages around the printed message: a message inside itself is not printed again. */
  readonly #around: MessageShape[] = [];

  constructor(rules: StructuralRules) {
    this.#rules = rules;
  }

  print({ shape }: Field<unknown>, comment: TypeComment | undefined): JsonSchema {
    switch (shape.type) {
      case "list": {
        const maxItems = this.#rules.maxItems[comment?.element?.name ?? ""];
        const items = this.print(shape.element, comment?.element);
        return { type: "array", items, ...maxItems === undefined ? {} : { maxItems } };
      }
      case "map":
        return { type: "object", additionalProperties: this.print(shape.value, comment?.element) };
      case "message":
        return this.#message(shape, comment);
      default:
        return structuralScalar(shape);
    }
  }

  #message(shape: MessageShape, comment: TypeComment | undefined): JsonSchema {
    if (this.#around.includes(shape)) return { type: "object", ...ANY };
    this.#around.push(shape);
    const properties: Record<string, JsonSchema> = {};
    for (const [key, field] of Object.entries(shape.fields)) {
      const about = comment?.field(key);
      const description = about?.description ?? about?.type.description;
      const values = this.print(field, about?.type);
      const mustBe = field.present === true && field.fallback === undefined;
      const schema = mustBe ? { ...values, ...mandatory(field) } : nullable(values);
      properties[key] = description === undefined ? schema : { ...schema, description };
      for (const alias of namesElsewhere(key)) properties[alias] = { ...schema, description: `The same as ${key}.` };
    }
    for (const key of shape.ignored) properties[key] = { ...ANY, description: "Accepted without effect." };
    this.#around.pop();
    const rules = [...groupRules(shape), ...this.#rules.parts[comment?.name ?? ""] ?? []];
    return {
      type: "object",
      ...(comment?.description === undefined ? {} : { description: comment.description }),
      properties,
      ...requirementsOf(shape),
      ...(rules.length === 0 ? {} : { [RULES]: rules }),
    };
  }
}

/** An optional field may be null, which counts as not written. The server does not accept null among names. */
function nullable(schema: JsonSchema): JsonSchema {
  return schema["enum"] === undefined ? { ...schema, nullable: true } : schema;
}

function structuralScalar(shape: FieldShape): JsonSchema {
  switch (shape.type) {
    case "string":
    case "boolean":
    case "number":
      return { type: shape.type };
    case "integer":
      return { type: "integer", minimum: shape.minimum, maximum: shape.maximum };
    case "duration":
      return { type: "string", pattern: DURATION_TEXT };
    case "base64":
      return { type: "string", pattern: BASE64.source };
    case "enum": {
      const known = new Set(shape.names);
      const elsewhere = Object.entries(VALUE_SPELLINGS).filter(([, own]) => known.has(own)).map(([alias]) => alias);
      return { type: "string", enum: [...shape.names, ...elsewhere] };
    }
    default:
      return { type: "object", ...ANY };
  }
}

/** Zero values count as not written, so a required field may not have them. */
function mandatory({ shape, isZero }: MessageField): JsonSchema {
  if (isZero === undefined) return {};
  switch (shape.type) {
    case "string":
    case "base64":
      return { minLength: 1 };
    case "list":
      return { minItems: 1 };
    case "map":
      return { minProperties: 1 };
    case "integer":
    case "number":
      return { not: { enum: [0] } };
    default:
      return {};
  }
}

function requirementsOf({ fields }: MessageShape): JsonSchema {
  const keys = Object.keys(fields).filter((key) =>
    fields[key]!.present === true && fields[key]!.fallback === undefined
  );
  const plain = keys.filter((key) => namesElsewhere(key).length === 0);
  const others = keys.filter((key) => !plain.includes(key));
  const either = others.map((key) => ({ anyOf: [key, ...namesElsewhere(key)].map((name) => ({ required: [name] })) }));
  return {
    ...plain.length === 0 ? {} : { required: plain },
    ...either.length === 0 ? {} : { allOf: either },
  };
}

/** At most one field of a group, and one name of a field, is written. */
function groupRules({ fields, oneOf }: MessageShape): CelRule[] {
  const names = Object.keys(fields).map((key) => [key, ...namesElsewhere(key)]).filter(({ length }) => length > 1);
  return [...oneOf, ...names].map((group) => {
    const written = group.map((key) => `(${writtenIn(key, fields[FIELD_SPELLINGS[key] ?? key])} ? 1 : 0)`);
    return { rule: `${written.join(" + ")} <= 1`, message: `expected at most one of ${group.join(", ")}` };
  });
}

/** Whether a field has a value that counts. */
function writtenIn(key: string, field: Field<unknown> | undefined): string {
  const value = `self.${celName(key)}`;
  const has = `has(${value})`;
  if (field?.isZero === undefined) return has;
  switch (field.shape.type) {
    case "string":
    case "base64":
      return `${has} && ${value} != ''`;
    case "list":
    case "map":
      return `${has} && size(${value}) > 0`;
    case "integer":
      return `${has} && ${value} != 0`;
    case "number":
      return `${has} && ${value} != 0.0`;
    case "boolean":
      return `${has} && ${value}`;
    default:
      return has;
  }
}

/** Reserved words of the language, not allowed as names of fields. */
const CEL_WORDS = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while"
    .split(" "),
);

/** A field's name in the Common Expression Language. */
function celName(key: string): string {
  return CEL_WORDS.has(key) ? `__${key}__` : key;
}

/** Istio's names of a field, if different. */
function namesElsewhere(key: string): string[] {
  return Object.entries(FIELD_SPELLINGS).filter(([, own]) => own === key).map(([name]) => name);
}
