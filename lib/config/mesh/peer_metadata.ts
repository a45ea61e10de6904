/**
 * The name under which an agent's node says which workload it is, for the metrics of its proxy and of those that it
 * talks to.
 *
 * @module
 */

/**
 * Key of the node's metadata: an object with the parts `workload`, `namespace`, `app`, `version`, `service` (canonical
 * name), `revision` (canonical), `cluster`, and `header`, their message for the other side.
 */
export const PEER_METADATA = "MESH_PEER";

/** The header of requests and answers in which proxies exchange it. */
export const PEER_HEADER = "x-mesh-peer";
