/**
 * Resolves the server of a passed-through connection, for services with dynamic DNS: the name in the rule, or else the
 * client's server name (SNI). (HTTP needs no such filter: the router waits for the cluster's lookup, but a TCP proxy
 * resets the connection.)
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { any } from "../../../pb/codec.ts";
import { dynamicDnsCache } from "../../cluster/dns.ts";
import type { Reader } from "../../reader/reader.ts";
import type { DialledServer } from "../../../mesh/dialled_server.ts";
import { hasExtension } from "../extension.ts";

/** Key of the filter state with the host. The filter and the cluster prefer this host to the server name. */
const HOST_STATE = "envoy.upstream.dynamic_host";

/**
 * The filters that resolve, placed before the TCP proxy, with the DNS cache of the clusters. Empty if the proxy's build
 * lacks a filter: connections are then reset.
 */
export function resolvingFilters(read: Reader, { host, port }: DialledServer): envoy.config.listener.v3.Filter[] {
  const filters: envoy.config.listener.v3.Filter[] = [
    ...host === undefined ? [] : [namingFilter(host)],
    {
      name: "envoy.filters.network.sni_dynamic_forward_proxy",
      typed_config: any("envoy.extensions.filters.network.sni_dynamic_forward_proxy.v3.FilterConfig", {
        dns_cache_config: dynamicDnsCache(read),
        port_value: port,
      }),
    },
  ];
  return filters.every(({ name = "" }) => hasExtension(read, name)) ? filters : [];
}

function namingFilter(host: string): envoy.config.listener.v3.Filter {
  const config: envoy.extensions.filters.network.set_filter_state.v3.Config = {
    on_new_connection: [{
      object_key: HOST_STATE,
      format_string: { text_format_source: { inline_string: host.replaceAll("%", "%%") } },
    }],
  };
  return {
    name: "envoy.filters.network.set_filter_state",
    typed_config: any("envoy.extensions.filters.network.set_filter_state.v3.Config", config),
  };
}
