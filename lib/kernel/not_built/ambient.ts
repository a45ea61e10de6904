/**
 * Catalogue entries that wait for the part "ambient".
 *
 * @module
 */
import type { NotBuiltPart } from "./entry.ts";

/** The part "ambient" with its entries. */
export const ambient: NotBuiltPart = {
  title: "ambient",
  about: "Waypoints, the node tunnel, and mesh traffic in it.",
  settings: [
    "AMBIENT_ENABLE_MULTI_NETWORK",
    "AMBIENT_ENABLE_STATUS",
    "ENABLE_INGRESS_WAYPOINT_ROUTING",
    "ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES",
    "HOST_PROBE_SNAT_IP",
    "HOST_PROBE_SNAT_IPV6",
    "PILOT_AUTO_ALLOW_WAYPOINT_POLICY",
    "PILOT_ENABLE_AMBIENT_WAYPOINTS",
  ],
  metrics: [
    "ambient_meshd_managed_clusters",
    "ambient_remote_cluster_sync_timeouts_total",
    "nodeagent_reconcile_events_total",
    "ztunnel_connected",
  ],
  flags: [
    "install-cni --ztunnel-uds-address",
  ],
  meshFields: [
    "serviceScopeConfigs",
  ],
  refused: {
    "install-cni --ambient-enabled": "is refused: there is no node agent for the tunnel",
    "proxy type waypoint": "is refused when it connects",
    "proxy type ztunnel": "is refused when it connects",
  },
};
