/**
 * Removes the header of the PROXY protocol from a connection. In the header, a load balancer reports the address of the
 * real client.
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { any } from "../../../pb/codec.ts";

/** `envoy.filters.listener.proxy_protocol`: versions 1 and 2; a connection without the header is closed. */
export function proxyProtocolFilter(): envoy.config.listener.v3.ListenerFilter {
  return {
    name: "envoy.filters.listener.proxy_protocol",
    typed_config: any("envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol"),
  };
}
