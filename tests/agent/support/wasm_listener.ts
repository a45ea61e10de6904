/**
 * A listener with a filter whose configuration comes by ECDS.
 * @module
 */
import { any, encode } from "../../../lib/pb/codec.ts";

const PREFIX = "type.googleapis.com/";
/** Type of listeners. */
export const LISTENER = PREFIX + "envoy.config.listener.v3.Listener";
/** Type of clusters. */
export const CLUSTER = PREFIX + "envoy.config.cluster.v3.Cluster";
const FILTERS = ["wasm.v3.Wasm", "rbac.v3.RBAC"].map((name) => `${PREFIX}envoy.extensions.filters.http.${name}`);

/**
 * A listener whose requests pass a filter from ECDS, and are then answered with 200.
 *
 * @param port default: any
 */
export function listenerWithFilter(name: string, port = 0): Uint8Array {
  const manager = {
    stat_prefix: name,
    http_filters: [
      {
        name,
        config_discovery: {
          config_source: { ads: {}, resource_api_version: 2, initial_fetch_timeout: { seconds: 60 } },
          type_urls: FILTERS,
        },
      },
      { name: "router", typed_config: any("envoy.extensions.filters.http.router.v3.Router", {}) },
    ],
    route_config: {
      name,
      virtual_hosts: [{
        name,
        domains: ["*"],
        routes: [{ match: { prefix: "/" }, direct_response: { status: 200 } }],
      }],
    },
  } as const;
  const address = { socket_address: { address: "127.0.0.1", port_value: port } };
  const filter = {
    name: "http",
    typed_config: any("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", manager),
  };
  return encode("envoy.config.listener.v3.Listener", { name, address, filter_chains: [{ filters: [filter] }] });
}
