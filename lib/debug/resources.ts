/**
 * The resources that one connected proxy should have.
 *
 * @module
 */
import type { EncodedResource } from "../resource/encoded.ts";
import type { XdsConnection } from "../xds/connection.ts";

/** Those of a type that it asks for, by name. Of a type that it does not watch: all that it may see. */
export function resourcesOf(connection: XdsConnection, typeUrl: string): EncodedResource[] {
  return byName(askedResources(connection, typeUrl));
}

/** The same in no particular order: sorting thousands of names takes longer than finding them. */
export function askedResources(connection: XdsConnection, typeUrl: string): Iterable<EncodedResource> {
  const { stream } = connection;
  const watch = stream?.watches.get(typeUrl);
  const isAsked = (name: string) => watch === undefined || watch.wildcard || watch.names.has(name);
  const found = new Map<string, EncodedResource>();
  for (const set of stream?.view.resourceSets(typeUrl) ?? []) {
    for (const resource of set) if (isAsked(resource.name)) found.set(resource.name, resource);
  }
  return found.values();
}

/** The virtual hosts that a route configuration gets one by one. */
export function virtualHostsOf(connection: XdsConnection, routeConfiguration: string): EncodedResource[] {
  return byName((connection.stream?.view.virtualHosts(routeConfiguration) ?? []).flatMap((set) => [...set]));
}

function byName(resources: Iterable<EncodedResource>): EncodedResource[] {
  return [...resources].sort((a, b) => (a.name < b.name ? -1 : 1));
}
