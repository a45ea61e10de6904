/**
 * What a pipeline warns of: accepted settings that proxies do not get, and proxies that do not get what they expect.
 *
 * @module
 */
import type { Finding } from "../../finding/finding.ts";
import type { Aggregate } from "../../registry/aggregate.ts";
import type { ServiceEntryRegistry } from "../../registry/service_entry/registry.ts";
import { addressRangeFindings } from "../../translate/message/mesh_findings.ts";
import type { Translator } from "../../translate/machine/translator.ts";
import { unknownClusters } from "./unknown_clusters.ts";

/** The parts that know of warnings. */
export interface WarningParts {
  readonly translator: Pick<Translator, "warnings" | "proxies">;
  readonly aggregate: Pick<Aggregate, "hasCluster">;
  readonly entries: Pick<ServiceEntryRegistry, "automaticAddresses">;
}

/**
 * The present warnings, each once.
 *
 * @param ofKeys findings about keys of token issuers
 * @param clusterId name of the server's own cluster
 */
export function pipelineWarnings(
  { translator, aggregate, entries }: WarningParts,
  ofKeys: Iterable<Finding>,
  clusterId: string,
): Finding[] {
  const isKnown = (cluster: string) => aggregate.hasCluster(cluster);
  return [
    ...translator.warnings(),
    ...addressRangeFindings(entries.automaticAddresses),
    ...ofKeys,
    ...unknownClusters(translator.proxies(), clusterId, isKnown),
  ];
}
