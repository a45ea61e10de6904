/**
 * Sends a passed-through TLS connection to the cluster with the client's server name (SNI) as its name.
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { any } from "../../../pb/codec.ts";

/** Name of the filter. */
export const SNI_CLUSTER = "envoy.filters.network.sni_cluster";

/**
 * `envoy.filters.network.sni_cluster`. Belongs before the TCP proxy, and after a filter that refuses unexpected names:
 * the client's name may be the name of any cluster of the proxy.
 */
export function sniClusterFilter(): envoy.config.listener.v3.Filter {
  return { name: SNI_CLUSTER, typed_config: any("envoy.extensions.filters.network.sni_cluster.v3.SniCluster", {}) };
}
