/**
 * The node metadata in which a proxy describes itself: foreign JSON, checked by schemas whose messages say what was
 * expected. Booleans and numbers may travel as strings.
 *
 * @module
 */
import { z } from "zod";
import { Findings } from "../../config/finding/findings.ts";
import { proxySettings } from "../../config/mesh/proxy_schema.ts";
import type { ProxySettings } from "../../config/mesh/types.ts";
import { parseDuration } from "../../config/schema/duration.ts";
import { DecodeContext } from "../../config/schema/field.ts";
import { ownKey, ownLabelValue } from "../../config/spelling/spelling.ts";

/** UTF-16 units of one text, and of the name or value of one label. Istio's own are names, addresses and paths. */
const MAX_TEXT = 1024;
/** Units of a list, and of an object that is kept whole, as JSON. */
const MAX_STRUCTURE = 16 * 1024;
/** Units of a value that a refusal shows. */
const MAX_SHOWN = 100;

const text = z.union([z.string(), z.number(), z.boolean()], { error: "a string" }).transform(String).pipe(
  z.string().max(MAX_TEXT, { error: `at most ${MAX_TEXT} characters` }),
);

const flag = z.preprocess(
  (value) => String(value).toLowerCase(),
  z.enum(["true", "1", "false", "0"], { error: "true or false" }).transform((word) => word === "true" || word === "1"),
);

const duration = z.string({ error: "a duration such as 30s" }).transform((written, context) => {
  const parsed = parseDuration(written);
  if (parsed === undefined) context.addIssue({ code: "custom", message: "a duration such as 30s" });
  return parsed ?? z.NEVER;
});

const list = z.preprocess(
  (value) => (typeof value === "string" ? value.split(",") : value),
  z.array(z.string({ error: "a comma separated list" }), { error: "a comma separated list" }).refine(
    (parts) => parts.join().length <= MAX_STRUCTURE,
    { error: `at most ${MAX_STRUCTURE} characters` },
  ),
).transform((parts) => parts.map((part) => part.trim()).filter((part) => part !== ""));

const labels = z.record(z.string(), z.unknown(), { error: "a map of strings" }).transform((map, context) => {
  const own: [string, string][] = [];
  const refuse = (message: string) => context.addIssue({ code: "custom", message });
  for (const [name, value] of Object.entries(map)) {
    if (typeof value !== "string") refuse(`a string at ${shown(name)}`);
    else if (name.length > MAX_TEXT || value.length > MAX_TEXT) {
      refuse(`at most ${MAX_TEXT} characters in the name and in the value of ${shown(name)}`);
    } else own.push([ownKey(name), ownLabelValue(ownKey(name), value)]);
  }
  return Object.fromEntries(own);
});

const object = z.preprocess(
  (value) => (typeof value === "string" ? parsedJson(value) : value),
  z.record(z.string(), z.unknown(), { error: "a JSON object" }),
);

/** Reads typed values out of metadata and collects what does not fit. */
export class Metadata {
  readonly #data: Readonly<Record<string, unknown>>;
  /** Values that are not as expected, each with key, value and expectation. Such a value counts as absent. */
  readonly problems: string[] = [];

  constructor(data: Readonly<Record<string, unknown>>) {
    this.#data = data;
  }

  /** Whether there is a value. */
  has(key: string): boolean {
    return this.#value(key) !== undefined;
  }

  /** A string; empty when absent. */
  text(key: string): string {
    return this.#read(key, text) ?? "";
  }

  /** A switch: true, "true", "1" and their opposites; absent is `fallback`. */
  flag(key: string, fallback = false): boolean {
    return this.#read(key, flag) ?? fallback;
  }

  /** A whole number from 0 to `most`; absent is 0. */
  count(key: string, most: number): number {
    if (this.#value(key) === undefined) return 0;
    const expected = `a whole number from 0 to ${most}`;
    const whole = z.int({ error: expected }).min(0, { error: expected }).max(most, { error: expected });
    return this.#read(key, z.preprocess(Number, whole)) ?? 0;
  }

  /** A duration in Go syntax, in ms; absent is 0. */
  duration(key: string): number {
    return this.#read(key, duration) ?? 0;
  }

  /** A list: comma separated, or a real list of strings. */
  list(key: string): string[] {
    return this.#read(key, list) ?? [];
  }

  /** Labels or annotations in our spelling. */
  labels(key: string): Record<string, string> {
    return this.#read(key, labels) ?? {};
  }

  /** Some proxy settings of an object, or of one as text; settings that are too large to be kept count as absent. */
  settings<K extends keyof ProxySettings>(key: string, ...names: readonly K[]): Partial<Pick<ProxySettings, K>> {
    const whole = this.#read(key, object);
    if (whole === undefined) return {};
    const given = names.filter((name) => whole[name] !== undefined);
    const large = given.filter((name) => JSON.stringify(whole[name]).length > MAX_STRUCTURE);
    for (const name of large) this.#refuse(key, `at most ${MAX_STRUCTURE} characters of ${name} as JSON`);
    const kept = Object.fromEntries(given.filter((name) => !large.includes(name)).map((name) => [name, whole[name]]));
    const findings = new Findings();
    const settings = proxySettings.decode(kept, new DecodeContext("", findings, "warning")) ?? {};
    for (const { severity, message } of findings.list) {
      if (severity === "error") this.problems.push(`metadata ${key}: ${message}`);
    }
    return settings as Partial<Pick<ProxySettings, K>>;
  }

  #read<T>(key: string, schema: z.ZodType<T>): T | undefined {
    const value = this.#value(key);
    if (value === undefined) return undefined;
    const read = schema.safeParse(value);
    if (read.success) return read.data;
    // Of a list every element may be wrong in the same way.
    for (const message of new Set(read.error.issues.map((issue) => issue.message))) this.#refuse(key, message);
    return undefined;
  }

  #value(key: string): unknown {
    const value = Object.hasOwn(this.#data, key) ? this.#data[key] : undefined;
    return value === null || value === "" ? undefined : value;
  }

  #refuse(key: string, expected: string): void {
    this.problems.push(`metadata ${key}=${shown(this.#value(key))}, expected ${expected}`);
  }
}

/** A value as a refusal shows it. */
function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}... (${text.length} characters)`;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // No object, so the schema's message says what was expected.
  }
}
