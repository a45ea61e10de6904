/**
 * The caches of built work, one for each kind of it, shared by all proxies.
 *
 * @module
 */
import type { AffectedKeys } from "../../mesh/mesh.ts";
import type { EncodedResource } from "../../resource/encoded.ts";
import type { ResourceSet, ResourceTable } from "../../resource/set.ts";
import { InvalidatedKeys } from "../reader/invalidated_keys.ts";
import { inboundClusters, outboundClusters, staticClusters } from "../cluster/mod.ts";
import { loadAssignments } from "../endpoint/mod.ts";
import { gatewayHosts } from "../gateway/hosts.ts";
import { httpProxyListener } from "../listener/outbound/http_proxy.ts";
import { inboundListeners } from "../listener/inbound/inbound.ts";
import { mergeOutboundListener } from "../listener/outbound/merge.ts";
import { listenerContributions } from "../listener/outbound/outbound.ts";
import type { InboundTarget } from "../inbound/target.ts";
import type { ListenerContribution } from "../listener/contribution.ts";
import { virtualOutboundListener } from "../listener/virtual.ts";
import { MergeCache } from "./merge_cache.ts";
import { sidecarRouteConfiguration } from "../route/configuration.ts";
import { outboundVirtualHosts } from "../route/sidecar.ts";
import type { Reader } from "../reader/reader.ts";
import { UnitCache } from "../reader/build_cache.ts";
import { inboundWarning } from "../listener/inbound/port.ts";
import { type Warn, warned, type Warning } from "../message/warning.ts";
import { assignmentEncoder, encodeCluster, encodeListener, encodeSecrets } from "../encode/encode.ts";
import type { MergedListener } from "../proxy_class/listeners.ts";
import { OwnCache } from "../per_proxy/sidecar.ts";
import { RouterCache } from "../per_proxy/router.ts";
import {
  type BareRouteConfiguration,
  encodeBareRoute,
  encodeEntries,
  type VirtualHostEntry,
} from "../proxy_class/routes.ts";

/** Names of units to look at again, by kind of work. */
export interface DirtyUnits {
  readonly clusters: ReadonlySet<string>;
  readonly assignments: ReadonlySet<string>;
  readonly virtualHosts: ReadonlySet<string>;
  readonly contributions: ReadonlySet<string>;
  readonly bareRoutes: ReadonlySet<string>;
  readonly gatewayHosts: ReadonlySet<string>;
  /** All that changed, as dependencies of traces name it. */
  readonly changed: InvalidatedKeys;
}

/** Which caches are on. Off: every class of proxies builds its own. */
export interface CacheSwitches {
  /** `PILOT_ENABLE_XDS_CACHE`. */
  readonly all: boolean;
  /** `PILOT_ENABLE_CDS_CACHE`; needs `all`. */
  readonly clusters: boolean;
  /** `PILOT_ENABLE_RDS_CACHE`; needs `all`. */
  readonly routes: boolean;
}

/** Counts over the caches of shared units since they were made, and what they hold now. */
export interface CacheStats {
  /** Look-ups that found a unit, and that had to build one. */
  readonly hits: number;
  readonly misses: number;
  /** Units that went because what they were made from changed, and because too many variants of them came. */
  readonly cleared: number;
  readonly crowdedOut: number;
  readonly size: number;
  /** Things (services, rules) on which units depend. */
  readonly dependencies: number;
}

/** What builders make, as failures name it. */
export type BuildKind =
  | "base"
  | "clusters"
  | "endpoints"
  | "gateways"
  | "inbound"
  | "listeners"
  | "routes"
  | "virtual hosts";

/** Told of a builder that threw. */
export type BuildFailed = (kind: BuildKind, name: string, error: unknown) => void;

/** All caches. */
export class Caches {
  /** The set without resources. */
  readonly empty: ResourceSet;
  readonly clusters: UnitCache<readonly EncodedResource[]>;
  readonly assignments: UnitCache<readonly EncodedResource[]>;
  readonly virtualHosts: UnitCache<readonly VirtualHostEntry[]>;
  readonly bareRoutes: UnitCache<BareRouteConfiguration | undefined>;
  readonly contributions: UnitCache<readonly ListenerContribution[]>;
  readonly base: UnitCache<{ readonly clusters: ResourceSet; readonly listeners: ResourceSet }>;
  readonly merged: MergeCache<MergedListener>;
  readonly own: OwnCache;
  readonly router: RouterCache;
  /** The hosts that a gateway needs clusters of, where it gets no others. */
  readonly gatewayHosts: UnitCache<ReadonlySet<string> | undefined>;

  /** @param failed Told of a builder that threw: the kind of work, and what it was for. */
  constructor(table: ResourceTable, on: CacheSwitches, failed: BuildFailed) {
    const { empty } = table;
    this.empty = empty;
    const options = <T>(kind: BuildKind, fallback: T, enabled: boolean) => ({
      enabled: on.all && enabled,
      fallback,
      failed: (name: string, error: unknown) => failed(kind, name, error),
    });
    this.clusters = new UnitCache(
      (read, host, warn) => outboundClusters(read, host).map(warned("clusters", warn)).map(encodeCluster),
      options("clusters", [], on.clusters),
    );
    const encodeAssignment = assignmentEncoder();
    this.assignments = new UnitCache(
      (read, host, warn) => loadAssignments(read, host).map(warned("endpoints", warn)).map(encodeAssignment),
      options("endpoints", [], true),
    );
    this.virtualHosts = new UnitCache(
      (read, host, warn) => encodeEntries(outboundVirtualHosts(read, host).map(warned("routes", warn))),
      options("virtual hosts", [], on.routes),
    );
    this.bareRoutes = new UnitCache(bareRoute, options("routes", undefined, on.routes));
    this.contributions = new UnitCache(listenerContributions, options("listeners", [], true));
    this.base = new UnitCache(
      (read, _name, warn) => baseResources(read, empty, warn),
      options("base", { clusters: empty, listeners: empty }, true),
    );
    this.merged = new MergeCache(mergedListener, options("listeners", { listener: undefined, conflicts: [] }, true));
    const nothing = { clusters: empty, listeners: empty };
    this.router = new RouterCache(options("gateways", undefined, true));
    this.gatewayHosts = new UnitCache(neededHosts, options("gateways", undefined, true));
    this.own = new OwnCache(ownResources, options("inbound", { ...nothing, secrets: empty }, true), empty);
  }

  /** Drops what a change affected. */
  invalidate(affected: AffectedKeys): DirtyUnits {
    const changed = new InvalidatedKeys(affected);
    const appearing = [...affected.services, ...affected.virtualServices];
    const dirty = (cache: UnitCache<unknown>) => {
      const names = cache.invalidate(changed);
      for (const host of appearing) names.add(host);
      return names;
    };
    return {
      clusters: dirty(this.clusters),
      assignments: dirty(this.assignments),
      virtualHosts: dirty(this.virtualHosts),
      contributions: dirty(this.contributions),
      bareRoutes: this.bareRoutes.invalidate(changed),
      gatewayHosts: this.gatewayHosts.invalidate(changed),
      changed,
    };
  }

  /** What the caches of shared units did and hold, for metrics. */
  stats(): CacheStats {
    const sums = { hits: 0, misses: 0, cleared: 0, crowdedOut: 0, size: 0, dependencies: 0 };
    for (const cache of this.#shared()) {
      sums.hits += cache.stats.reused;
      sums.misses += cache.stats.built;
      sums.cleared += cache.stats.dropped;
      sums.crowdedOut += cache.stats.crowdedOut;
      sums.size += cache.size;
      sums.dependencies += cache.dependencyCount;
    }
    return sums;
  }

  #shared(): readonly UnitCache<unknown>[] {
    const { clusters, assignments, virtualHosts, bareRoutes, contributions, base, gatewayHosts } = this;
    return [clusters, assignments, virtualHosts, bareRoutes, contributions, base, gatewayHosts];
  }

  /** What builders had to say to users, but for what is a proxy's own. */
  *warnings(): Iterable<Warning> {
    for (const cache of this.#shared()) yield* cache.warnings();
  }
}

function bareRoute(read: Reader, name: string): BareRouteConfiguration {
  return encodeBareRoute(sidecarRouteConfiguration(read, name, read.property("vhds") ? "vhds" : []));
}

function baseResources(read: Reader, empty: ResourceSet, warn: Warn) {
  const listeners = [virtualOutboundListener(read), httpProxyListener(read)].filter((l) => l !== undefined);
  return {
    clusters: empty.with(staticClusters(read).map(warned("clusters", warn)).map(encodeCluster)),
    listeners: empty.with(listeners.map((message) => encodeListener({ message, causes: [] }))),
  };
}

function mergedListener(read: Reader, key: string, contributions: readonly ListenerContribution[]): MergedListener {
  const { listener: message, causes, conflicts } = mergeOutboundListener(read, key, contributions);
  return { listener: message && encodeListener({ message, causes }), conflicts };
}

function ownResources(read: Reader, targets: readonly InboundTarget[], warn: Warn) {
  const { listeners, conflicts } = inboundListeners(read, targets);
  for (const conflict of conflicts) warn(inboundWarning(conflict));
  return {
    secrets: encodeSecrets(listeners),
    clusters: inboundClusters(read, targets).map(warned("inbound", warn)).map(encodeCluster),
    listeners: listeners.map(warned("inbound", warn)).map(encodeListener),
  };
}

function neededHosts(read: Reader): ReadonlySet<string> | undefined {
  return read.settings.filterGatewayClusterConfig ? gatewayHosts(read) : undefined;
}
