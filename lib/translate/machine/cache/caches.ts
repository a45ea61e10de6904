/**
 * The caches of build results, one for each builder, shared by all proxies.
 *
 * @module
 */
import { sameItems } from "../../../incremental/same_items.ts";
import type { InvalidatedKeys } from "../../../incremental/keys.ts";
import type { AffectedKeys } from "../../../mesh/mesh.ts";
import type { ServiceTarget } from "../../../registry/inbound.ts";
import type { EncodedResource } from "../../../resource/encoded.ts";
import type { ResourceSet, ResourceTable } from "../../../resource/set.ts";
import { outboundClusters } from "../../cluster/outbound.ts";
import { passedClusters } from "../../cluster/passed.ts";
import { assignmentEncoder, encodeCluster } from "../../encode/encode.ts";
import { type BareRouteConfiguration, encodeEntries, type VirtualHostEntry } from "../../encode/virtual_hosts.ts";
import { loadAssignments } from "../../endpoint/assignment.ts";
import { passedAssignments } from "../../endpoint/passed.ts";
import { type ExtensionSets, extensionSets } from "../../extension/extensions.ts";
import { gatewayHosts } from "../../gateway/hosts.ts";
import { type PlannedVirtualHost, samePlan } from "../../gateway/route_plan.ts";
import { type InboundParts, sameInboundParts } from "../../inbound/same_targets.ts";
import type { ListenerContribution } from "../../listener/contribution.ts";
import {
  CLOSED_MANAGER,
  type InboundManager,
  inboundManager,
  type ManagerShape,
  shapeName,
} from "../../listener/inbound/manager.ts";
import { NO_PASSTHROUGH, type Passthrough, passthrough } from "../../listener/inbound/passthrough.ts";
import { listenerContributions } from "../../listener/outbound/outbound.ts";
import { type EncodedName, encodeName } from "../../name_table/encode.ts";
import { nameEntries } from "../../name_table/entry.ts";
import { reported } from "../../message/finding.ts";
import type { TranslationNote } from "../../message/notes.ts";
import { clientClusterPatching } from "../../patches/apply.ts";
import { patchedVirtualHost } from "../../patches/routes.ts";
import { invalidatedKeys } from "../../reader/mesh_queries.ts";
import type { Reader } from "../../reader/reader.ts";
import { outboundVirtualHosts } from "../../route/sidecar.ts";
import {
  type BuiltPlannedHost,
  EMPTY_PLAN,
  type GatewayPlan,
  gatewayPlan,
  plannedVirtualHost,
  sameServiceTargets,
} from "./gateway_plan.ts";
import { bareRoute, type MergedListener, mergedListener } from "./outbound_results.ts";
import type { CacheStats } from "./cache_stats.ts";
import { LibraryCaches } from "./library_caches.ts";
import { type BaseSets, baseSets, type InboundSets, inboundSets } from "./sets.ts";
import { type TranslationCache, translationCache, type TranslationResult } from "./translation_cache.ts";

/** Names of results to look at again, by cache. */
export interface StaleResults {
  readonly clusters: ReadonlySet<string>;
  readonly assignments: ReadonlySet<string>;
  readonly passedClusters: ReadonlySet<string>;
  readonly passedAssignments: ReadonlySet<string>;
  readonly library: Readonly<Record<"clusters" | "assignments" | "listeners" | "routes", ReadonlySet<string>>>;
  readonly virtualHosts: ReadonlySet<string>;
  readonly contributions: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  readonly bareRoutes: ReadonlySet<string>;
  readonly listeners: ReadonlySet<string>;
  /** All that changed, as read records name it. */
  readonly keys: InvalidatedKeys;
}

/** Switches of the caches. Off: every class of proxies builds its own results. */
export interface CacheSwitches {
  /** `PILOT_ENABLE_XDS_CACHE`. */
  readonly all: boolean;
  /** `PILOT_ENABLE_CDS_CACHE`; needs `all`. */
  readonly clusters: boolean;
  /** `PILOT_ENABLE_RDS_CACHE`; needs `all`. */
  readonly routes: boolean;
}

/** The kinds of results, as failures name them. */
export type BuildKind =
  | "base"
  | "clusters"
  | "endpoints"
  | "extensions"
  | "gateways"
  | "inbound"
  | "listeners"
  | "names"
  | "routes"
  | "virtual hosts";

/** Called when a builder threw. */
export type BuildFailed = (kind: BuildKind, name: string, error: unknown) => void;

export class Caches {
  /** The set without resources. */
  readonly empty: ResourceSet;
  /** By host. */
  readonly clusters: TranslationCache<readonly EncodedResource[]>;
  readonly assignments: TranslationCache<readonly EncodedResource[]>;
  /** By host: the additional clusters and endpoints of gateways that pass connections on by name. */
  readonly passedClusters: TranslationCache<readonly EncodedResource[]>;
  readonly passedAssignments: TranslationCache<readonly EncodedResource[]>;
  /** Of gRPC libraries. */
  readonly library: LibraryCaches;
  readonly virtualHosts: TranslationCache<readonly VirtualHostEntry[]>;
  readonly contributions: TranslationCache<readonly ListenerContribution[]>;
  readonly names: TranslationCache<readonly EncodedName[]>;
  /** By route configuration. */
  readonly bareRoutes: TranslationCache<BareRouteConfiguration | undefined>;
  /** By listener, from the contributions of hosts. */
  readonly listeners: TranslationCache<MergedListener, readonly ListenerContribution[]>;
  /** One: its name is empty. */
  readonly base: TranslationCache<BaseSets>;
  /** One: its name is empty. */
  readonly extensions: TranslationCache<ExtensionSets>;
  /** The hosts that a gateway needs clusters of; undefined: of all. One: its name is empty. */
  readonly gatewayHosts: TranslationCache<ReadonlySet<string> | undefined>;
  /** By the ports of a workload. */
  readonly inbound: TranslationCache<InboundSets, InboundParts>;
  /** By the policies of a workload. */
  readonly passthrough: TranslationCache<Passthrough>;
  /** By the policies of a workload and the shape. */
  readonly managers: TranslationCache<InboundManager, ManagerShape>;
  /** By the services at a gateway's addresses. */
  readonly gatewayPlans: TranslationCache<GatewayPlan, readonly ServiceTarget[]>;
  /** By route configuration and virtual host. */
  readonly gatewayVirtualHosts: TranslationCache<BuiltPlannedHost | undefined, PlannedVirtualHost>;

  /** @param failed Called when a builder threw: the kind of result, and its name. */
  constructor(table: ResourceTable, on: CacheSwitches, failed: BuildFailed) {
    const { empty } = table;
    this.empty = empty;
    const options = <T>(kind: BuildKind, fallback: T, enabled = true) => ({
      enabled: on.all && enabled,
      fallback,
      failed: (name: string, error: unknown) => failed(kind, name, error),
    });
    this.clusters = translationCache(
      (read, host, _, report) =>
        outboundClusters(read, host).map(reported("not-as-written", report))
          .flatMap(clientClusterPatching(read, report)).map(encodeCluster),
      options("clusters", [], on.clusters),
    );
    const encodeAssignment = assignmentEncoder();
    this.assignments = translationCache(
      (read, host, _, report) =>
        loadAssignments(read, host).map(reported("not-as-written", report)).map(encodeAssignment),
      options("endpoints", []),
    );
    this.passedClusters = translationCache(
      (read, host, _, report) =>
        passedClusters(read, host).flatMap(clientClusterPatching(read, report)).map(encodeCluster),
      options("clusters", [], on.clusters),
    );
    this.passedAssignments = translationCache(
      (read, host) => passedAssignments(read, host).map(encodeAssignment),
      options("endpoints", []),
    );
    this.library = new LibraryCaches(options, on);
    this.virtualHosts = translationCache(
      (read, host, _, report) =>
        encodeEntries(
          outboundVirtualHosts(read, host).map(reported("not-as-written", report)),
          (routes, built) => patchedVirtualHost(read, routes, built, { context: "SIDECAR_OUTBOUND" }, report),
        ),
      options("virtual hosts", [], on.routes),
    );
    this.contributions = translationCache((read, host) => listenerContributions(read, host), options("listeners", []));
    this.names = translationCache((read, host) => nameEntries(read, host).map(encodeName), options("names", []));
    this.bareRoutes = translationCache(bareRoute, options("routes", undefined, on.routes));
    this.listeners = translationCache(mergedListener, {
      ...options("listeners", { listener: undefined, conflicts: [] }),
      sameInput: sameItems,
    });
    const none = { clusters: empty, listeners: empty, secrets: empty };
    this.base = translationCache(
      (read, _, __, report) => baseSets(read, empty, report),
      options("base", { ...none, added: none }),
    );
    this.extensions = translationCache(
      (read, _, __, report) => extensionSets(read, empty, report),
      options<ExtensionSets>("extensions", { configs: empty, pullSecrets: new Map() }),
    );
    this.gatewayHosts = translationCache(neededHosts, options("gateways", undefined));
    this.inbound = translationCache((read, _, input, report) => inboundSets(read, input, empty, report), {
      ...options("inbound", none),
      sameInput: sameInboundParts,
    });
    this.passthrough = translationCache((read) => passthrough(read), options("inbound", NO_PASSTHROUGH));
    this.managers = translationCache((read, _, shape) => inboundManager(read, shape), {
      ...options("inbound", CLOSED_MANAGER),
      sameInput: (a, b) => shapeName(a) === shapeName(b),
    });
    this.gatewayPlans = translationCache((read, _, targets, report) => gatewayPlan(read, targets, report), {
      ...options("gateways", EMPTY_PLAN),
      sameInput: sameServiceTargets,
    });
    this.gatewayVirtualHosts = translationCache(
      (read, _, planned, report) => plannedVirtualHost(read, planned, report),
      {
        ...options("gateways", undefined),
        sameInput: samePlan,
      },
    );
  }

  /** Drops the results that a change makes stale. */
  invalidate(affected: AffectedKeys): StaleResults {
    const keys = invalidatedKeys(affected);
    const appearing = [...affected.services, ...affected.virtualServices];
    const hosts = (cache: TranslationCache<unknown>) => {
      const names = cache.invalidate(keys);
      for (const host of appearing) names.add(host);
      return names;
    };
    // Meshes of one network, or without libraries, have no such results, and pay for none.
    const appeared = new Set(appearing);
    const seldom = (cache: TranslationCache<unknown>) => cache.isEmpty ? appeared : hosts(cache);
    for (const cache of this.#perProxy()) cache.invalidate(keys);
    for (const cache of [this.base, this.extensions, this.gatewayHosts]) cache.invalidate(keys);
    return {
      clusters: hosts(this.clusters),
      assignments: hosts(this.assignments),
      passedClusters: seldom(this.passedClusters),
      passedAssignments: seldom(this.passedAssignments),
      library: {
        clusters: seldom(this.library.clusters),
        assignments: seldom(this.library.assignments),
        listeners: seldom(this.library.listeners),
        routes: seldom(this.library.routes),
      },
      virtualHosts: hosts(this.virtualHosts),
      contributions: hosts(this.contributions),
      names: hosts(this.names),
      bareRoutes: this.bareRoutes.invalidate(keys),
      listeners: this.listeners.invalidate(keys),
      keys,
    };
  }

  /** Forgets results that are not in use, but for the last one of each host: proxies come back. */
  sweep(inUse: Iterable<TranslationResult<unknown>>): void {
    const used = new Set<unknown>(inUse);
    for (const cache of this.#shared()) cache.sweep((result) => used.has(result), { keepsNewest: true });
    this.listeners.sweep((result) => used.has(result));
    for (const cache of this.#perProxy()) cache.sweep((result) => used.has(result));
  }

  /** The operations and content of the caches, for metrics. */
  stats(): CacheStats {
    const sums = { hits: 0, misses: 0, cleared: 0, crowdedOut: 0, size: 0, dependencies: 0 };
    for (const cache of this.#shared()) {
      sums.hits += cache.counts.reused;
      sums.misses += cache.counts.built;
      sums.cleared += cache.counts.dropped;
      sums.crowdedOut += cache.counts.crowdedOut;
      sums.size += cache.size;
      sums.dependencies += cache.dependencies;
    }
    return sums;
  }

  #shared() {
    const { clusters, assignments, virtualHosts, contributions, names, bareRoutes, base, extensions, gatewayHosts } =
      this;
    const passed = [this.passedClusters, this.passedAssignments];
    return [
      ...[clusters, assignments, ...passed, ...this.library.ofHosts, virtualHosts, contributions, names],
      ...[bareRoutes, base, extensions, gatewayHosts],
    ];
  }

  #perProxy() {
    const { inbound, passthrough, managers } = this;
    return [inbound, passthrough, managers, this.library.ports, this.gatewayPlans, this.gatewayVirtualHosts];
  }

  /** The notes of builders, but for those per proxy, and those of extensions, whose results outlive their objects. */
  *notes(): Iterable<TranslationNote> {
    for (const cache of this.#shared()) if (cache !== this.extensions) yield* cache.notes();
    yield* this.listeners.notes();
  }
}

function neededHosts(read: Reader): ReadonlySet<string> | undefined {
  return read.settings.filterGatewayClusterConfig ? gatewayHosts(read) : undefined;
}
