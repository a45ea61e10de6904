/**
 * The definition of an environment variable: type, default, users and help, as data.
 *
 * @module
 */
import type { Users } from "../program/program.ts";
import { parseDuration } from "../time/duration.ts";

/** Type names as printed in the reference tables. Durations are milliseconds in memory. */
export type SettingType = "Boolean" | "String" | "Integer" | "Duration" | "Float";

/** Rare parts of a setting. */
export interface SettingExtras<V> {
  /** Allowed values. The empty text is allowed if the default is empty. */
  readonly allowed?: readonly string[];
  /** The allowed form of a text, with the expectation in words. */
  readonly form?: { readonly pattern: RegExp; readonly expected: string };
  /** Least allowed number. */
  readonly min?: number;
  /** Greatest allowed number. */
  readonly max?: number;
  /** Default when PILOT_ENABLE_AMBIENT is true. */
  readonly ambient?: V;
  /** Defaults of single programs, by letter. */
  readonly per?: Readonly<Partial<Record<"D" | "A" | "C", V>>>;
  /** The reference's text for a default that is known only at run time, by program letter. */
  readonly shown?: Readonly<Partial<Record<"D" | "A" | "C", string>>>;
  /** The integer is a file mode: `0600` and `0x180` are read as octal and hexadecimal. */
  readonly mode?: boolean;
  /** Left out of the reference page, because the setting serves tests of the product. */
  readonly hidden?: boolean;
}

/** An environment variable. */
export interface Setting<U extends Users = Users, V extends SettingValue = SettingValue> extends SettingExtras<V> {
  readonly type: SettingType;
  readonly users: U;
  readonly default: V;
  readonly help: string;
}

/** Value of a setting in memory. */
export type SettingValue = boolean | string | number;

/** A true-or-false setting. */
export function bool<U extends Users>(
  users: U,
  value: boolean,
  help: string,
  extras: SettingExtras<boolean> = {},
): Setting<U, boolean> {
  return { type: "Boolean", users, default: value, help, ...extras };
}

/** A text setting. */
export function str<U extends Users>(
  users: U,
  value: string,
  help: string,
  extras: SettingExtras<string> = {},
): Setting<U, string> {
  return { type: "String", users, default: value, help, ...extras };
}

/** A text setting with a closed set of values. */
export function choice<U extends Users, const V extends string>(
  users: U,
  value: V,
  allowed: readonly V[],
  help: string,
): Setting<U, V> {
  return { type: "String", users, default: value, help, allowed };
}

/** A whole number. */
export function int<U extends Users>(
  users: U,
  value: number,
  help: string,
  extras: SettingExtras<number> = {},
): Setting<U, number> {
  return { type: "Integer", users, default: value, help, ...extras };
}

/** A number with a fraction. */
export function float<U extends Users>(
  users: U,
  value: number,
  help: string,
  extras: SettingExtras<number> = {},
): Setting<U, number> {
  return { type: "Float", users, default: value, help, ...extras };
}

/**
 * A duration, with a default in Go syntax.
 *
 * @throws {RangeError} when the default is not a duration: a mistake in a catalogue file.
 */
export function dur<U extends Users>(
  users: U,
  value: string,
  help: string,
  extras: SettingExtras<number> = {},
): Setting<U, number> {
  const ms = parseDuration(value);
  if (ms === undefined) throw new RangeError(`default ${value} is not a duration`);
  return { type: "Duration", users, default: ms, help, ...extras };
}
