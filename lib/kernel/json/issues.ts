/**
 * Turns what a schema of zod found in foreign JSON into lines for people: field, value, expectation.
 *
 * Schemas that are used with it give the expectation as `error`: `z.string({ error: "a text" })`. They are run with
 * `reportInput`, so that each issue carries the value.
 *
 * @module
 */

/** The part of zod's issues that this module uses. */
export interface JsonIssue {
  readonly path: readonly PropertyKey[];
  /** The expectation. */
  readonly message: string;
  /** The value; undefined when there is none. */
  readonly input?: unknown;
}

/** Longest value that is printed, in characters. */
const MAX_SHOWN = 100;

/** One line an issue: `plugins[1].type: got 5, expected a text`. The top of the document is called `whole`. */
export function issueLines(issues: readonly JsonIssue[], whole = "the document"): string[] {
  return issues.map(({ path, message, input }) =>
    `${pathText(path) || whole}: got ${shown(input)}, expected ${message}`
  );
}

function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    const name = String(key);
    if (!/^[\w$]+$/.test(name)) return `${text}[${JSON.stringify(name)}]`;
    return text === "" ? name : `${text}.${name}`;
  }, "");
}

function shown(value: unknown): string {
  if (value === undefined) return "none";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}... (${text.length} characters)`;
}
