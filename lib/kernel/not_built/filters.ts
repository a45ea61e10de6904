/**
 * What waits for the part "filters".
 *
 * @module
 */
import type { NotBuiltPart } from "./entry.ts";

/** The part and what waits for it. */
export const filters: NotBuiltPart = {
  title: "filters",
  about: "Filters for databases, and listeners for QUIC.",
  settings: [
    "PILOT_ENABLE_MONGO_FILTER",
    "PILOT_ENABLE_MYSQL_FILTER",
    "PILOT_ENABLE_QUIC_LISTENERS",
    "PILOT_ENABLE_REDIS_FILTER",
  ],
};
