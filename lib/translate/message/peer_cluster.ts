/**
 * Metadata fields of a cluster, under `istio`, that tell filters about the services behind the cluster.
 *
 * @module
 */

/** True if proxies of the mesh may be behind the cluster. Otherwise absent. */
export const PEER_CLUSTER_FIELD = "peers";

/**
 * The cluster's first service as text, `host;name;namespace`. Commands of the proxy can read text, but no item of the
 * list of services.
 */
export const SERVICE_CLUSTER_FIELD = "service";
