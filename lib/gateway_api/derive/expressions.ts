/**
 * Regular expressions (RE2) of routes.
 *
 * @module
 */
import { checkRegex } from "../../config/validation/regex.ts";
import { Findings } from "../../finding/findings.ts";

/** The mistake in a regular expression; undefined: none. */
export function regexProblem(regex: string): string | undefined {
  if (regex === "") return "a regular expression that is not empty";
  const findings = new Findings();
  checkRegex(regex, "", findings);
  return findings.list[0]?.expected;
}

/** The expression that finds a text. */
export function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** The replacement that writes a text. */
export function literalReplacement(text: string): string {
  return text.replaceAll("\\", "\\\\");
}
