/**
 * The resources of a connected proxy, encoded, and as the simulator takes them: decoded when they are asked for.
 *
 * @module
 */
import { askedResources, virtualHostsOf } from "../debug/resources.ts";
import type { EncodedResource } from "../resource/encoded.ts";
import { resourcesFrom } from "../simulate/decoded.ts";
import { type RouteParts, routeParts } from "../simulate/route_parts.ts";
import type { ProxyResources } from "../simulate/types.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE } from "../xds/protocol/types.ts";

/** The resources of a proxy, its route configurations in parts. */
export interface DecodedProxy {
  /** Without routes. */
  readonly resources: ProxyResources;
  /** A route configuration by its name. */
  routes(name: string): RouteParts | undefined;
}

/** All that it should have, encoded; virtual hosts that come one by one too. */
export function encodedProxy(connection: XdsConnection): EncodedResource[] {
  const routes = [...askedResources(connection, ROUTE)];
  const others = [LISTENER, CLUSTER, ENDPOINTS].flatMap((typeUrl) => [...askedResources(connection, typeUrl)]);
  return [...routes, ...others, ...routes.flatMap(({ name }) => virtualHostsOf(connection, name))];
}

/** All that it should have. */
export function decodedProxy(connection: XdsConnection): DecodedProxy {
  const all = encodedProxy(connection);
  const routes = new Map(all.filter(({ typeUrl }) => typeUrl === ROUTE).map((one) => [one.name, one]));
  const resources = resourcesFrom(all.filter(({ typeUrl }) => typeUrl !== ROUTE));
  return { resources, routes: (name) => parts(routes.get(name)) };
}

function parts(encoded: EncodedResource | undefined): RouteParts | undefined {
  return encoded === undefined ? undefined : routeParts(encoded.value);
}
