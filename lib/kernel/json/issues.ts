/**
 * Turns zod's issues about foreign JSON into lines for people: field, value, expectation.
 *
 * A schema for these lines gives its expectation as `error`: `z.string({ error: "a text" })`. Parse with `reportInput`,
 * so that each issue carries the value.
 *
 * @module
 */

/** The fields of a zod issue that are read here. */
export interface JsonIssue {
  readonly path: readonly PropertyKey[];
  /** The expectation. */
  readonly message: string;
  /** The value. Undefined when absent. */
  readonly input?: unknown;
  readonly code?: string | undefined;
  /** Details by code. They make an expectation when a schema gives no `error`. */
  readonly expected?: string;
  readonly errors?: readonly (readonly JsonIssue[])[];
  readonly keys?: readonly string[];
  readonly values?: readonly unknown[];
  readonly minimum?: number | bigint;
  readonly maximum?: number | bigint;
}

/** Longest printed value, in characters. */
const MAX_SHOWN = 100;

/**
 * One line for each issue: `plugins[1].type: got 5, expected a text`.
 *
 * @param whole The name of the document's top.
 */
export function issueLines(issues: readonly JsonIssue[], whole = "the document"): string[] {
  return issues.map((issue) =>
    `${pathText(issue.path) || whole}: got ${shown(issue.input)}, expected ${expectationOf(issue)}`
  );
}

/** Beginnings of zod's own messages, which are written for programmers. */
const OF_LIBRARY = /^(?:Invalid|Unrecognized|Too (?:small|big))/;

const TYPES: Readonly<Record<string, string>> = {
  ...{ string: "a text", number: "a number", int: "a whole number", boolean: "true or false" },
  ...{ object: "an object", record: "an object", array: "a list", null: "null", undefined: "nothing" },
};

/** The expectation in our words. */
function expectationOf(issue: JsonIssue): string {
  const { code, message, expected = "", errors = [], keys = [], values = [], minimum, maximum } = issue;
  if (!OF_LIBRARY.test(message)) return message;
  switch (code) {
    case "invalid_type":
      return TYPES[expected] ?? "a value of another type";
    case "invalid_union": {
      const ways = errors.flatMap((way) => way.filter(({ path }) => path.length === 0).map(expectationOf));
      return [...new Set(ways)].join(" or ") || "another value";
    }
    case "unrecognized_keys":
      return `no field ${keys.slice(0, 5).map(shown).join(", ")}`;
    case "invalid_value":
      return values.map((value) => JSON.stringify(value)).join(" or ");
    case "too_small":
      return `at least ${minimum}`;
    case "too_big":
      return `at most ${maximum}`;
    default:
      return "another value";
  }
}

function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    const name = String(key);
    if (!/^[\w$]+$/.test(name)) return `${text}[${shown(name)}]`;
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
