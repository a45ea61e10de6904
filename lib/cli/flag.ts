/**
 * Flags as typed data: the type, and the constructors for command files.
 *
 * @module
 */
import { parseDuration } from "../kernel/time/duration.ts";

/** Kinds of flag values, by the names in help. */
export type FlagType =
  | "bool"
  | "string"
  | "stringArray"
  | "stringSlice"
  | "stringToString"
  | "int"
  | "int32"
  | "uint16"
  | "float32"
  | "duration"
  | "Level";

/** Value of a flag in memory. Durations are milliseconds. */
export type FlagValue = boolean | string | number | readonly string[] | Readonly<Record<string, string>>;

/**
 * Names that the program looks up for completion: `workload` is `namespace/name`, `pod` and `service` are
 * `name.namespace`, `object` is `kind/namespace/name`, `page` is the path of a page with its query.
 */
export const NAME_SORTS = ["workload", "pod", "service", "object", "namespace", "page"] as const;

/** A sort of names. */
export type NameSort = (typeof NAME_SORTS)[number];

/** Optional parts of a flag. */
export interface FlagExtras {
  /** One-letter form. */
  readonly short?: string;
  /** Allowed values: for lists, of each element. The empty text is allowed only as the default. */
  readonly allowed?: readonly string[];
  /** Variables that set the flag when the command line does not. A later variable takes precedence. */
  readonly env?: readonly string[];
  /** Completion of the value: paths, names that the program looks up, or the listed values. */
  readonly complete?: "file" | "folder" | NameSort | readonly string[];
  /** The text is a comma-separated list, although the flag is a plain string; for completion. */
  readonly commas?: boolean;
  /** Each element continues with `:` and a value of this list. For completion. */
  readonly pairedWith?: readonly string[];
  /** Other long names, from Istio. The names are accepted and not shown. */
  readonly also?: readonly string[];
  /** Istio's values, with our value for each. */
  readonly spelledAlso?: Readonly<Record<string, string>>;
  /** Left out of help and completion. */
  readonly hidden?: boolean;
}

export interface Flag<V extends FlagValue = FlagValue> extends FlagExtras {
  readonly type: FlagType;
  readonly default: V;
  readonly help: string;
}

/** Flags by their long name, without dashes. */
export type FlagSet = Readonly<Record<string, Flag>>;

/** Values of a flag set. */
export type FlagValues<F extends FlagSet> = { readonly [K in keyof F]: F[K]["default"] };

function make<V extends FlagValue>(type: FlagType, value: V, help: string, extras: FlagExtras): Flag<V> {
  return { type, default: value, help, ...extras };
}

/** A switch, off unless given; `--flag=false` is allowed, `--flag false` is not a value. */
export function boolFlag(help: string, extras: FlagExtras & { readonly value?: boolean } = {}): Flag<boolean> {
  const { value = false, ...rest } = extras;
  return make("bool", value, help, rest);
}

/** A text. */
export function stringFlag(value: string, help: string, extras: FlagExtras = {}): Flag<string> {
  return make("string", value, help, extras);
}

/** Texts, one per occurrence. Commas are part of a text. The first occurrence replaces the default. */
export function stringArrayFlag(
  value: readonly string[],
  help: string,
  extras: FlagExtras = {},
): Flag<readonly string[]> {
  return make("stringArray", value, help, extras);
}

/**
 * Texts, comma separated and repeated. `"a,b"` in double quotes is a single text. The first occurrence replaces the
 * default.
 */
export function stringListFlag(
  value: readonly string[],
  help: string,
  extras: FlagExtras = {},
): Flag<readonly string[]> {
  return make("stringSlice", value, help, extras);
}

/** Pairs `a=b,c=d`, comma separated and repeated. */
export function mapFlag(help: string, extras: FlagExtras = {}): Flag<Readonly<Record<string, string>>> {
  return make("stringToString", {}, help, extras);
}

/** A whole number: `int` (64 bits), `int32` or `uint16`; decimal, or with 0x, 0o, 0b or a leading 0 (octal). */
export function intFlag(
  type: "int" | "int32" | "uint16",
  value: number,
  help: string,
  extras: FlagExtras = {},
): Flag<number> {
  return make(type, value, help, extras);
}

/** A number with a fraction, in the range of 32-bit floats. */
export function floatFlag(value: number, help: string, extras: FlagExtras = {}): Flag<number> {
  return make("float32", value, help, extras);
}

/** A verbosity level: a whole number of 32 bits. */
export function levelFlag(help: string): Flag<number> {
  return make("Level", 0, help, {});
}

/**
 * A duration in Go syntax; milliseconds in memory.
 *
 * @throws {RangeError} when the default is none: a mistake in a command file.
 */
export function durationFlag(value: string, help: string, extras: FlagExtras = {}): Flag<number> {
  const ms = parseDuration(value);
  if (ms === undefined) throw new RangeError(`default ${value} is not a duration`);
  return make("duration", ms, help, extras);
}
