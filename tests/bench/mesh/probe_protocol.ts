/**
 * What the probe in the server says (`./probe.ts`).
 *
 * @module
 */

/** Begins each answer; what the program itself prints does not. */
export const PROBE_PREFIX = "bench-probe ";

/** What the probe answers to any line. */
export interface ProbeAnswer {
  /** Greatest lateness of a timer of 50 ms since the question before, ms. */
  readonly delay: number;
  /** CPU seconds of the process since its start, to the microsecond. */
  readonly cpu: number;
}
