/**
 * The resources of a connected proxy as the simulator takes them: decoded when they are asked for.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { askedResources, virtualHostsOf } from "../debug/resources.ts";
import type { EncodedResource } from "../resource/encoded.ts";
import { resourcesFrom } from "../simulate/decoded.ts";
import type { ProxyResources } from "../simulate/types.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE } from "../xds/protocol/types.ts";
import { type RouteParts, routeParts } from "./route_parts.ts";

/** The resources of a proxy, its route configurations in parts. */
export interface DecodedProxy {
  /** Without routes. */
  readonly resources: ProxyResources;
  /** A route configuration by its name. */
  routes(name: string): RouteParts | undefined;
}

/** All that it should have. */
export function decodedProxy(connection: XdsConnection): DecodedProxy {
  const routes = new Map([...askedResources(connection, ROUTE)].map((one) => [one.name, one]));
  const others = [LISTENER, CLUSTER, ENDPOINTS].flatMap((typeUrl) => [...askedResources(connection, typeUrl)]);
  const hosts = [...routes.keys()].flatMap((name) => virtualHostsOf(connection, name));
  return { resources: resourcesFrom([...others, ...hosts]), routes: (name) => parts(routes.get(name)) };
}

function parts(encoded: EncodedResource | undefined): RouteParts | undefined {
  return encoded === undefined ? undefined : routeParts(encoded.value);
}

/**
 * What a request to one host may meet: of its route configurations the virtual hosts alone that may match. The others
 * have exact domains of other hosts.
 *
 * @param host as the client names it, with or without port
 */
export function resourcesForHost({ resources, routes }: DecodedProxy, host: string): ProxyResources {
  const lower = host.toLowerCase();
  const names = new Set([lower, lower.replace(/:\d+$/, "")]);
  const mayMatch = (domain: string) => {
    const name = domain.toLowerCase();
    return domain.includes("*") || names.has(name) || names.has(name.replace(/:\d+$/, ""));
  };
  return { ...resources, routes: new MatchingRoutes(routes, ({ domains }) => domains.some(mayMatch)) };
}

/** Route configurations with those of their virtual hosts that may match; each is decoded when it is asked for. */
class MatchingRoutes extends Map<string, envoy.config.route.v3.RouteConfiguration> {
  readonly #routes: DecodedProxy["routes"];
  readonly #mayMatch: (host: { readonly domains: readonly string[] }) => boolean;

  constructor(routes: DecodedProxy["routes"], mayMatch: (host: { readonly domains: readonly string[] }) => boolean) {
    super();
    this.#routes = routes;
    this.#mayMatch = mayMatch;
  }

  override get(name: string): envoy.config.route.v3.RouteConfiguration | undefined {
    const found = this.#routes(name);
    if (found === undefined) return undefined;
    return { ...found.head, virtual_hosts: found.hosts.filter(this.#mayMatch).map((host) => host.message()) };
  }
}
