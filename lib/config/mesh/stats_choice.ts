/**
 * Patterns and buckets of statistics. Envoy does not start with an unacceptable pattern or bucket.
 *
 * @module
 */
import { looksLikeRe2 } from "../validation/regex_syntax.ts";

/** Whether Envoy can take a pattern. */
export function isStatsPattern(pattern: string, kind: "text" | "regex"): boolean {
  return pattern !== "" && (kind === "text" || looksLikeRe2(pattern));
}

/** Whether Envoy accepts bounds of buckets: above 0, without duplicates. */
export function areBuckets(bounds: readonly unknown[]): boolean {
  return bounds.every((bound) => typeof bound === "number" && bound > 0) && new Set(bounds).size === bounds.length;
}

/** The expectation of a pattern. */
export const STATS_PATTERN = "a text that is not empty, and of expressions one that RE2 can read; it is left out";
