/**
 * What waits for the part "registration".
 *
 * @module
 */
import type { NotBuiltPart } from "./entry.ts";

/** The part and what waits for it. */
export const registration: NotBuiltPart = {
  title: "registration",
  about: "Automatic registration of workloads outside of the orchestrator.",
  settings: [
    "PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION",
    "PILOT_WORKLOAD_ENTRY_GRACE_PERIOD",
  ],
  metrics: [
    "auto_registration_deletes_total",
    "auto_registration_errors_total",
    "auto_registration_success_total",
    "auto_registration_unregister_total",
    "auto_registration_updates_total",
  ],
  kinds: [
    "WorkloadGroup",
  ],
};
