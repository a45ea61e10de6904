/**
 * Clusters: upstreams of a proxy.
 *
 * @module
 */
export { inboundClusters } from "./inbound.ts";
export { outboundClusters } from "./outbound.ts";
export { BLACK_HOLE, INBOUND_PASSTHROUGH, PASSTHROUGH, staticClusters } from "./static.ts";
