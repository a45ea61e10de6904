/**
 * Shares of requests.
 *
 * @module
 */
import { FractionalPercent_DenominatorType as Denominator } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";

/** A percentage (0..100, fractions to 0.0001) as a fraction of a million; whole percents of a hundred. */
export function fractionOf(percent: number): envoy.type.v3.FractionalPercent {
  if (Number.isInteger(percent)) return { numerator: percent, denominator: Denominator.HUNDRED };
  return { numerator: Math.round(percent * 10_000), denominator: Denominator.MILLION };
}
