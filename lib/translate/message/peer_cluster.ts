/**
 * The field by which a cluster tells the filters of its requests that proxies of the mesh may be behind it.
 *
 * @module
 */

/** Field of the metadata under `istio`; true, or absent. */
export const PEER_CLUSTER_FIELD = "peers";
