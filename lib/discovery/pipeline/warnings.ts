/**
 * The warnings of a pipeline: accepted settings that proxies do not get, and connected proxies of an unknown cluster.
 *
 * @module
 */
import { type Finding, findingOf, NOWHERE, shownName } from "../../finding/finding.ts";
import type { Aggregate } from "../../registry/aggregate.ts";
import type { ServiceEntryRegistry } from "../../registry/service_entry/registry.ts";
import type { ProxyState } from "../../translate/machine/per_proxy/proxy_state.ts";
import type { Translator } from "../../translate/machine/translator.ts";
import { addressRangeFindings } from "../../translate/message/mesh_findings.ts";
import { type ScopeParts, scopeWarnings } from "./scope_warnings.ts";

/** Most unknown clusters in findings: any client can send any name. */
const MOST_NAMED = 20;

/**
 * Findings about connected proxies that name an unknown cluster, one for each name. Such proxies would silently lack
 * endpoints and their own inbound side.
 *
 * @param own the server's own cluster
 * @param isKnown whether services of a cluster are part of the mesh
 */
function unknownClusters(
  proxies: Iterable<Pick<ProxyState, "proxy">>,
  own: string,
  isKnown: (cluster: string) => boolean,
): Finding[] {
  const named = new Set<string>();
  for (const { proxy: { properties: { clusterId } } } of proxies) {
    // Nearly all proxies are of the server's own cluster, and need no entry.
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

export interface WarningParts {
  readonly translator: Pick<Translator, "warnings" | "proxies">;
  readonly aggregate: Pick<Aggregate, "hasCluster" | "services">;
  readonly entries: Pick<ServiceEntryRegistry, "automaticAddresses">;
}

/**
 * The present warnings, each once.
 *
 * @param ofKeys findings about keys of token issuers
 * @param clusterId name of the server's own cluster
 * @param scopes the entries of `serviceScopeConfigs`, and what they depend on
 */
export function pipelineWarnings(
  { translator, aggregate, entries }: WarningParts,
  ofKeys: Iterable<Finding>,
  clusterId: string,
  scopes: Omit<ScopeParts, "services">,
): Finding[] {
  const isKnown = (cluster: string) => aggregate.hasCluster(cluster);
  return [
    ...translator.warnings(),
    ...addressRangeFindings(entries.automaticAddresses),
    ...ofKeys,
    ...scopeWarnings({ ...scopes, services: () => aggregate.services() }),
    ...unknownClusters(translator.proxies(), clusterId, isKnown),
  ];
}
