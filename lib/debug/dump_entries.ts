/**
 * The resources of a single type that a proxy should have, with the fields of dumps for each.
 *
 * @module
 */
import type { EncodedResource } from "../resource/encoded.ts";
import { stackDigest } from "../xds/ads/set_stack.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { VIRTUAL_HOST } from "../xds/protocol/types.ts";
import { resourcesOf, virtualHostsOf } from "./resources.ts";
import { takesHostsApart } from "./routes_json.ts";

/** A resource in a dump. */
export interface DumpEntry {
  readonly resource: EncodedResource;
  /** For a delta client the version of the resource, for another client the version of the type. */
  readonly version: string;
  /** The proxy's words about its last rejection; absent: the proxy did not blame this resource. */
  readonly rejection?: string;
}

/** The version of a type as a whole; undefined: the client does not ask for the type. */
export function dumpVersion({ stream }: XdsConnection, typeUrl: string): string | undefined {
  const watch = stream?.watches.get(typeUrl);
  return watch === undefined ? undefined : stackDigest(watch.resources.want);
}

/** The resources by name. */
export function dumpEntries(connection: XdsConnection, typeUrl: string): DumpEntry[] {
  const client = connection.stream?.watches.get(typeUrl)?.resources;
  const blamed = new Set(client?.blamed);
  const whole = connection.delta ? undefined : dumpVersion(connection, typeUrl);
  return resourcesOf(connection, typeUrl).map((resource) => ({
    resource,
    version: whole ?? resource.version,
    ...(blamed.has(resource) ? { rejection: client?.lastError ?? "" } : {}),
  }));
}

/** The encoded virtual hosts of a route configuration that the proxy gets as separate resources. */
export function hostsApart(connection: XdsConnection, resource: EncodedResource): Uint8Array[] {
  return takesHostsApart(resource) ? virtualHostsOf(connection, resource.name).map(({ value }) => value) : [];
}

/** The version of a route configuration; for separate virtual hosts, the version of the virtual hosts. */
export function routeVersion(connection: XdsConnection, own: string, apart: readonly Uint8Array[]): string {
  return apart.length === 0 ? own : dumpVersion(connection, VIRTUAL_HOST) ?? own;
}
