/**
 * The limits that Envoy checks in each message (protoc-gen-validate). A message beyond the limits is rejected, with
 * everything else in the response.
 *
 * Limits: https://github.com/bufbuild/protoc-gen-validate#constraint-rules
 *
 * @module
 */
import { gunzipSync } from "node:zlib";
import protobuf from "protobufjs";
import { RE2JS } from "re2js";
import * as z from "zod";
import packed from "../../proto/gen/envoy_api.json" with { type: "json" };
import { type ApiMessage, apiType, decodeApi, findApiType, packedName } from "./envoy_api.ts";

/** Limit of reported problems per message. */
const MOST_PROBLEMS = 10;

const time = z.object({ seconds: z.number().default(0), nanos: z.number().default(0) });

const range = <T extends z.ZodType>(one: T) =>
  z.object({ gt: one, gte: one, lt: one, lte: one, ignore_empty: z.boolean() }).partial();

const textRules = z.object({
  ...{ min_len: z.number(), max_len: z.number(), len: z.number(), max_bytes: z.number(), pattern: z.string() },
  ...{ prefix: z.string(), suffix: z.string(), in: z.array(z.string()), ignore_empty: z.boolean() },
}).partial();

const enumRules = z.object({ defined_only: z.boolean(), not_in: z.array(z.number()) }).partial();

const valueRules = z.object({
  ...{ float: range(z.number()), double: range(z.number()), int32: range(z.number()), int64: range(z.number()) },
  ...{ uint32: range(z.number()), uint64: range(z.number()), string: textRules, enum: enumRules },
  bool: z.object({ const: z.boolean() }),
  duration: range(time).extend({ required: z.boolean().optional() }),
  message: z.object({ required: z.boolean(), skip: z.boolean() }).partial(),
}).partial();

const fieldRules = valueRules.extend({
  repeated: z.object({ min_items: z.number(), max_items: z.number(), items: valueRules }).partial().optional(),
  map: z.object({ min_pairs: z.number(), max_pairs: z.number() }).partial().optional(),
});

const rulesFile = z.record(
  z.string(),
  z.object({ fields: z.record(z.string(), fieldRules), oneofs: z.array(z.array(z.string())) }),
);

type ValueRules = z.infer<typeof valueRules>;
type FieldRules = z.infer<typeof fieldRules>;

let rules: z.infer<typeof rulesFile> | undefined;

/** Loaded at the first use, like the descriptors. */
function rulesOf(name: string): z.infer<typeof rulesFile>[string] | undefined {
  const text = (packed as { readonly rules?: string }).rules ?? "";
  return (rules ??= rulesFile.parse(
    text === "" ? {} : JSON.parse(new TextDecoder().decode(gunzipSync(Uint8Array.fromBase64(text)))),
  ))[name];
}

/** The state of checking a message. */
interface LimitCheck {
  readonly problems: string[];
  /** The message will be merged into another message, which may have the missing fields. */
  readonly isPart: boolean;
}

/**
 * Everything beyond Envoy's limits in a message and its inner messages: field, value and expectation of each.
 *
 * @param isPart The message will be merged into another message, so missing fields are accepted.
 */
export function beyondLimits(name: string, message: ApiMessage, isPart: boolean): readonly string[] {
  const problems: string[] = [];
  checkMessage(name, message, "", { problems, isPart });
  return problems.slice(0, MOST_PROBLEMS);
}

function checkMessage(name: string, message: ApiMessage, path: string, check: LimitCheck): void {
  if (check.problems.length >= MOST_PROBLEMS) return;
  const known = rulesOf(name);
  for (const field of apiType(name).fieldsArray) {
    const at = path === "" ? field.name : `${path}.${field.name}`;
    const value = message[field.name];
    const own = known?.fields[field.name];
    if (own !== undefined) checkField(own, field, value, at, check);
    if (value !== undefined && own?.message?.skip !== true) checkInside(field, value, at, check);
  }
  for (const members of check.isPart ? [] : known?.oneofs ?? []) {
    if (members.some((one) => message[one] !== undefined)) continue;
    check.problems.push(`${path === "" ? "" : `${path}: `}nothing, expected one of ${members.join(", ")}`);
  }
}

/** The messages in a field. */
function checkInside(field: protobuf.Field, value: unknown, path: string, check: LimitCheck): void {
  const type = field.resolve().resolvedType;
  if (!(type instanceof protobuf.Type)) return;
  const name = type.fullName.slice(1);
  const one = (inner: unknown, at: string, isPart: boolean) => {
    if (name === ANY) return checkPacked(field.name, inner as PackedAny, at, { ...check, isPart });
    if (!name.startsWith("google.protobuf.")) checkMessage(name, inner as ApiMessage, at, { ...check, isPart });
  };
  if (field instanceof protobuf.MapField) {
    for (const [key, inner] of Object.entries(value as object)) one(inner, `${path}[${key}]`, check.isPart);
  } else if (field.repeated) {
    for (const [i, inner] of (value as readonly unknown[]).entries()) one(inner, `${path}[${i}]`, false);
  } else one(value, path, check.isPart);
}

const ANY = "google.protobuf.Any";

type PackedAny = Parameters<typeof packedName>[0] & { readonly value?: Uint8Array };

/** Fields with packed messages that Envoy unpacks and checks. */
const UNPACKED: ReadonlySet<string> = new Set([
  ...["typed_config", "typed_per_filter_config", "typed_extension_protocol_options"],
]);

function checkPacked(field: string, any: PackedAny, path: string, check: LimitCheck): void {
  const name = packedName(any);
  if (!UNPACKED.has(field) || findApiType(name) === undefined) return;
  checkMessage(name, decodeApi(name, any.value ?? new Uint8Array()), path, check);
}

function checkField(own: FieldRules, field: protobuf.Field, value: unknown, path: string, check: LimitCheck): void {
  const sayAt = (at: string): SayBeyond => (shown, expected) => {
    check.problems.push(`${at}: ${shown}, expected ${expected}`);
  };
  const say = sayAt(path);
  if (field instanceof protobuf.MapField || field.repeated) {
    const count = value === undefined ? 0 : Array.isArray(value) ? value.length : Object.keys(value as object).length;
    const least = own.repeated?.min_items ?? own.map?.min_pairs ?? 0;
    const most = own.repeated?.max_items ?? own.map?.max_pairs ?? Infinity;
    if (!check.isPart && count < least) say(`${count} entries`, `at least ${least}`);
    if (count > most) say(`${count} entries`, `at most ${most}`);
    const items = own.repeated?.items;
    if (items !== undefined && Array.isArray(value)) {
      for (const [i, one] of value.entries()) checkValue(items, field, one, sayAt(`${path}[${i}]`));
    }
    return;
  }
  const isMessage = field.resolve().resolvedType instanceof protobuf.Type;
  if (value === undefined) {
    if (check.isPart || field.partOf) return;
    if (own.message?.required || own.duration?.required) say("missing", "a value");
    if (isMessage) return;
  }
  checkValue(own, field, value, say);
}

type SayBeyond = (shown: string, expected: string) => void;

/** Checks a single value. An absent scalar has its default. */
function checkValue(own: ValueRules, field: protobuf.Field, value: unknown, say: SayBeyond): void {
  const number = own.double ?? own.float ?? own.uint32 ?? own.uint64 ?? own.int32 ?? own.int64;
  const plain = (value as { readonly value?: unknown } | undefined)?.value ?? value;
  if (number !== undefined) checkRange(number, Number(plain ?? 0), (one) => one, String, say);
  if (own.duration !== undefined && value !== undefined) {
    checkRange(own.duration, secondsOf(value), secondsOf, (one) => `${one}s`, say);
  }
  if (own.string !== undefined) checkText(own.string, typeof plain === "string" ? plain : "", say);
  if (own.bool !== undefined && (plain ?? false) !== own.bool.const) {
    say(String(plain ?? false), String(own.bool.const));
  }
  if (own.enum !== undefined) {
    const values = field.resolvedType instanceof protobuf.Enum ? field.resolvedType.valuesById : {};
    const given = Number(value ?? 0);
    const isKnown = values[given] !== undefined;
    if ((own.enum.defined_only && !isKnown) || own.enum.not_in?.includes(given)) {
      say(values[given] ?? String(given), "another value of the enum");
    }
  }
}

function secondsOf(value: unknown): number {
  const { seconds = 0, nanos = 0 } = value as { readonly seconds?: number; readonly nanos?: number };
  return Number(seconds) + Number(nanos) / 1e9;
}

interface RangeRules<T> {
  readonly gt?: T | undefined;
  readonly gte?: T | undefined;
  readonly lt?: T | undefined;
  readonly lte?: T | undefined;
  readonly ignore_empty?: boolean | undefined;
}

function checkRange<T>(
  own: RangeRules<T>,
  value: number,
  of: (one: T) => number,
  shown: ShowNumber,
  say: SayBeyond,
): void {
  if (own.ignore_empty && value === 0) return;
  const { gt, gte, lt, lte } = own;
  const wrong = (gt !== undefined && value <= of(gt)) || (gte !== undefined && value < of(gte)) ||
    (lt !== undefined && value >= of(lt)) || (lte !== undefined && value > of(lte));
  if (!wrong) return;
  const expected = [
    ...gt === undefined ? [] : [`more than ${shown(of(gt))}`],
    ...gte === undefined ? [] : [`at least ${shown(of(gte))}`],
    ...lt === undefined ? [] : [`less than ${shown(of(lt))}`],
    ...lte === undefined ? [] : [`at most ${shown(of(lte))}`],
  ];
  say(shown(value), expected.join(" and "));
}

type ShowNumber = (value: number) => string;

/** Regular expressions of limits. There are few. */
const expressions = new Map<string, RE2JS>();

function checkText(own: z.infer<typeof textRules>, text: string, say: SayBeyond): void {
  if (own.ignore_empty && text === "") return;
  const length = [...text].length;
  const shown = JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
  if (own.min_len !== undefined && length < own.min_len) say(shown, `at least ${own.min_len} characters`);
  if (own.len !== undefined && length !== own.len) say(shown, `${own.len} characters`);
  if (own.max_len !== undefined && length > own.max_len) say(`${length} characters`, `at most ${own.max_len}`);
  const bytes = own.max_bytes === undefined ? 0 : new TextEncoder().encode(text).length;
  if (own.max_bytes !== undefined && bytes > own.max_bytes) say(`${bytes} bytes`, `at most ${own.max_bytes}`);
  if (own.prefix !== undefined && !text.startsWith(own.prefix)) say(shown, `a text that begins with ${own.prefix}`);
  if (own.suffix !== undefined && !text.endsWith(own.suffix)) say(shown, `a text that ends with ${own.suffix}`);
  if (own.in !== undefined && !own.in.includes(text)) say(shown, `one of ${own.in.join(", ")}`);
  if (own.pattern === undefined) return;
  const expression = expressions.getOrInsertComputed(own.pattern, (pattern) => RE2JS.compile(pattern));
  if (!expression.matcher(text).find()) say(shown, `a text that matches ${own.pattern}`);
}
