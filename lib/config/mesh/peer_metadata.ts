/**
 * The names under which an agent's node says which workload it is, for the metrics of its proxy and of those that it
 * talks to, and that its spans know it.
 *
 * @module
 */

/**
 * Key of the node's metadata: an object with the parts `workload`, `namespace`, `app`, `version`, `service` (canonical
 * name), `revision` (canonical), `cluster`, and `header`, their message for the other side. That message is a variable of
 * the proxy, too, under the same name.
 */
export const PEER_METADATA = "MESH_PEER";

/**
 * Key of the node's metadata, `"true"`: the proxy has the variable `OTEL_RESOURCE_ATTRIBUTES`, and in it the name of its
 * service.
 */
export const NAMED_BY_VARIABLE = "OTEL_SERVICE_NAMED";

/** The header of requests and answers in which proxies exchange it. */
export const PEER_HEADER = "x-mesh-peer";
