/**
 * From the outcomes of probes to reports: the first clear outcome, and then each change, by thresholds.
 *
 * @module
 */

/** The workload's health in the agent's report. */
export type WorkloadReport = { readonly healthy: true } | { readonly healthy: false; readonly reason: string };

/** How many outcomes in a row count. */
export interface HealthThresholds {
  readonly success: number;
  readonly failure: number;
}

/** The known health. */
export interface HealthState {
  /** Last reported; undefined: nothing yet. */
  readonly reported: boolean | undefined;
  /** Outcomes in a row that differ from the report. */
  readonly inRow: { readonly healthy: boolean; readonly count: number };
}

/** Nothing is known yet. */
export const UNKNOWN_HEALTH: HealthState = { reported: undefined, inRow: { healthy: true, count: 0 } };

/** Adds one outcome. Returns a report if one is due. */
export function nextHealth(
  { reported, inRow }: HealthState,
  outcome: WorkloadReport,
  thresholds: HealthThresholds,
): { readonly state: HealthState; readonly report?: WorkloadReport } {
  const { healthy } = outcome;
  const count = Math.min(inRow.healthy === healthy ? inRow.count + 1 : 1, Number.MAX_SAFE_INTEGER - 1);
  const state = { reported, inRow: { healthy, count } };
  if (reported === healthy || count < (healthy ? thresholds.success : thresholds.failure)) return { state };
  return { state: { ...state, reported: healthy }, report: outcome };
}
