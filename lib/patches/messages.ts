/**
 * The messages of Envoy's API behind the targets of patches.
 *
 * @module
 */
import type { ApplyTo } from "../config/kinds/proxy_filter/schema.ts";

/** The messages that patches change or add. */
export const PATCHED_MESSAGE: { readonly [A in Exclude<ApplyTo, "INVALID">]: string } = {
  LISTENER: "envoy.config.listener.v3.Listener",
  LISTENER_FILTER: "envoy.config.listener.v3.ListenerFilter",
  FILTER_CHAIN: "envoy.config.listener.v3.FilterChain",
  NETWORK_FILTER: "envoy.config.listener.v3.Filter",
  HTTP_FILTER: "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter",
  ROUTE_CONFIGURATION: "envoy.config.route.v3.RouteConfiguration",
  VIRTUAL_HOST: "envoy.config.route.v3.VirtualHost",
  HTTP_ROUTE: "envoy.config.route.v3.Route",
  CLUSTER: "envoy.config.cluster.v3.Cluster",
  EXTENSION_CONFIG: "envoy.config.core.v3.TypedExtensionConfig",
  BOOTSTRAP: "envoy.config.bootstrap.v3.Bootstrap",
};
