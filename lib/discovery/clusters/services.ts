/**
 * The services of a server: from its own cluster or from manifests, and from remote clusters.
 *
 * Permissions: the permissions of `./remote_clusters.ts`.
 *
 * @module
 */
import type { ClusterView } from "../../debug/view.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { AccessPlace } from "../../orch/access/find.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { RegistryCounts } from "../../registry/orch/counts.ts";
import type { SharedService } from "../../registry/orch/shared_service.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import { hasSeveralNetworks, sharingWithoutEffect } from "../settings/settings.ts";
import { type FactRegistry, startFactRegistry } from "../sources/fact_registry.ts";
import type { MeshSource } from "../sources/mesh_source.ts";
import { orchAccess, orchClient, type OrchOptions } from "../sources/orchestrator.ts";
import {
  type ClustersOptions,
  type ClusterVariables,
  countAmbientClusters,
  type ServerClusters,
  startClusters,
} from "./remote_clusters.ts";

/** Selects the services of a server. */
interface ServerServicesOptions extends Omit<ClustersOptions, "orch"> {
  readonly manifestServices?: boolean;
  /** Access to the API that holds the secrets of clusters. Default: the API of the orchestrator. */
  readonly clusterSecrets?: AccessPlace | undefined;
  /** The orchestrator; undefined: the server has no orchestrator. */
  readonly orch?: OrchOptions | undefined;
}

export interface ServerServices extends Partial<Pick<FactRegistry, "taker" | "check">> {
  /** Resolves when remote clusters are not waited for any more. */
  readonly settled: Promise<void> | undefined;
  /** Remote clusters; undefined: there are no remote clusters. */
  readonly remote: ServerClusters | undefined;
  /** The clusters for debug pages. */
  clusters(): ClusterView[];
  /** The services that clusters share with each other; empty when `ENABLE_MCS_SERVICE_DISCOVERY` is off. */
  shared(): SharedService[];
}

/** Begins with the services that the options select. @param client Undefined: there is no orchestrator. */
export function startServices(
  client: ApiClient | undefined,
  options: ServerServicesOptions,
  settings: ClusterVariables,
  parts: { readonly pipeline: Pipeline; readonly mesh: MeshSource },
  kernel: Pick<Kernel, "program" | "log" | "metrics" | "clock" | "drain" | "stopper">,
): ServerServices {
  const { orch, clusterId, clusterSecrets } = options;
  const own = startFactRegistry(options, settings, parts);
  for (const text of sharingWithoutEffect(settings)) kernel.log.scope("orch").warn(text);
  kernel.metrics.gauge("meshd_managed_clusters").set({ cluster_type: "remote" }, 0);
  if (hasSeveralNetworks(settings)) countAmbientClusters(kernel.metrics, 0);
  const secretsClient = orch && clusterSecrets &&
    orchClient({ ...orch, access: orchAccess({ place: clusterSecrets, allowed: orch.allowed }, kernel) }, kernel);
  const remote: ServerClusters | undefined = client !== undefined && orch?.services
    ? startClusters(secretsClient ?? client, { ...options, orch }, settings, parts, kernel)
    : undefined;
  measureOrchRegistries(kernel.metrics, function* () {
    if (own !== undefined) yield own.registry.counts;
    yield* remote?.clusters.counts() ?? [];
  });
  return {
    ...own,
    ...{ remote, settled: remote?.settled },
    // The server's own cluster has been read before any page is served.
    clusters: () => [
      ...orch === undefined ? [] : [{ id: clusterId, syncStatus: "synced" }],
      ...remote?.clusters.states() ?? [],
    ],
    shared: () => [
      ...own?.registry.sharedServices() ?? [],
      ...[...remote?.clusters.values() ?? []].flatMap(({ registry }) => registry.sharedServices()),
    ],
  };
}

/** Updates the metrics when a scrape asks. @param all The counts of the present registries, one for each cluster. */
function measureOrchRegistries(metrics: Metrics, all: () => Iterable<RegistryCounts>): void {
  const known = new WeakMap<RegistryCounts, Map<string, number>>();
  const since = (counts: RegistryCounts, key: string, now: number) => {
    let before = known.get(counts);
    if (before === undefined) known.set(counts, before = new Map());
    const last = before.get(key) ?? 0;
    before.set(key, now);
    return now - last;
  };
  metrics.onScrape(() => {
    const events = metrics.counter("pilot_k8s_reg_events");
    let [endpoints, addresses] = [0, 0];
    for (const counts of all()) {
      for (const { type, event, count } of counts.events()) {
        events.inc({ type, event }, since(counts, `${type} ${event}`, count));
      }
      endpoints += counts.waiting.endpoints;
      addresses += counts.waiting.addresses;
      const withoutPod = since(counts, "without pod", counts.withoutPod);
      metrics.counter("pilot_k8s_endpoints_with_no_pods").inc(withoutPod);
    }
    metrics.gauge("endpoint_no_pod").set(endpoints);
    metrics.gauge("pilot_k8s_endpoints_pending_pod").set(addresses);
  });
}
