/**
 * Clusters for connections that a gateway between networks forwards unopened: bytes, without TLS by the gateway.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { forwardedDestinations } from "../destination/forwarded.ts";
import { causesOf } from "../destination/plan.ts";
import type { Built } from "../message/built.ts";
import type { Reader } from "../reader/reader.ts";
import { edsDiscovery } from "./outbound.ts";
import { passedCluster } from "./passed.ts";

/** The clusters of a host, `forward_inner_connect|port||host`; see {@linkcode forwardedDestinations}. */
export function forwardedClusters(read: Reader, host: string): Built<envoy.config.cluster.v3.Cluster>[] {
  return forwardedDestinations(read, host)
    .map((d) => ({ message: passedCluster(read, d, edsDiscovery(d.name)), causes: causesOf(d) }));
}
