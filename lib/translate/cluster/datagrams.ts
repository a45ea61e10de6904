/**
 * Clusters for datagrams. No TLS and no HTTP: Envoy passes datagrams on as they are.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { datagramDestinations } from "../destination/datagrams.ts";
import { causesOf } from "../destination/plan.ts";
import { datagramGroups } from "../endpoint/datagrams.ts";
import type { Built } from "../message/built.ts";
import type { Reader } from "../reader/reader.ts";
import { dnsDiscovery } from "./dns.ts";
import { edsDiscovery } from "./outbound.ts";
import { passedCluster } from "./passed.ts";

type Cluster = envoy.config.cluster.v3.Cluster;

/** The clusters of a host, `outbound_udp|port||host`; see {@linkcode datagramDestinations}. */
export function datagramClusters(read: Reader, host: string): Built<Cluster>[] {
  return datagramDestinations(read, host).flatMap((d) => {
    const discovery = d.discovery === "eds" ? edsDiscovery(d.name) : dnsDiscovery(read, d, datagramGroups(read, d));
    return discovery === undefined ? [] : [{ message: passedCluster(read, d, discovery), causes: causesOf(d) }];
  });
}
