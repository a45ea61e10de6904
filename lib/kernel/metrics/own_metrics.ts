/**
 * Metrics that only this project has. In a separate file each addition is a decision, not an accident.
 *
 * @module
 */
import { gauge, type Metric, sum } from "./define.ts";

export const ownMetrics = {
  mesh_certificate_valid: gauge(
    "DA",
    "1: the server's signing certificate, or the workload's certificate, is valid by the clock; 0: the certificate is not valid.",
  ),
  pilot_xds_ignored_types: sum(
    "D",
    "Requests on streams that had already asked for 16 resource types unknown to this server.",
  ),
  pilot_k8s_drift: sum(
    "D",
    "Objects that differed from their source in a self-check (MESH_SELF_CHECK_INTERVAL), by cluster, kind and place: api, store, services.",
    ["cluster", "type", "place"],
  ),
  meshd_remote_cluster_sync_status: gauge(
    "D",
    "Remote clusters by state (syncing, synced, timeout, closed): 1 for the present state of a cluster, else 0.",
    ["cluster", "status"],
  ),
  mesh_rollouts: gauge(
    "D",
    "Objects of which only some proxies have the newest version, by phase: spreading, soaking, taken_back.",
    ["phase"],
  ),
  mesh_rollouts_ended: sum("D", "Ended rollouts by outcome: settled, taken_back.", ["outcome"]),
} as const satisfies Record<string, Metric>;
