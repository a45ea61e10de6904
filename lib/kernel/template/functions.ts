/**
 * Functions of templates: the functions of Go's `text/template`, and the functions of sprig that configuration uses.
 *
 * @module
 */

/** A function of templates. An exception becomes an error of the template. */
export type TemplateFunction = (...values: readonly unknown[]) => unknown;

/** Whether a value counts as true: not empty, not 0, not false. */
export function isThere(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** A value in Go's printed form. */
export function printed(value: unknown): string {
  if (value === undefined || value === null) return "<no value>";
  if (Array.isArray(value)) return `[${value.map(printed).join(" ")}]`;
  if (typeof value !== "object") return String(value);
  return `map[${sorted(value).map(([key, one]) => `${key}:${printed(one)}`).join(" ")}]`;
}

/** Members sorted by key, like Go's walk through maps. */
export function sorted(value: object): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1);
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw new Error(`got ${printed(value)}, expected a text`);
}

function number(value: unknown): number {
  const found = typeof value === "number" ? value : typeof value === "string" && value !== "" ? Number(value) : NaN;
  if (Number.isNaN(found)) throw new Error(`got ${printed(value)}, expected a number`);
  return found;
}

function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error(`got ${printed(value)}, expected a list`);
}

function compare(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return text(a) < text(b) ? -1 : a === b ? 0 : 1;
}

/** The member of a list or a map. Undefined for an absent member. */
export function memberOf(value: unknown, key: unknown): unknown {
  if (Array.isArray(value)) return value[number(key)];
  if (typeof value !== "object" || value === null) return undefined;
  return Object.hasOwn(value, String(key)) ? (value as Record<string, unknown>)[String(key)] : undefined;
}

/** A field, or the result of a Go method that protobuf generates for the field: `GetName`, `GetValue`, `String`. */
export function fieldOf(value: unknown, name: string): unknown {
  if (Array.isArray(value)) throw new Error(`got a list, expected something with a field ${name}`);
  const found = memberOf(value, name);
  if (found !== undefined) return found;
  if (typeof value !== "object") return name === "String" || name === "GetValue" ? value : undefined;
  return name.startsWith("Get") ? memberOf(value, name.slice(3)) : undefined;
}

/** `%s`, `%d`, `%v`, `%q`, `%t`, `%f` with places, `%%`. */
function formatted(format: unknown, ...values: readonly unknown[]): string {
  let at = 0;
  return text(format).replace(/%(?:\.(\d+))?([a-z%])/g, (_, places: string | undefined, verb: string) => {
    if (verb === "%") return "%";
    const value = values[at++];
    if (verb === "q") return JSON.stringify(printed(value));
    if (verb === "f") return number(value).toFixed(places === undefined ? 6 : Number(places));
    if ("sdvt".includes(verb)) return printed(value);
    throw new Error(`got %${verb}, expected one of %s %d %v %q %t %f`);
  });
}

function trimmed(signs: string, value: string): string {
  const letters = [...value];
  const keeps = (one: string) => !signs.includes(one);
  return letters.slice(Math.max(letters.findIndex(keeps), 0), letters.findLastIndex(keeps) + 1).join("");
}

const json: TemplateFunction = (value) => JSON.stringify(value ?? null);
const indented = (spaces: unknown, value: unknown) =>
  text(value).split("\n").map((line) => " ".repeat(number(spaces)) + line).join("\n");

/**
 * The functions. `and` and `or` belong to the evaluator, because they skip operands without influence on the result.
 */
export const TEMPLATE_FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  not: (value) => !isThere(value),
  eq: (value, ...others) => others.some((other) => other === value),
  ne: (a, b) => a !== b,
  lt: (a, b) => compare(a, b) < 0,
  le: (a, b) => compare(a, b) <= 0,
  gt: (a, b) => compare(a, b) > 0,
  ge: (a, b) => compare(a, b) >= 0,
  len: (value) => typeof value === "object" && value !== null ? Object.keys(value).length : text(value).length,
  index: (value, ...keys) => keys.reduce(memberOf, value),
  print: (...values) => values.map(printed).join(""),
  println: (...values) => `${values.map(printed).join(" ")}\n`,
  printf: formatted,
  ...{ toJSON: json, toJson: json, quote: (value) => JSON.stringify(printed(value)) },
  default: (other, value) => isThere(value) ? value : other,
  empty: (value) => !isThere(value),
  coalesce: (...values) => values.find(isThere),
  ternary: (yes, no, condition) => isThere(condition) ? yes : no,
  required(message, value) {
    if (value === undefined || value === null || value === "") throw new Error(text(message));
    return value;
  },
  ...{ trim: (value) => text(value).trim(), upper: (value) => text(value).toUpperCase() },
  lower: (value) => text(value).toLowerCase(),
  replace: (from, to, value) => text(value).replaceAll(text(from), text(to)),
  trimPrefix: (part, value) => text(value).startsWith(text(part)) ? text(value).slice(text(part).length) : value,
  trimSuffix: (part, value) => text(value).endsWith(text(part)) ? text(value).slice(0, -text(part).length) : value,
  contains: (part, value) => text(value).includes(text(part)),
  hasPrefix: (part, value) => text(value).startsWith(text(part)),
  hasSuffix: (part, value) => text(value).endsWith(text(part)),
  splitList: (separator, value) => text(value).split(text(separator)),
  join: (separator, value) => list(value).map(printed).join(text(separator)),
  trimAll: (signs, value) => trimmed(text(signs), text(value)),
  trunc: (length, value) =>
    number(length) < 0 ? text(value).slice(number(length)) : text(value).slice(0, number(length)),
  squote: (value) => `'${printed(value ?? "")}'`,
  b64enc: (value) => new TextEncoder().encode(text(value)).toBase64(),
  ...{ append: (value, one) => [...list(value), one], prepend: (value, one) => [one, ...list(value)] },
  ...{ uniq: (value) => [...new Set(list(value))], sortAlpha: (value) => list(value).map(printed).sort() },
  without: (value, ...others) => list(value).filter((one) => !others.includes(one)),
  keys: (...maps) => maps.flatMap((map) => Object.keys(map ?? {})),
  ...{ list: (...values) => values, has: (one, value) => list(value).includes(one) },
  ...{ first: (value) => list(value)[0], last: (value) => list(value).at(-1) },
  hasKey: (value, key) => memberOf(value, key) !== undefined,
  get: (value, key) => memberOf(value, key) ?? "",
  dict(...values) {
    return Object.fromEntries(values.flatMap((key, i) => i % 2 === 0 ? [[printed(key), values[i + 1]]] : []));
  },
  ...{ add: (...values) => values.map(number).reduce((a, b) => a + b, 0), sub: (a, b) => number(a) - number(b) },
  ...{ int64: (value) => Math.trunc(number(value)), atoi: (value) => Math.trunc(number(value)) },
  ...{ max: (...values) => Math.max(...values.map(number)), min: (...values) => Math.min(...values.map(number)) },
  mul: (...values) => values.map(number).reduce((a, b) => a * b, 1),
  fail(message) {
    throw new Error(printed(message));
  },
  int: (value) => Math.trunc(number(value)),
  toString: printed,
  indent: indented,
  nindent: (spaces, value) => `\n${indented(spaces, value)}`,
};
