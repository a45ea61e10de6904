/**
 * Sends a TLS connection that is passed on as it is to the cluster that has the name for which its client asks.
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { any } from "../../../pb/codec.ts";

/** Name of the filter. */
export const SNI_CLUSTER = "envoy.filters.network.sni_cluster";

/**
 * `envoy.filters.network.sni_cluster`. Stands before the TCP proxy, and after a filter that refuses all other names: a
 * client may ask for any cluster that the proxy has.
 */
export function sniClusterFilter(): envoy.config.listener.v3.Filter {
  return { name: SNI_CLUSTER, typed_config: any("envoy.extensions.filters.network.sni_cluster.v3.SniCluster", {}) };
}
