/**
 * Metrics of this project beyond the shared tables. Kept apart, so that each is a decision and not an accident.
 *
 * @module
 */
import type { Metric } from "./define.ts";

/** Our own metrics. */
export const ownMetrics = {} as const satisfies Record<string, Metric>;
