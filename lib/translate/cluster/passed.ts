/**
 * Clusters for connections that a gateway passes on unchanged: bytes, without TLS by the gateway.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { passedDestinations } from "../destination/passed.ts";
import { causesOf, type DestinationPlan } from "../destination/plan.ts";
import { passedGroups } from "../endpoint/passed.ts";
import type { Built } from "../message/built.ts";
import type { Reader } from "../reader/reader.ts";
import { connectionPool } from "./connection_pool.ts";
import { dnsDiscovery } from "./dns.ts";
import { clusterMetadata } from "./metadata.ts";
import { outlierDetection } from "./outlier.ts";
import { balancing, edsDiscovery } from "./outbound.ts";
import { statName } from "./stat_name.ts";

type Cluster = envoy.config.cluster.v3.Cluster;

/** The clusters of a host, `outbound_.port_.subset_.host`; see {@linkcode passedDestinations}. */
export function passedClusters(read: Reader, host: string): Built<Cluster>[] {
  return passedDestinations(read, host).flatMap((d) => {
    const discovery = d.discovery === "eds" ? edsDiscovery(d.name) : dnsDiscovery(read, d, passedGroups(read, d));
    return discovery === undefined ? [] : [{ message: passedCluster(read, d, discovery), causes: causesOf(d) }];
  });
}

/** The cluster of connections that a gateway does not open, and of datagrams. */
export function passedCluster(read: Reader, d: DestinationPlan, discovery: Cluster): Cluster {
  const { policy, service, subset, rule } = d;
  const metadata = clusterMetadata(read.settings, {
    services: [service],
    rule,
    ...(subset && { subset: subset.name }),
  });
  return {
    name: d.name,
    alt_stat_name: statName(d.name),
    ...connectionPool(read.mesh(), policy.connectionPool),
    ...balancing(read, d),
    ...discovery,
    ...(policy.outlierDetection && { outlier_detection: outlierDetection(policy.outlierDetection) }),
    ...(metadata && { metadata }),
  };
}
