/**
 * The resources that a connected proxy should have.
 *
 * @module
 */
import type { EncodedResource } from "../resource/encoded.ts";
import type { ResourceSet } from "../resource/set.ts";
import type { EncodedTable, EncodedTables } from "../simulate/decoded.ts";
import type { XdsConnection } from "../xds/connection.ts";
import type { ProxyView } from "../xds/protocol/source.ts";
import { ENDPOINTS, ROUTE, VIRTUAL_HOST } from "../xds/protocol/types.ts";

/**
 * The resources of a type that the proxy asks for, by name. Without a watch for the type: all resources visible to the
 * proxy, but no endpoints of a proxy that gets resources on demand.
 */
export function resourcesOf(connection: XdsConnection, typeUrl: string): EncodedResource[] {
  const { stream } = connection;
  const sets = stream?.view.shownSets?.(typeUrl) ?? stream?.view.resourceSets(typeUrl) ?? [];
  return byName(inSets(sets, askedBy(connection, typeUrl)).values());
}

/**
 * The proxy's resources in the simulator's form, including separate virtual hosts. A proxy that gets resources on demand
 * has all resources that requests may bring.
 */
export function tablesOf(connection: XdsConnection): EncodedTables {
  const { stream } = connection;
  const onDemand = stream?.view.onDemand;
  if (onDemand !== undefined) return tablesOfSets(onDemand);
  return tablesOfSets(stream?.view ?? NO_VIEW, (typeUrl) => askedBy(connection, typeUrl));
}

/** The separately sent virtual hosts of a route configuration. */
export function virtualHostsOf(connection: XdsConnection, routeConfiguration: string): EncodedResource[] {
  return byName((connection.stream?.view.virtualHosts(routeConfiguration) ?? []).flatMap((set) => [...set]));
}

/** The view of a connection without a view: no resources. */
const NO_VIEW: Pick<ProxyView, "resourceSets" | "virtualHosts"> = {
  resourceSets: () => undefined,
  virtualHosts: () => [],
};

type IsAsked = (name: string) => boolean;

/**
 * The resources of a view as tables. A resource is looked up by its name, because there may be tens of thousands.
 *
 * @param askedOf Chooses the names of a type. Default: all.
 */
export function tablesOfSets(
  view: Pick<ProxyView, "resourceSets" | "virtualHosts">,
  askedOf: (typeUrl: string) => IsAsked = () => () => true,
): EncodedTables {
  const ofType = (typeUrl: string) => setTable(() => view.resourceSets(typeUrl) ?? [], askedOf(typeUrl));
  return (typeUrl) => {
    if (typeUrl !== VIRTUAL_HOST) return ofType(typeUrl);
    return setTable(() => [...ofType(ROUTE).names()].flatMap((route) => view.virtualHosts(route)), () => true);
  };
}

/** Of a name in two sets the later set counts, as on the wire. */
function setTable(setsOf: () => readonly ResourceSet[], isAsked: IsAsked): EncodedTable {
  let found: readonly ResourceSet[] | undefined;
  const sets = () => found ??= setsOf();
  return {
    get: (name) => isAsked(name) ? sets().findLast((set) => set.has(name))?.get(name) : undefined,
    names: () => inSets(sets(), isAsked).keys(),
  };
}

function inSets(sets: readonly ResourceSet[], isAsked: IsAsked): Map<string, EncodedResource> {
  const found = new Map<string, EncodedResource>();
  for (const set of sets) {
    for (const resource of set) if (isAsked(resource.name)) found.set(resource.name, resource);
  }
  return found;
}

function askedBy({ stream }: XdsConnection, typeUrl: string): IsAsked {
  const watch = stream?.watches.get(typeUrl);
  // The proxy asks for the endpoints of its clusters. Without a called host, it may have no clusters.
  if (watch === undefined && typeUrl === ENDPOINTS && stream?.view.onDemand !== undefined) return () => false;
  return (name) => watch === undefined || watch.wildcard || watch.names.has(name);
}

function byName(resources: Iterable<EncodedResource>): EncodedResource[] {
  return [...resources].sort((a, b) => (a.name < b.name ? -1 : 1));
}
