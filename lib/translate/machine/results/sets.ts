/**
 * Results with sets of resources.
 *
 * @module
 */
import type { ResourceSet } from "../../../resource/set.ts";
import { connectOriginateClusters, hboneInboundClusters } from "../../cluster/hbone.ts";
import { inboundClusters } from "../../cluster/inbound.ts";
import { intoNetworksClusters } from "../../cluster/into_networks.ts";
import { INBOUND_PASSTHROUGH, staticClusters } from "../../cluster/static.ts";
import { encodeCluster, encodeListener, encodeListenerOfChains, encodeSecrets } from "../../encode/encode.ts";
import type { InboundParts } from "../../inbound/same_targets.ts";
import { inboundClusterName, type InboundTarget } from "../../inbound/target.ts";
import { intoNetworksListeners } from "../../listener/hbone/into_networks.ts";
import { connectOriginateListener } from "../../listener/hbone/originate.ts";
import { inboundListeners } from "../../listener/inbound/inbound.ts";
import { inboundFinding } from "../../listener/inbound/port.ts";
import { httpProxyListener } from "../../listener/outbound/http_proxy.ts";
import { virtualOutboundListener } from "../../listener/virtual.ts";
import { reported } from "../../message/finding.ts";
import type { ReportNote } from "../../message/notes.ts";
import { added } from "../../patches/added.ts";
import { clientContext, clusterPatching, listenerPatching } from "../../patches/apply.ts";
import { aspect } from "../../reader/aspect.ts";
import type { Reader } from "../../reader/reader.ts";

/** Some clusters and listeners. */
export interface ClustersAndListeners {
  readonly clusters: ResourceSet;
  readonly listeners: ResourceSet;
}

/** Clusters and listeners without a host. */
export interface BaseSets extends ClustersAndListeners {
  /** Resources that patches add on the side of clients. Another resource of the same name has precedence. */
  readonly added: ClustersAndListeners;
}

/** Inbound resources of a workload. */
export interface InboundSets {
  readonly clusters: ResourceSet;
  readonly listeners: ResourceSet;
  readonly secrets: ResourceSet;
}

/** The sets of resources without a host. */
export function baseSets(read: Reader, empty: ResourceSet, report: ReportNote): BaseSets {
  if (aspect(read, "library")) {
    const none = { clusters: empty, listeners: empty };
    return { ...none, added: none };
  }
  const all = aspect(read, "outbound") ? [virtualOutboundListener(read), httpProxyListener(read)] : [];
  const listeners = all.flatMap((message) => message === undefined ? [] : [{ message, causes: [] }]);
  const sides = clusterPatching(read, report, (name) => ({
    context: name === INBOUND_PASSTHROUGH ? "SIDECAR_INBOUND" : clientContext(read),
    hosts: [],
  }));
  const clusters = staticClusters(read).map(reported("not-as-written", report)).flatMap(sides);
  const patched = listeners.flatMap(listenerPatching(read, report, "SIDECAR_OUTBOUND"));
  // Patches leave listeners for HBONE alone: patches see the carried connections.
  const carrier = connectOriginateListener(read);
  const carriers = [...carrier === undefined ? [] : [carrier], ...intoNetworksListeners(read)]
    .map((message) => ({ message, causes: [] }));
  const ownClusters = [...clusters, ...connectOriginateClusters(read), ...intoNetworksClusters(read)];
  const ownListeners = [...patched, ...carriers];
  return {
    clusters: empty.with(ownClusters.map(encodeCluster)),
    listeners: empty.with(ownListeners.map(encodeListener)),
    added: {
      clusters: empty.with(added(read, "clusters", report, ownClusters, clientContext).map(encodeCluster)),
      listeners: empty.with(added(read, "listeners", report, ownListeners, clientContext).map(encodeListener)),
    },
  };
}

/** The inbound side of a workload. */
export function inboundSets(
  read: Reader,
  { targets, passthrough, managers }: InboundParts,
  empty: ResourceSet,
  report: ReportNote,
): InboundSets {
  const built = inboundListeners(read, targets, passthrough, managers);
  for (const conflict of built.conflicts) report(inboundFinding(conflict));
  for (const finding of built.findings) report(finding);
  const sides = clusterPatching(read, report, (name) => ({
    context: "SIDECAR_INBOUND",
    hosts: hostsBehind(targets, name),
  }));
  const clusters = inboundClusters(read, targets).map(reported("not-as-written", report)).flatMap(sides);
  const listeners = built.listeners.map(reported("not-as-written", report))
    .flatMap(listenerPatching(read, report, "SIDECAR_INBOUND"));
  const own = [...clusters, ...hboneInboundClusters(read)];
  const side = () => "SIDECAR_INBOUND" as const;
  const ownListeners = [...added(read, "listeners", report, listeners, side), ...listeners];
  return {
    secrets: empty.with(encodeSecrets(listeners)),
    clusters: empty.with([...added(read, "clusters", report, own, side), ...own].map(encodeCluster)),
    listeners: empty.with(ownListeners.map(encodeListenerOfChains)),
  };
}

/** Hosts of the services behind an inbound cluster. */
function hostsBehind(targets: readonly InboundTarget[], cluster: string): string[] {
  return targets.filter(({ port }) => inboundClusterName(port) === cluster).flatMap(
    ({ service, otherServices = [] }) => {
      return [...service ? [service] : [], ...otherServices].map(({ hostname }) => hostname);
    },
  );
}
