/**
 * Metrics of this project beyond the shared tables. A file of their own makes each addition a decision, not an
 * accident.
 *
 * @module
 */
import { gauge, type Metric, sum } from "./define.ts";

/** Our own metrics. */
export const ownMetrics = {
  mesh_certificate_valid: gauge(
    "DA",
    "1: the certificate that the server signs with, or that the workload shows, is valid by the clock; 0: it is not.",
  ),
  pilot_xds_ignored_types: sum(
    "D",
    "Requests of streams that asked for more than 16 resource types which this server does not know.",
  ),
  pilot_k8s_drift: sum(
    "D",
    "Objects that differed from what they come of when that was checked (MESH_SELF_CHECK_INTERVAL), by cluster, kind and place: api, store, services.",
    ["cluster", "type", "place"],
  ),
  meshd_remote_cluster_sync_status: gauge(
    "D",
    "Remote clusters by state (syncing, synced, timeout, closed): 1 for the state that a cluster is in, else 0.",
    ["cluster", "status"],
  ),
} as const satisfies Record<string, Metric>;
