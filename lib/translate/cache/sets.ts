/**
 * Sets of resources that are made in one result.
 *
 * @module
 */
import type { ResourceSet } from "../../resource/set.ts";
import { inboundClusters } from "../cluster/inbound.ts";
import { staticClusters } from "../cluster/static.ts";
import { encodeCluster, encodeListener, encodeSecrets } from "../encode/encode.ts";
import type { InboundParts } from "../inbound/same_targets.ts";
import { inboundListeners } from "../listener/inbound/inbound.ts";
import { inboundFinding } from "../listener/inbound/port.ts";
import { httpProxyListener } from "../listener/outbound/http_proxy.ts";
import { virtualOutboundListener } from "../listener/virtual.ts";
import { reported, type ReportFinding } from "../message/finding.ts";
import { aspect } from "../reader/aspect.ts";
import type { Reader } from "../reader/reader.ts";

/** Clusters and listeners that belong to no host. */
export interface BaseSets {
  readonly clusters: ResourceSet;
  readonly listeners: ResourceSet;
}

/** Inbound resources of one workload. */
export interface InboundSets {
  readonly clusters: ResourceSet;
  readonly listeners: ResourceSet;
  readonly secrets: ResourceSet;
}

/** What belongs to no host. */
export function baseSets(read: Reader, empty: ResourceSet, report: ReportFinding): BaseSets {
  const all = aspect(read, "outbound") ? [virtualOutboundListener(read), httpProxyListener(read)] : [];
  const listeners = all.filter((listener) => listener !== undefined);
  return {
    clusters: empty.with(staticClusters(read).map(reported("not-as-written", report)).map(encodeCluster)),
    listeners: empty.with(listeners.map((message) => encodeListener({ message, causes: [] }))),
  };
}

/** The inbound side of a workload. */
export function inboundSets(
  read: Reader,
  { targets, passthrough }: InboundParts,
  empty: ResourceSet,
  report: ReportFinding,
): InboundSets {
  const { listeners, conflicts, findings } = inboundListeners(read, targets, passthrough);
  for (const conflict of conflicts) report(inboundFinding(conflict));
  for (const finding of findings) report(finding);
  return {
    secrets: empty.with(encodeSecrets(listeners)),
    clusters: empty.with(inboundClusters(read, targets).map(reported("not-as-written", report)).map(encodeCluster)),
    listeners: empty.with(listeners.map(reported("not-as-written", report)).map(encodeListener)),
  };
}
