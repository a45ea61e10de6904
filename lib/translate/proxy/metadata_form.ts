/**
 * Forms of node metadata values: schemas of foreign JSON, with messages about the expected form.
 *
 * The usual form of a value, which every proxy sends many times, is read without the schema, with equal results:
 * schemas cost a third of the time for reading a node. Every other form is judged by the schema.
 *
 * @module
 */
import * as z from "zod";
import { parseDuration } from "../../config/schema/duration.ts";
import { ownKey, ownLabelValue } from "../../config/spelling/spelling.ts";

/** How values of a type are read. */
export interface MetadataForm<T> {
  readonly schema: z.ZodType<T>;
  /** Reads the value's usual form. Undefined for any other form, which the schema judges. */
  readonly usual?: (value: unknown) => T | undefined;
}

/**
 * Limit of a text, and of the name or value of a label, in UTF-16 units. Istio's own values are names, addresses and
 * paths.
 */
const MAX_TEXT = 1024;
/** Limit of a list, and of an object that is kept whole, as JSON, in UTF-16 units. */
export const MAX_STRUCTURE = 16 * 1024;
/** Limit of a value in a refusal, in UTF-16 units. */
const MAX_SHOWN = 100;

/**
 * No name, address or path has a control character. In a log, a page or a key, such a character could look like a
 * border.
 */
const CONTROL = /\p{Cc}/u;

export const text: MetadataForm<string> = {
  schema: z.union([z.string(), z.number(), z.boolean()], { error: "a string" }).transform(String).pipe(
    z.string().max(MAX_TEXT, { error: `at most ${MAX_TEXT} characters` })
      .refine((text) => !CONTROL.test(text), { error: "no control characters" }),
  ),
  usual: (value) => (typeof value === "string" && value.length <= MAX_TEXT && !CONTROL.test(value) ? value : undefined),
};

/** A switch: true, "true", "1" and their opposites. */
export const flag: MetadataForm<boolean> = {
  schema: z.preprocess(
    (value) => String(value).toLowerCase(),
    z.enum(["true", "1", "false", "0"], { error: "true or false" }).transform((word) =>
      word === "true" || word === "1"
    ),
  ),
  usual: (value) => (typeof value === "boolean" ? value : undefined),
};

const written = z.string({ error: "a duration such as 30s" }).transform((text, context) => {
  const parsed = parseDuration(text);
  if (parsed === undefined) context.addIssue({ code: "custom", message: "a duration such as 30s" });
  return parsed ?? z.NEVER;
});

/** A duration in Go syntax, in ms. */
export const duration: MetadataForm<number> = { schema: written };

const parts = z.preprocess(
  (value) => (typeof value === "string" ? value.split(",") : value),
  z.array(z.string({ error: "a comma separated list" }), { error: "a comma separated list" }).refine(
    (parts) => parts.join().length <= MAX_STRUCTURE,
    { error: `at most ${MAX_STRUCTURE} characters` },
  ),
).transform(trimmed);

function trimmed(parts: readonly string[]): string[] {
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

/** A list: comma separated, or a real list of strings. */
export const list: MetadataForm<string[]> = {
  schema: parts,
  usual: (value) => {
    return typeof value === "string" && value.length <= MAX_STRUCTURE ? trimmed(value.split(",")) : undefined;
  },
};

const map = z.record(z.string(), z.unknown(), { error: "a map of strings" }).transform((given, context) => {
  const own: [string, string][] = [];
  const refuse = (message: string) => context.addIssue({ code: "custom", message });
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== "string") refuse(`a string at ${shown(name)}`);
    else if (name.length > MAX_TEXT || value.length > MAX_TEXT) {
      refuse(`at most ${MAX_TEXT} characters in the name and in the value of ${shown(name)}`);
    } else own.push([ownKey(name), ownLabelValue(ownKey(name), value)]);
  }
  return Object.fromEntries(own);
});

/** Labels or annotations, converted to this project's spelling. */
export const labels: MetadataForm<Record<string, string>> = { schema: map };

/** A whole number from 0 to `most`. */
export function count(most: number): MetadataForm<number> {
  const expected = `a whole number from 0 to ${most}`;
  const whole = z.int({ error: expected }).min(0, { error: expected }).max(most, { error: expected });
  return { schema: z.preprocess(Number, whole) };
}

/** An object, or an object as text. */
export const object: MetadataForm<Record<string, unknown>> = {
  schema: z.preprocess(
    (value) => (typeof value === "string" ? parsedJson(value) : value),
    z.record(z.string(), z.unknown(), { error: "a JSON object" }),
  ),
};

/** A value, shortened for a refusal. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}... (${text.length} characters)`;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not an object, so the schema's message states the expectation.
  }
}
