/**
 * The reports of each source, and the rule that decides between several reports of a service.
 *
 * @module
 */
import type { SmallMultimap } from "./small_multimap.ts";
import type { Provider, Service, ServiceKey, Workload } from "./types.ts";

/** The reporting registry, by its kind and cluster. */
export interface RegistrySource {
  readonly provider: Provider;
  readonly clusterId: string;
}

/** All reports of a source. */
export interface SourceReports {
  readonly source: RegistrySource;
  readonly id: string;
  /** The order of registration. */
  readonly rank: number;
  readonly services: Map<ServiceKey, Service>;
  readonly workloads: Map<string, Workload>;
  /** Shards of the source's endpoints, by service; the shards go with the source. */
  readonly endpoints: SmallMultimap<ServiceKey, string>;
}

/** A service and its source. */
export interface ReportedService {
  readonly reports: SourceReports;
  readonly service: Service;
}

/** Whether a report goes before another report; see `Aggregate`. */
export function beats(a: ReportedService, b: ReportedService): boolean {
  const [orchA, orchB] = [a.service.provider === "Orch", b.service.provider === "Orch"];
  if (orchA !== orchB) return orchA;
  if (!orchA && a.service.creationTimestamp !== b.service.creationTimestamp) {
    return a.service.creationTimestamp < b.service.creationTimestamp;
  }
  return a.reports.rank < b.reports.rank;
}

/** Addresses of a service by the cluster of the reporting registry. */
export function addressesByCluster(clusters: readonly ReportedService[]): Record<string, readonly string[]> {
  const byCluster: Record<string, readonly string[]> = {};
  for (const { reports, service } of clusters) {
    byCluster[reports.source.clusterId] = service.clusterAddresses?.[reports.source.clusterId] ?? service.addresses;
  }
  return byCluster;
}
