/**
 * Regular expressions as Envoy takes them.
 *
 * @module
 */
import { wrap } from "../../pb/wellknown.ts";
import type { envoy } from "../../../proto/gen/types.ts";

/** The limit that Istio's bootstrap sets, in instructions of RE2. */
const MAX_PROGRAM_SIZE = 32_768;

/** An expression of this length has fewer than 100 instructions unless it counts (`x{50}`) or names Unicode classes. */
const SURELY_SMALL = 30;

/**
 * A matcher for an expression.
 *
 * Unless its runtime settings say otherwise, Envoy refuses expressions of more than 100 instructions, and with them all
 * that is sent along. Those that may be larger carry the limit themselves; Envoy logs that this field is deprecated, so
 * small ones do not.
 *
 * @param small Whether it has at most 100 instructions; default: for all that it may hold.
 */
export function regexMatcher(regex: string, small = isSmall(regex)): envoy.type.matcher.v3.RegexMatcher {
  return small ? { regex } : { regex, google_re2: { max_program_size: wrap(MAX_PROGRAM_SIZE) } };
}

function isSmall(regex: string): boolean {
  return regex.length <= SURELY_SMALL && !/\{|\\[pP]/.test(regex);
}
