/**
 * WorkloadGroup: template of WorkloadEntries that register themselves.
 *
 * @module
 */
import type { ReadinessProbe, StringMap } from "../common/types.ts";
import type { WorkloadEntrySpec } from "../workload_entry/types.ts";

/** Spec of a WorkloadGroup. */
export interface WorkloadGroupSpec {
  /** Metadata of the created entries. */
  readonly metadata?: {
    /** Labels of the workloads. */
    readonly labels?: StringMap;
    /** Annotations of the workloads. */
    readonly annotations?: StringMap;
  };
  /** Spec of the created entries, without address. */
  readonly template: WorkloadEntrySpec;
  /** How the agent finds out whether a workload is ready. */
  readonly probe?: ReadinessProbe;
}
