/**
 * The enablement selectors of a setting, as YAML.
 *
 * @module
 */
import { CORE_SCHEMA, load } from "js-yaml";
import { DEFAULT_SELECTORS } from "./decide.ts";
import { type EnablementSelector, selectorProblems } from "./label_selector.ts";

/** Longest text, characters. */
const MAX_TEXT = 64 * 1024;

/** Why a text names no selectors. */
export class SelectorError extends Error {
  override readonly name = "SelectorError";
}

/**
 * The selectors of a text. An empty text means {@link DEFAULT_SELECTORS}, never "no pods": an unset variable must not
 * take the pods of the mesh out of it.
 *
 * @throws {SelectorError} With every mistake.
 */
export function readSelectors(text: string): readonly EnablementSelector[] {
  if (text.trim() === "") return DEFAULT_SELECTORS;
  if (text.length > MAX_TEXT) throw new SelectorError(`got ${text.length} characters, expected at most ${MAX_TEXT}`);
  let value: unknown;
  try {
    value = load(text, { schema: CORE_SCHEMA });
  } catch (error) {
    throw new SelectorError(`expected YAML (${(error as Error).message.split("\n")[0]})`);
  }
  const problems = selectorProblems(value);
  if (problems.length > 0) throw new SelectorError(problems.join("; "));
  return value as readonly EnablementSelector[];
}
