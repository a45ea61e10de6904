/**
 * Findings that an object suppresses: the annotation `galley.mesh.io/analyze-suppress` has codes, separated by commas,
 * or `*` for all.
 *
 * @module
 */
import { commaList } from "../kernel/text/comma_list.ts";
import { type FindingCode, readCode } from "./codes.ts";

/** The annotation, in our spelling. */
const SUPPRESS_ANNOTATION = "galley.mesh.io/analyze-suppress";

/** The codes that annotations suppress; `*`: all. */
export function suppressedCodes(annotations: Readonly<Record<string, string>>): ReadonlySet<FindingCode> | "*" {
  const text = annotations[SUPPRESS_ANNOTATION];
  if (text === undefined) return NONE;
  const words = commaList(text);
  if (words.includes("*")) return "*";
  return new Set(words.map(readCode).filter((code) => code !== undefined));
}

const NONE: ReadonlySet<FindingCode> = new Set();

/** Whether a code is suppressed. */
export function isSuppressed(code: FindingCode, codes: ReadonlySet<FindingCode> | "*"): boolean {
  return codes === "*" || codes.has(code);
}
