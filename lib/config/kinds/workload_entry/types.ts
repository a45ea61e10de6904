/**
 * WorkloadEntry: one workload outside the orchestrator; also the endpoint form of ServiceEntry.
 *
 * @module
 */
import type { StringMap } from "../common/types.ts";

/** Spec of a WorkloadEntry. */
export interface WorkloadEntrySpec {
  /** IP, host name (DNS resolutions) or `unix://` path; absent only where a network's gateway stands in for it. */
  readonly address?: string;
  /** Service port name to the workload's port number. */
  readonly ports?: Readonly<Record<string, number>>;
  /** Labels by which services select it. */
  readonly labels?: StringMap;
  /** Network that it is in; absent: found by its address. */
  readonly network?: string;
  /** `region/zone/subzone`. */
  readonly locality?: string;
  /** Load balancing weight; absent: 1 among equals. */
  readonly weight?: number;
  /** Service account that it runs as. */
  readonly serviceAccount?: string;
}
