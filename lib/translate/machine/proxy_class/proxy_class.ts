/**
 * Classes of proxies: all proxies of a class share every result that is not per proxy.
 *
 * Results of one kind (clusters, endpoints, listeners, routes) are shared more widely than by class: by all proxies of
 * one view that answer alike the queries of that kind's results. A class is one combination of such groups.
 *
 * @module
 */
import type { Scope } from "../../../mesh/scope.ts";
import type { ResourceSet } from "../../../resource/set.ts";
import type { BaseSets } from "../cache/sets.ts";
import type { ExtensionSets } from "../../extension/extensions.ts";
import type { ListenerConflict } from "../../listener/conflict.ts";
import type { ProxyType } from "../../reader/proxy_profile.ts";
import type { HostResources } from "./host_resources.ts";
import type { OutboundListeners } from "./listeners.ts";
import type { OutboundRoutes } from "./routes.ts";
import type { SoleResult } from "./sole_result.ts";

/** Clusters of connections that are passed on by name, and their endpoints. */
export interface PassedGroups {
  readonly clusters: HostResources;
  readonly assignments: HostResources;
}

/** Listeners and route configurations of gRPC libraries. */
export interface LibraryGroups {
  readonly listeners: HostResources;
  readonly routes: HostResources;
}

/** The groups whose results a class shares. */
export interface ClassGroups {
  readonly clusters: HostResources;
  readonly assignments: HostResources;
  /** Clusters and listeners that belong to no host. */
  readonly base: SoleResult<BaseSets>;
  /** Extension configurations that filters of listeners ask for by name. */
  readonly extensions: SoleResult<ExtensionSets>;
  /** Of connections that a gateway passes on by name. Absent: it passes none on, as nearly all proxies. */
  readonly passed?: PassedGroups;
  /** Absent: proxies of this type have no outbound listeners. */
  readonly listeners?: OutboundListeners;
  readonly routes?: OutboundRoutes;
  /** In their place, of gRPC libraries. */
  readonly library?: LibraryGroups;
}

/** A class of proxies. */
export class ProxyClass {
  readonly #empty: ResourceSet;

  /** @param empty The set without resources. */
  constructor(readonly type: ProxyType, readonly scope: Scope, readonly groups: ClassGroups, empty: ResourceSet) {
    this.#empty = empty;
  }

  /** Outbound listeners; the same object while nothing in it changed. */
  get listeners(): ResourceSet {
    return this.groups.listeners?.set ?? this.groups.library?.listeners.set ?? this.#empty;
  }

  /** Outbound routes, likewise. */
  get routes(): ResourceSet {
    return this.groups.routes?.set ?? this.groups.library?.routes.set ?? this.#empty;
  }

  /** A builder threw when results were last looked at: the results before stay in force. */
  get failing(): boolean {
    const { clusters, assignments, passed, base, extensions, listeners, routes, library } = this.groups;
    if (library?.listeners.failing || library?.routes.failing) return true;
    if (passed?.clusters.failing || passed?.assignments.failing) return true;
    return clusters.failing || assignments.failing || base.failing || extensions.failing ||
      listeners?.failing === true || routes?.failing === true;
  }

  /** The virtual hosts that a route configuration gets by VHDS. */
  virtualHosts(routeConfiguration: string): ResourceSet {
    return this.groups.routes?.virtualHosts(routeConfiguration) ?? this.#empty;
  }
}

/** Ports of hosts that lost a conflict, and to which: each once, however many groups have it. */
export function distinctConflicts(groups: Iterable<OutboundListeners>): ListenerConflict[] {
  const lists = new Set<readonly ListenerConflict[]>();
  for (const group of groups) for (const list of group.conflicts()) lists.add(list);
  const found = new Map<string, ListenerConflict>();
  for (const list of lists) for (const conflict of list) found.set(JSON.stringify(conflict), conflict);
  return [...found.values()];
}
