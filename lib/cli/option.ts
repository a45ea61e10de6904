/**
 * A flag as a row: type, default, help, and the program's option for the value. The type of the options follows from
 * the rows.
 *
 * @module
 */
import { readableDuration } from "../kernel/time/duration.ts";
import type { Flag, FlagType, FlagValue } from "./flag.ts";

/** The part of a row beyond the flag. */
export interface OptionRow<V extends FlagValue, Variable extends string, Option> {
  /** Setting that counts when the flag is not given. Default: the flag's default counts. */
  readonly variable?: Variable;
  /**
   * Whether a value can be used, and otherwise the expectation. Default: every value of the flag's type can be used.
   */
  readonly check?: { readonly good: (value: V) => boolean; readonly expected: string };
  /** Converts the value to the option. Default: the option is the value. */
  readonly read?: (value: V) => Option;
}

/** A flag with its option. */
export interface OptionFlag<V extends FlagValue, Name extends string, Variable extends string, Option>
  extends Flag<V>, Omit<OptionRow<V, Variable, Option>, "read"> {
  readonly option: Name;
  readonly read: (value: V) => Option;
}

/** A row of a table of flags. */
export function option<
  V extends FlagValue,
  const Name extends string,
  const Variable extends string = never,
  Option = V,
>(name: Name, flag: Flag<V>, row: OptionRow<V, Variable, Option> = {}): OptionFlag<V, Name, Variable, Option> {
  const { read = (value: V) => value as unknown as Option, ...rest } = row;
  return { ...flag, ...rest, read, option: name };
}

/** The shape of every row, for tables. */
interface AnyRow extends Flag {
  readonly option: string;
  readonly variable?: string;
  readonly check?: { readonly good: (value: never) => boolean; readonly expected: string };
  readonly read: (value: never) => unknown;
}

/** Rows by the names of their flags. */
export type OptionRows = Readonly<Record<string, AnyRow>>;

/** The options of rows, by the options' names. */
export type FlagOptions<R extends OptionRows> = {
  readonly [K in keyof R as R[K]["option"]]: ReturnType<R[K]["read"]>;
};

/** The settings for flags that are not given. */
export type FallbacksOf<R extends OptionRows> = {
  readonly [K in keyof R as R[K] extends { readonly variable?: infer V extends string } ? V : never]: R[K]["default"];
};

/**
 * Reads options.
 *
 * @param given The flags of the command line. Another flag has the value of its setting, or its default.
 * @returns The options, and a line for each value that cannot be used.
 */
export function readOptions<R extends OptionRows>(
  rows: R,
  values: { readonly [K in keyof R]: R[K]["default"] },
  given: ReadonlySet<string>,
  settings: FallbacksOf<R>,
): { readonly options: FlagOptions<R>; readonly problems: string[] } {
  const problems: string[] = [];
  const fallbacks: Readonly<Record<string, unknown>> = settings;
  const options = Object.entries(rows).map(([name, { option, variable, check, read, type }]) => {
    const value = (variable === undefined || given.has(name) ? values[name] : fallbacks[variable]) as never;
    if (check !== undefined && !check.good(value)) {
      problems.push(`flag --${name}: got ${shown(type, value)}, expected ${check.expected}`);
    }
    return [option, read(value)];
  });
  return { options: Object.fromEntries(options), problems };
}

function shown(type: FlagType, value: FlagValue): string {
  return type === "duration" ? readableDuration(value as number) : JSON.stringify(value);
}

/** A text, or undefined instead of the empty text. */
export function orNone(text: string): string | undefined {
  return text === "" ? undefined : text;
}
