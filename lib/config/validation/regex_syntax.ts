/**
 * Whether RE2 can read an expression, judged by JavaScript. The syntax is nearly the same, and an agent need not load a
 * library. The usual expressions that only RE2 refuses are known here.
 *
 * @module
 */

/** An escaped character, and the beginning of a look-ahead or look-behind. */
const ESCAPES_AND_CONDITIONS = /\\[^]|\(\?<?[=!]/g;

/** Look-aheads, look-behinds and back-references: RE2 lacks them. */
function hasMoreThanRe2(expression: string): boolean {
  return expression.matchAll(ESCAPES_AND_CONDITIONS).some(([found]) => found[0] === "(" || /[1-9]/.test(found[1]!));
}

/** Flags, and names of groups: JavaScript has another syntax. */
const FLAGS = /\(\?[imsU-]+([:)])/g;
const NAMED_GROUP = /\(\?P</g;

export function looksLikeRe2(expression: string): boolean {
  if (hasMoreThanRe2(expression)) return false;
  try {
    new RegExp(expression.replace(FLAGS, (_, end) => end === ":" ? "(?:" : "").replace(NAMED_GROUP, "(?<"));
    return true;
  } catch {
    return false;
  }
}
