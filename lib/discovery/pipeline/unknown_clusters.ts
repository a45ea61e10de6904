/**
 * Findings about connected proxies that name a cluster which the server does not know: they would lack endpoints, and their
 * own inbound side, without a word.
 *
 * @module
 */
import { type Finding, findingOf, NOWHERE, shownName } from "../../finding/finding.ts";
import type { ProxyState } from "../../translate/machine/per_proxy/proxy_state.ts";

/** Clusters that are named; any client can send any name. */
const MOST_NAMED = 20;

/**
 * One finding for each name.
 *
 * @param own the server's own cluster
 * @param isKnown whether services of a cluster are part of the mesh
 */
export function unknownClusters(
  proxies: Iterable<Pick<ProxyState, "proxy">>,
  own: string,
  isKnown: (cluster: string) => boolean,
): Finding[] {
  const named = new Set<string>();
  for (const { proxy: { properties: { clusterId } } } of proxies) {
    // Nearly all are of the own cluster, so nothing is made for them.
    if (clusterId !== own && !isKnown(clusterId) && named.size < MOST_NAMED) named.add(clusterId);
  }
  return [...named].sort().map((cluster) => {
    const got = JSON.stringify(shownName(cluster));
    const message =
      `connected proxies name the cluster ${got} (CLUSTER_ID), expected ${JSON.stringify(own)}, which is ` +
      "this server's, or a cluster that a secret describes";
    return findingOf("unknown-cluster", { severity: "warning", place: NOWHERE, value: got, expected: own, message });
  });
}
