/**
 * Whether RE2 can read an expression, judged as JavaScript does: the syntax is nearly the same, and it needs no library,
 * which an agent would have to load. Of what RE2 alone refuses, the usual is known.
 *
 * @module
 */

/** Conditions before and after, and groups that are found again: RE2 lacks them. */
const NOT_OF_RE2 = /\(\?<?[=!]|(?<!\\)(?:\\\\)*\\[1-9]/;

/** Flags, and names of groups: JavaScript writes them otherwise. */
const FLAGS = /\(\?[imsU-]+([:)])/g;
const NAMED_GROUP = /\(\?P</g;

/** See the module. */
export function looksLikeRe2(expression: string): boolean {
  if (NOT_OF_RE2.test(expression)) return false;
  try {
    new RegExp(expression.replace(FLAGS, (_, end) => end === ":" ? "(?:" : "").replace(NAMED_GROUP, "(?<"));
    return true;
  } catch {
    return false;
  }
}
