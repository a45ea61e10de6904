/**
 * Regular expressions in Envoy's form.
 *
 * @module
 */
import { wrap } from "../../pb/wellknown.ts";
import type { envoy } from "../../../proto/gen/types.ts";

/** The limit in Istio's bootstrap, in RE2 instructions. */
const MAX_PROGRAM_SIZE = 32_768;

/**
 * An expression up to this length has fewer than 100 instructions, unless it has counts (`x{50}`) or Unicode classes.
 */
const SURELY_SMALL = 30;

/**
 * A matcher for an expression.
 *
 * By default Envoy refuses expressions of more than 100 instructions, together with everything in the same resource. So
 * a possibly larger expression carries a limit. Envoy logs that the limit's field is deprecated, so small expressions
 * have no limit.
 *
 * @param small Whether the expression has at most 100 instructions. Default: decided by length and content.
 */
export function regexMatcher(regex: string, small = isSmall(regex)): envoy.type.matcher.v3.RegexMatcher {
  return small ? { regex } : { regex, google_re2: { max_program_size: wrap(MAX_PROGRAM_SIZE) } };
}

function isSmall(regex: string): boolean {
  return regex.length <= SURELY_SMALL && !/\{|\\[pP]/.test(regex);
}
