/**
 * A listener around a route configuration, so Envoy can check the route configuration.
 *
 * @module
 */
import { any } from "../../../lib/pb/codec.ts";
import { wrap } from "../../../lib/pb/wellknown.ts";
import type { envoy } from "../../../proto/gen/types.ts";

const HTTP = "envoy.extensions.filters.http";

/** The filters with per-route configuration, and the router. */
const filters = [
  ["envoy.filters.http.fault", `${HTTP}.fault.v3.HTTPFault`],
  ["envoy.filters.http.cors", `${HTTP}.cors.v3.Cors`],
  ["envoy.filters.http.stateful_session", `${HTTP}.stateful_session.v3.StatefulSession`],
  ["envoy.filters.http.router", `${HTTP}.router.v3.Router`],
] as const;

/** A listener with the routes, at a Unix socket, or at a port without binding. */
export function routeListener(
  routes: envoy.config.route.v3.RouteConfiguration,
  at: number | string,
): envoy.config.listener.v3.Listener {
  const manager = {
    stat_prefix: "test",
    route_config: routes,
    http_filters: filters.map(([name, type]) => ({ name, typed_config: any(type) })),
  };
  return {
    name: `${at}`,
    ...(typeof at === "string" ? { address: { pipe: { path: at } } } : {
      address: { socket_address: { address: "127.0.0.1", port_value: 20_000 + at } },
      bind_to_port: wrap(false),
    }),
    filter_chains: [{
      filters: [{
        name: "envoy.filters.network.http_connection_manager",
        typed_config: any(
          "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
          manager,
        ),
      }],
    }],
  };
}
