/**
 * What waits for the part "telemetry".
 *
 * @module
 */
import type { NotBuiltPart } from "./entry.ts";

/** The part and what waits for it. */
export const telemetry: NotBuiltPart = {
  title: "telemetry",
  about: "Metrics, traces and access logs of proxies as Telemetry objects ask for them.",
  settings: [
    "METRIC_GRACEFUL_DELETION_INTERVAL",
    "METRIC_ROTATION_INTERVAL",
    "PILOT_ENABLE_METADATA_EXCHANGE",
    "PILOT_MX_ADDITIONAL_LABELS",
  ],
  meshFields: [
    "defaultProviders.metrics",
  ],
  kindFields: [
    "Telemetry.metrics",
  ],
};
