/**
 * Patterns and buckets of statistics. Envoy does not start with one that it cannot take.
 *
 * @module
 */

/** Syntax that RE2 lacks and JavaScript has: conditions before and after, and groups that are found again. */
const NOT_OF_RE2 = /\(\?<?[=!]|\\[1-9]/;

/** Syntax that JavaScript writes otherwise than RE2: flags, and names of groups. */
const FLAGS = /\(\?[imsU-]+([:)])/g;
const NAMED_GROUP = /\(\?P</g;

/**
 * Whether Envoy can take a pattern. Of a regular expression the syntax is judged as JavaScript does it, which is nearly
 * that of RE2, and needs no library in an agent.
 */
export function isStatsPattern(pattern: string, kind: "text" | "regex"): boolean {
  if (pattern === "") return false;
  if (kind === "text") return true;
  if (NOT_OF_RE2.test(pattern)) return false;
  try {
    new RegExp(pattern.replace(FLAGS, (_, end) => end === ":" ? "(?:" : "").replace(NAMED_GROUP, "(?<"));
    return true;
  } catch {
    return false;
  }
}

/** Whether Envoy can take these as bounds of buckets: each once, above 0. */
export function areBuckets(bounds: readonly unknown[]): boolean {
  return bounds.every((bound) => typeof bound === "number" && bound > 0) && new Set(bounds).size === bounds.length;
}

/** The expectation of a pattern. */
export const STATS_PATTERN = "a text that is not empty, and of expressions one that RE2 can read; it is left out";
