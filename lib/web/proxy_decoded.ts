/**
 * The resources of a connected proxy as the pages take them: decoded when they are asked for.
 *
 * @module
 */
import { tablesOf } from "../debug/resources.ts";
import { resourcesIn } from "../simulate/decoded.ts";
import { type RouteParts, routeParts } from "../simulate/route_parts.ts";
import type { ProxyResources } from "../simulate/types.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { ROUTE } from "../xds/protocol/types.ts";

/** The resources of a proxy, and its route configurations in parts. */
export interface DecodedProxy {
  readonly resources: ProxyResources;
  /** A route configuration by its name. */
  routes(name: string): RouteParts | undefined;
}

/** All that it should have. */
export function decodedProxy(connection: XdsConnection): DecodedProxy {
  const tables = tablesOf(connection);
  const routes = tables(ROUTE);
  const parts = (name: string) => {
    const encoded = routes.get(name);
    return encoded === undefined ? undefined : routeParts(encoded.value);
  };
  return { resources: resourcesIn(tables), routes: parts };
}
