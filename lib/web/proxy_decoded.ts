/**
 * The resources of a connected proxy as the simulator takes them: decoded when they are asked for.
 *
 * @module
 */
import { resourcesOf, virtualHostsOf } from "../debug/resources.ts";
import { resourcesFrom } from "../simulate/decoded.ts";
import type { ProxyResources } from "../simulate/types.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE } from "../xds/protocol/types.ts";

/** All that it should have. */
export function decodedResources(connection: XdsConnection): ProxyResources {
  const routes = resourcesOf(connection, ROUTE);
  const others = [LISTENER, CLUSTER, ENDPOINTS].flatMap((typeUrl) => resourcesOf(connection, typeUrl));
  return resourcesFrom([...others, ...routes, ...routes.flatMap(({ name }) => virtualHostsOf(connection, name))]);
}
