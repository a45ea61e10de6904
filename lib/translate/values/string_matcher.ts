/**
 * A string condition of a rule as Envoy's string matcher.
 *
 * @module
 */
import type { StringMatch } from "../../config/kinds/kinds.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { regexMatcher } from "./regex.ts";

type StringMatcher = envoy.type.matcher.v3.StringMatcher;

/** A string matcher; undefined when nothing is compared (presence alone). */
export function stringMatcher(match: StringMatch): StringMatcher | undefined {
  if (match.exact !== undefined) return { exact: match.exact };
  if (match.prefix !== undefined) return { prefix: match.prefix };
  if (match.regex !== undefined) return { safe_regex: regexMatcher(match.regex) };
  return undefined;
}
