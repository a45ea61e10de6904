/**
 * Clusters: upstreams of a proxy.
 *
 * Permissions: none.
 *
 * @module
 */
export { inboundClusters } from "./inbound.ts";
export { outboundClusters } from "./outbound.ts";
export { BLACK_HOLE, INBOUND_PASSTHROUGH, PASSTHROUGH, staticClusters } from "./static.ts";
