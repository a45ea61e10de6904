/**
 * Metrics of this project beyond the shared tables. Kept apart, so that each is a decision and not an accident.
 *
 * @module
 */
import { type Metric, sum } from "./define.ts";

/** Our own metrics. */
export const ownMetrics = {
  pilot_xds_ignored_types: sum(
    "D",
    "Requests of streams that asked for more than 16 resource types which this server does not know.",
  ),
} as const satisfies Record<string, Metric>;
