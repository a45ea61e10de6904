/**
 * Fields by which a cluster tells the filters of its requests what is behind it, in its metadata under `istio`.
 *
 * @module
 */

/** True where proxies of the mesh may be behind the cluster, or absent. */
export const PEER_CLUSTER_FIELD = "peers";

/**
 * The cluster's first service as a text, `host;name;namespace`: a command of the proxy can read a text, and no item of the
 * list of services.
 */
export const SERVICE_CLUSTER_FIELD = "service";
