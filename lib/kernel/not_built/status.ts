/**
 * What waits for the part "status".
 *
 * @module
 */
import type { NotBuiltPart } from "./entry.ts";

/** The part and what waits for it. */
export const status: NotBuiltPart = {
  title: "status",
  about: "Reports written back into objects, and analysis in the background.",
  settings: [
    "PILOT_ANALYSIS_INTERVAL",
    "PILOT_ENABLE_ANALYSIS",
    "PILOT_STATUS_BURST",
    "PILOT_STATUS_MAX_WORKERS",
    "PILOT_STATUS_QPS",
    "PILOT_STATUS_UPDATE_INTERVAL",
  ],
};
