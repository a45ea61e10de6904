/**
 * Whether RE2 can read an expression, judged as JavaScript does: the syntax is nearly the same, and it needs no library,
 * which an agent would have to load. Of what RE2 alone refuses, the usual is known.
 *
 * @module
 */

/** A sign behind a backslash, and the beginning of a condition before or after. */
const ESCAPES_AND_CONDITIONS = /\\[^]|\(\?<?[=!]/g;

/** Conditions before and after, and groups that are found again: RE2 lacks them. */
function hasMoreThanRe2(expression: string): boolean {
  return expression.matchAll(ESCAPES_AND_CONDITIONS).some(([found]) => found[0] === "(" || /[1-9]/.test(found[1]!));
}

/** Flags, and names of groups: JavaScript writes them otherwise. */
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
