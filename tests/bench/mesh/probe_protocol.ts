/**
 * The answers of the probe in the server (`./probe.ts`).
 *
 * @module
 */

/** Prefix of each answer. Lines of the program itself have no such prefix. */
export const PROBE_PREFIX = "bench-probe ";

/** The probe's answer to any line. */
export interface ProbeAnswer {
  /** Greatest lateness of a timer of 50 ms since the question before, ms. */
  readonly delay: number;
  /** CPU seconds of the process since its start, to the microsecond. */
  readonly cpu: number;
}
