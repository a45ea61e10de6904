/**
 * Reads the text of a variable: into a value, or into the expectation that the text fails.
 *
 * @module
 */
import { DURATION_EXPECTED, parseSpan, readableDuration } from "../time/duration.ts";
import type { Setting, SettingValue } from "./define.ts";

const BOOLEANS: Readonly<Record<string, boolean>> = {
  "1": true,
  t: true,
  T: true,
  true: true,
  TRUE: true,
  True: true,
  "0": false,
  f: false,
  F: false,
  false: false,
  FALSE: false,
  False: false,
};

/** A value, or the expectation. */
export type ParsedValue = { readonly value: SettingValue } | { readonly expected: string };

/** Reads the text of a boolean as Go does: 1, t, true, 0, f, false, in three cases; else undefined. */
function parseBoolean(text: string): boolean | undefined {
  return Object.hasOwn(BOOLEANS, text) ? BOOLEANS[text] : undefined;
}

/** Reads the text of a setting. */
export function parseSetting(setting: Setting, text: string): ParsedValue {
  switch (setting.type) {
    case "Boolean": {
      const value = parseBoolean(text);
      return value === undefined ? { expected: "true or false" } : { value };
    }
    case "String":
      if (setting.form?.pattern.test(text) === false) return { expected: setting.form.expected };
      return setting.allowed === undefined || setting.allowed.includes(text)
        ? { value: text }
        : { expected: `one of ${setting.allowed.map((a) => a || '""').join(", ")}` };
    case "Duration":
      return ranged(setting, parseSpan(text), DURATION_EXPECTED, readableDuration);
    case "Integer":
      return ranged(setting, parseInteger(text, setting.mode === true), integerWords(setting), String);
    case "Float":
      return ranged(setting, parseFloatText(text), "a number", String);
  }
}

function integerWords(setting: Setting): string {
  return setting.mode === true ? "a file mode such as 0600 or 384" : "a whole number";
}

function ranged(
  setting: Setting,
  value: number | undefined,
  expected: string,
  show: (n: number) => string,
): ParsedValue {
  const { min, max } = setting;
  const low = min !== undefined && value !== undefined && value < min;
  const high = max !== undefined && value !== undefined && value > max;
  if (value !== undefined && !low && !high) return { value };
  const limits = [min === undefined ? "" : `at least ${show(min)}`, max === undefined ? "" : `at most ${show(max)}`];
  return { expected: [expected, ...limits.filter((l) => l !== "")].join(", ") };
}

/**
 * A whole number within the safe integers of a double.
 *
 * @param mode Whether Go's prefixes of a file mode are read, too: 0x, 0o and a leading 0.
 */
function parseInteger(text: string, mode: boolean): number | undefined {
  let value: number | undefined;
  if (/^[+-]?\d+$/.test(text) && !(mode && /^[+-]?0\d/.test(text))) value = Number(text);
  else if (mode && /^0o?[0-7]+$/i.test(text)) value = parseInt(text.replace(/^0o?/i, ""), 8);
  else if (mode && /^0x[0-9a-f]+$/i.test(text)) value = parseInt(text.slice(2), 16);
  return value !== undefined && Number.isSafeInteger(value) ? value : undefined;
}

function parseFloatText(text: string): number | undefined {
  return /^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) && Number.isFinite(Number(text))
    ? Number(text)
    : undefined;
}
