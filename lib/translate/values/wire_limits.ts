/**
 * Sensible values of routes that Envoy refuses. A single such value would cost all routes in the same resource.
 *
 * @module
 */
import type { Headers, HttpMatchRequest, HttpRoute } from "../../config/kinds/kinds.ts";
import { breaksLines } from "../../config/validation/values.ts";
import { duration } from "../../pb/wellknown.ts";
import type { google } from "../../../proto/gen/types.ts";

/** Limit of header operations of one kind on a route (`max_items` in Envoy's API). */
const MAX_HEADERS = 1000;

/** Envoy counts in nanoseconds of 63 bits, which is 292 years. A hundred years are as good as no limit. */
const MAX_DURATION_MS = 100 * 365 * 86_400_000;

/** Envoy sums weights in 32 bits. */
const MAX_WEIGHT = 2 ** 32 - 1;

/** A duration that Envoy can represent. Longer durations are cut to a hundred years. */
export function boundedDuration(ms: number): google.protobuf.Duration {
  return duration(Math.min(ms, MAX_DURATION_MS));
}

/** Weights with a sum that Envoy can represent, in the same proportion. */
export function boundedWeights(weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  if (sum <= MAX_WEIGHT) return [...weights];
  return weights.map((weight) => Math.max(1, Math.floor(weight / sum * (MAX_WEIGHT - weights.length))));
}

/** Why Envoy would refuse a route of the rule and match. Undefined when Envoy accepts the route. */
export function unsendable(rule: HttpRoute, match: HttpMatchRequest | undefined): string | undefined {
  const { rewrite, redirect } = rule;
  const texts: Record<string, string | undefined> = {
    "rewrite.uri": rewrite?.uri,
    "rewrite.authority": rewrite?.authority,
    "redirect.uri": redirect?.uri,
    "redirect.authority": redirect?.authority,
  };
  for (const [field, text] of Object.entries(texts)) {
    if (text !== undefined && breaksLines(text)) return `${field} has line breaks or NUL in it`;
  }
  for (const name of Object.keys(match?.queryParams ?? {})) {
    if (name === "") return "match.queryParams names a parameter without a name";
  }
  return [rule.headers, ...(rule.route ?? []).map((route) => route.headers)].map(headerProblem).find(Boolean);
}

function headerProblem(headers: Headers | undefined): string | undefined {
  for (const direction of ["request", "response"] as const) {
    const { set = {}, add = {}, remove = [] } = headers?.[direction] ?? {};
    const added = [...Object.keys(set), ...Object.keys(add)];
    for (const name of [...added, ...remove]) {
      if (name === "" || breaksLines(name)) return `headers.${direction}: ${JSON.stringify(name)} is not a header name`;
    }
    if (Math.max(added.length, remove.length) > MAX_HEADERS) {
      return `headers.${direction} has more than ${MAX_HEADERS} operations`;
    }
  }
  return undefined;
}
