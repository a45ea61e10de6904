/**
 * Keys of a node's metadata that identify the workload, for the metrics of the workload's proxy and its peers, and for
 * spans.
 *
 * @module
 */

/**
 * Key of the node's metadata: an object with the parts `workload`, `namespace`, `app`, `version`, `service` (canonical
 * name), `revision` (canonical), `cluster`, and `header`. The last is the message for the other side, and also a
 * variable of the proxy under the same name.
 */
export const PEER_METADATA = "MESH_PEER";

/**
 * Key of the node's metadata, `"true"`: the proxy has the variable `OTEL_RESOURCE_ATTRIBUTES` with the name of the
 * service.
 */
export const NAMED_BY_VARIABLE = "OTEL_SERVICE_NAMED";

/** The header of requests and answers with the message for the other side. */
export const PEER_HEADER = "x-mesh-peer";
