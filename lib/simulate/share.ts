/**
 * Shares of requests, as Envoy writes them.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";

/** Numerators of a whole, by the value of `denominator`. */
const DENOMINATORS = [100, 10_000, 1_000_000] as const;

/** The share of requests that a fraction means, 0 to 1. No fraction means all requests. */
export function shareOf(fraction: envoy.config.core.v3.RuntimeFractionalPercent | undefined): number {
  const percent = fraction?.default_value;
  if (!percent) return 1;
  return Math.min(1, (percent.numerator ?? 0) / DENOMINATORS[percent.denominator ?? 0]!);
}
