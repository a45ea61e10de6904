/**
 * Messages: objects with known fields.
 *
 * @module
 */
import { Findings } from "../../finding/findings.ts";
import { FIELD_SPELLINGS } from "../spelling/spelling.ts";
import { DecodeContext, type Field, isObject, type PresentField } from "./field.ts";
import { nearestName } from "../../kernel/text/nearest.ts";

/** The fields of a message by name. */
export type MessageFields = Readonly<Record<string, Field<unknown>>>;

/** The type of a field's decoded values. */
export type Of<F> = F extends Field<infer T> ? T : never;

type PresentNames<F> = { [K in keyof F]: F[K] extends PresentField<unknown> ? K : never }[keyof F];

// Mapped over a type parameter, so that editors show the comments of the fields at the members.
type Present<F, P extends keyof F> = { readonly [K in P]: Of<F[K]> };
type Absent<F, P extends keyof F> = { readonly [K in P]?: Of<F[K]> };

/** The type of a decoded message: a field that is neither required nor has a default may be absent. */
export type ValuesOf<F> = Present<F, PresentNames<F>> & Absent<F, Exclude<keyof F, PresentNames<F>>>;

/** Further rules of a message. */
export interface MessageRules<F> {
  /** Groups of fields of which at most one may be written. */
  readonly oneOf?: readonly (readonly (keyof F & string)[])[];
  /** Names accepted and dropped without a finding (fields of an older API). */
  readonly ignored?: readonly string[];
}

interface MemberEntry {
  readonly name: string;
  readonly field: Field<unknown> & Partial<PresentField<unknown>>;
}

/**
 * An object with exactly these fields. Fields come out in the order of this declaration, so equal specs give equal
 * text.
 */
export function message<F extends MessageFields>(fields: F, rules: MessageRules<F> = {}): Field<ValuesOf<F>> {
  const entries = Object.entries(fields).map(([name, field]) => ({ name, field }) as MemberEntry);
  const names = new Set(entries.map((entry) => entry.name));
  const ignored = new Set(rules.ignored ?? []);
  const oneOf = rules.oneOf ?? [];
  return {
    shape: { type: "message", fields, oneOf, ignored: [...ignored] },
    expected: "an object",
    zero: () => decodeEntries(entries, {}, new DecodeContext("", new Findings())) as ValuesOf<F>,
    decode(value, context) {
      if (!isObject(value)) {
        context.fail(value, `an object with ${listNames(names)}`);
        return undefined;
      }
      const input = canonicalKeys(value, names, ignored, context);
      const out = decodeEntries(entries, input, context);
      for (const group of oneOf) checkOneOf(group, out, context);
      return out as ValuesOf<F>;
    },
  };
}

function decodeEntries(
  entries: readonly MemberEntry[],
  input: Readonly<Record<string, unknown>>,
  context: DecodeContext,
) {
  const out: Record<string, unknown> = {};
  for (const { name, field } of entries) {
    const raw = input[name];
    const written = raw !== undefined && raw !== null;
    let value: unknown;
    if (written) {
      context.enter(name);
      value = field.decode(raw, context);
      context.leave();
    }
    const failed = written && value === undefined;
    if (value !== undefined && field.isZero?.(value) === true) value = undefined;
    if (value === undefined) {
      if (field.present !== true) continue;
      if (field.fallback !== undefined) value = field.fallback();
      else {
        if (!failed) reportMissing(name, field.expected, context);
        value = field.zero();
      }
    }
    out[name] = value;
  }
  return out;
}

function reportMissing(name: string, expected: string, context: DecodeContext): void {
  context.enter(name);
  context.fail(undefined, expected);
  context.leave();
}

/** The same object if all keys are known; else a copy with known spellings replaced and unknown keys reported. */
function canonicalKeys(
  value: Readonly<Record<string, unknown>>,
  names: ReadonlySet<string>,
  ignored: ReadonlySet<string>,
  context: DecodeContext,
): Readonly<Record<string, unknown>> {
  const keys = Object.keys(value);
  if (keys.every((key) => names.has(key))) return value;
  const copy: Record<string, unknown> = {};
  for (const key of keys) {
    const name = canonicalName(key, names);
    if (name === undefined) {
      if (!ignored.has(camelCase(key) ?? key)) reportUnknown(key, value[key], names, context);
    } else if (Object.hasOwn(copy, name)) {
      context.unknown(key, value[key], () => `only one spelling of ${name}`);
    } else copy[name] = value[key];
  }
  return copy;
}

function canonicalName(key: string, names: ReadonlySet<string>): string | undefined {
  if (names.has(key)) return key;
  const camel = camelCase(key) ?? key;
  if (names.has(camel)) return camel;
  const respelled = FIELD_SPELLINGS[camel];
  return respelled !== undefined && names.has(respelled) ? respelled : undefined;
}

/** `retry_on` gives `retryOn`; undefined: the key is not a snake_case name. */
function camelCase(key: string): string | undefined {
  if (!/^[a-z][a-zA-Z0-9]*(?:_[a-zA-Z0-9]+)+$/.test(key)) return undefined;
  return key.replace(/_([a-zA-Z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function reportUnknown(key: string, value: unknown, names: ReadonlySet<string>, context: DecodeContext): void {
  context.unknown(key, value, () => {
    const near = nearestName(camelCase(key) ?? key, names);
    return near === undefined ? `a known field: ${listNames(names)}` : `a known field; did you mean ${near}?`;
  });
}

function listNames(names: ReadonlySet<string>): string {
  const shown = [...names].slice(0, 12).join(", ");
  return names.size > 12 ? `${shown}, ...` : shown;
}

function checkOneOf(group: readonly string[], out: Readonly<Record<string, unknown>>, context: DecodeContext): void {
  const set = group.filter((name) => out[name] !== undefined);
  if (set.length > 1) context.conflict(set.join(" and "), `only one of ${group.join(", ")}`);
}
