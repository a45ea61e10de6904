/**
 * Reads the environment once, at start, into a typed object.
 *
 * @module
 */
import type { Program } from "../program/program.ts";
import { type Environment, inOurSpelling } from "./border.ts";
import { defaultOf, type SettingsOf, settingsUsedBy } from "./catalogue.ts";
import type { SettingValue } from "./define.ts";
import { parseSetting } from "./parse.ts";

/** A variable with an invalid value. */
export interface SettingFinding {
  /** The name as given, in either spelling. */
  readonly name: string;
  readonly value: string;
  readonly expected: string;
}

/** All variables with invalid values, in one error. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  /** @param problems Every variable at fault. */
  constructor(readonly problems: readonly SettingFinding[]) {
    super(problems.map((p) => `${p.name}: got ${JSON.stringify(shorten(p.value))}, expected ${p.expected}`).join("\n"));
  }
}

function shorten(value: string): string {
  return value.length > 80 ? value.slice(0, 77) + "..." : value;
}

/**
 * The settings of a program from the environment, in either spelling ({@link inOurSpelling}). Durations are
 * milliseconds. An empty variable is unset, except for texts, where the value is the empty text.
 *
 * @throws {SettingsError} naming every bad variable with value and expectation.
 */
export function readSettings<P extends Program>(program: P, environment: Environment): SettingsOf<P> {
  const { env, givenAs } = inOurSpelling(environment);
  const problems: SettingFinding[] = [];
  const values: Record<string, SettingValue> = {};
  const unset: ReturnType<typeof settingsUsedBy> = [];
  for (const [name, setting] of settingsUsedBy(program)) {
    const text = setting.type === "String" ? env[name] : env[name]?.trim();
    if (text === undefined || (text === "" && setting.type !== "String")) {
      unset.push([name, setting]);
      continue;
    }
    const parsed = parseSetting(setting, text);
    if ("value" in parsed) values[name] = parsed.value;
    else problems.push({ name: givenAs.get(name) ?? name, value: text, expected: parsed.expected });
  }
  const ambient = values["PILOT_ENABLE_AMBIENT"] === true;
  for (const [name, setting] of unset) values[name] = defaultOf(setting, program, ambient);
  if (problems.length > 0) throw new SettingsError(problems);
  return Object.freeze(values) as SettingsOf<P>;
}

/** Settings with every default, except for the given changes. For tests and embedders. */
export function defaultSettings<P extends Program>(program: P, changes: Partial<SettingsOf<P>> = {}): SettingsOf<P> {
  const ambient = (changes as { PILOT_ENABLE_AMBIENT?: boolean }).PILOT_ENABLE_AMBIENT === true;
  const defaults = settingsUsedBy(program).map(([name, setting]) => [name, defaultOf(setting, program, ambient)]);
  return Object.freeze({ ...Object.fromEntries(defaults), ...changes }) as SettingsOf<P>;
}
