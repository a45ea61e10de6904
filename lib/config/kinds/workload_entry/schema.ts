/**
 * WorkloadEntry: a workload outside the orchestrator; also the endpoint form of ServiceEntry.
 *
 * @module
 */
import { labels, map } from "../../schema/containers.ts";
import { message, type Of } from "../../schema/message.ts";
import { string, uint32 } from "../../schema/scalars.ts";

export const workloadEntry = message({
  /**
   * IP, host name (DNS resolutions) or `unix://` path; absent only if a network's gateway stands in for the address.
   */
  address: string(),
  /** Service port name to the workload's port number. */
  ports: map(uint32()),
  /** Labels of the workload, for selectors of services. */
  labels: labels(),
  /** Network of the workload; absent: found by the address. */
  network: string(),
  /** `region/zone/subzone`. */
  locality: string(),
  /** Load balancing weight; absent: 1 among equals. */
  weight: uint32(),
  /** Service account of the workload. */
  serviceAccount: string(),
});

/** Spec of a WorkloadEntry. */
export interface WorkloadEntrySpec extends Of<typeof workloadEntry> {}
