/**
 * Resolves the server of a connection that is passed on as it is, for services with dynamic DNS: the name that the rule
 * says, or else the server name of the client's TLS. (Requests need no such filter: the router waits for the lookup of the
 * cluster, a TCP proxy resets the connection instead.)
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { any } from "../../../pb/codec.ts";
import { dynamicDnsCache } from "../../cluster/dns.ts";
import type { Reader } from "../../reader/reader.ts";
import type { DialledServer } from "../../../mesh/dialled_server.ts";
import { hasExtension } from "../extension.ts";

/** Key of the filter state in which both the filter and the cluster look for the host before they take the server name. */
const HOST_STATE = "envoy.upstream.dynamic_host";

/**
 * The filters that resolve, with the cache that the clusters share. They stand before the TCP proxy. None where the proxy
 * lacks one of them: connections are then reset.
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
