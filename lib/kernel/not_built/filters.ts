/**
 * What waits for the part "filters".
 *
 * @module
 */
import type { NotBuiltPart } from "./entry.ts";

/** The part and what waits for it. */
export const filters: NotBuiltPart = {
  title: "filters",
  about: "Listeners for QUIC.",
  settings: [
    "PILOT_ENABLE_QUIC_LISTENERS",
  ],
};
