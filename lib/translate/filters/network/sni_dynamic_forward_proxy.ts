/**
 * Resolves the server name of a TLS connection that is passed on as it is, for services with dynamic DNS. (Requests
 * need no such filter: the router waits for the lookup of the cluster, a TCP proxy resets the connection instead.)
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { any } from "../../../pb/codec.ts";
import { dynamicDnsCache } from "../../cluster/dns.ts";
import type { Reader } from "../../reader/reader.ts";

/**
 * `envoy.filters.network.sni_dynamic_forward_proxy`, with the cache that the clusters share. Stands before the TCP proxy.
 *
 * @param port The port to dial at the address found.
 */
export function sniDynamicForwardProxyFilter(read: Reader, port: number): envoy.config.listener.v3.Filter {
  return {
    name: "envoy.filters.network.sni_dynamic_forward_proxy",
    typed_config: any("envoy.extensions.filters.network.sni_dynamic_forward_proxy.v3.FilterConfig", {
      dns_cache_config: dynamicDnsCache(read),
      port_value: port,
    }),
  };
}
