/**
 * The listeners and routes of a waypoint, from the services behind it. Replicas of a waypoint share the results.
 *
 *     services ─┬─> chains of each service, by the policies of the service ──> listeners
 *               └─> routes of each service
 *     workloads ──> routes by their addresses; the listeners behind these routes have the policies of the waypoint
 *
 * @module
 */
import type { Service } from "../../../registry/types.ts";
import type { EncodedResource } from "../../../resource/encoded.ts";
import type { ResourceSet } from "../../../resource/set.ts";
import { isEastWestPart } from "../../../registry/labels.ts";
import { serviceKey } from "../../../registry/types.ts";
import type { Caches } from "../cache/caches.ts";
import type { TranslationResult } from "../cache/translation_cache.ts";
import type { TranslationNote } from "../../message/notes.ts";
import type { ScopeReader } from "../../reader/scope_reader.ts";
import { serviceRole, waypointName } from "../../reader/waypoint_role.ts";
import type { ServiceChains } from "../../waypoint/chains.ts";
import type { InboundSets } from "../results/sets.ts";
import { type PerProxyResources, replaced, type RoleResults } from "./resources.ts";

/** Resources of a waypoint without a service, and the values that they were made from. */
interface OwnSets extends InboundSets {
  readonly from: readonly [listeners: InboundSets, direct: InboundSets, routes: readonly EncodedResource[]];
}

/** The results of a service. */
interface ServiceResults extends RoleResults {
  readonly chains: ServiceChains;
  readonly routes: readonly EncodedResource[];
}

/** Listeners and routes of a waypoint. */
export class WaypointResources implements PerProxyResources {
  readonly routes: ResourceSet;
  readonly results: readonly TranslationResult<unknown>[];
  readonly roles: readonly ServiceResults[];
  readonly #own: OwnSets;
  readonly #services: ReadonlyMap<string, ServiceResults>;
  /** The resources of {@linkcode WaypointResources.routes}. */
  readonly #all: ReadonlySet<EncodedResource>;

  /** @param before The former resources: they stay in force where a builder threw. */
  constructor(caches: Caches, source: ScopeReader, before: WaypointResources | undefined) {
    const name = waypointName(source.properties);
    const waypoint = source.mesh.waypoint(name);
    const isForwarding = source.settings.multiNetwork && isEastWestPart(source.properties.labels);
    const role = (service: Service) => source.as(serviceRole(source.properties, waypoint, service));
    const known = before === undefined ? undefined : before.#services;
    const services = (isForwarding ? [] : waypoint.services).map((service) => {
      const key = serviceKey(service);
      return [key, resultsOf(caches, role(service), service, known?.get(key))] as const;
    });
    this.#services = new Map(services);
    this.roles = services.map(([, results]) => results);
    const listeners = caches.of.waypointListeners.get(name, source, this.roles.map(({ chains }) => chains));
    const direct = caches.of.waypointDirect.get(name, source, undefined);
    const routes = caches.of.waypointTunnelRoutes.get(name, source, undefined);
    this.results = [listeners, direct, routes];
    // The listeners need the routes, and the routes the clusters.
    const isPartial = this.results.some(({ failed }) => failed);
    const from = [listeners.value, direct.value, routes.value] as const;
    const own = before === undefined ? undefined : before.#own;
    const isSame = isPartial || own?.from.every((one, at) => one === from[at]);
    this.#own = own !== undefined && isSame ? own : { ...joined(listeners.value, direct.value), from };
    this.#all = new Set([...this.#own.from[2], ...this.roles.flatMap((role) => role.routes)]);
    // Of hundreds of services, one differs.
    this.routes = before === undefined
      ? caches.empty.with([...this.#all])
      : moved(before.routes, before.#all, this.#all);
  }

  get clusters(): ResourceSet {
    return this.#own.clusters;
  }

  get listeners(): ResourceSet {
    return this.#own.listeners;
  }

  get secrets(): ResourceSet {
    return this.#own.secrets;
  }

  get failing(): boolean {
    return [...this.results, ...this.roles.flatMap(({ results }) => results)].some(({ failed }) => failed === true);
  }

  /** Route configurations of waypoints are whole. */
  virtualHosts(_routeConfiguration: string): undefined {
    return undefined;
  }

  *notes(): Iterable<TranslationNote> {
    for (const { notes } of [...this.results, ...this.roles.flatMap(({ results }) => results)]) yield* notes ?? [];
  }
}

function namesOf(resources: ReadonlySet<EncodedResource>): ReadonlySet<string> {
  return new Set([...resources].map(({ name }) => name));
}

/** A set after some of its resources have been replaced. */
function moved(
  set: ResourceSet,
  before: ReadonlySet<EncodedResource>,
  now: ReadonlySet<EncodedResource>,
): ResourceSet {
  const [names, former] = [namesOf(now), namesOf(before)];
  // Services of one host in two namespaces: of a name the last resource counts.
  if (names.size < now.size || former.size < before.size) return replaced(set, [...now]);
  const came = [...now.difference(before)];
  const gone = [...former.difference(names)];
  return came.length + gone.length === 0 ? set : set.with(came, gone);
}

function joined(a: InboundSets, b: InboundSets): InboundSets {
  const of = (name: keyof InboundSets) => b[name].list.length === 0 ? a[name] : a[name].with([...b[name]]);
  return { clusters: of("clusters"), listeners: of("listeners"), secrets: of("secrets") };
}

function resultsOf(
  caches: Caches,
  role: ScopeReader,
  service: Service,
  before: ServiceResults | undefined,
): ServiceResults {
  const key = serviceKey(service);
  const chains = caches.of.waypointChains.get(key, role, service);
  const routes = caches.of.waypointRoutes.get(key, role, service);
  return {
    properties: role.properties,
    results: [chains, routes],
    chains: chains.failed && before ? before.chains : chains.value,
    routes: routes.failed && before ? before.routes : routes.value,
  };
}
