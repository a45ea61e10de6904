/**
 * The explicit HTTP proxy of a sidecar, through which applications with `http_proxy=127.0.0.1:<port>` reach the mesh.
 *
 * @module
 */
import { TrafficDirection } from "../../../../proto/gen/enums.ts";
import type { envoy } from "../../../../proto/gen/types.ts";
import { duration } from "../../../pb/wellknown.ts";
import type { Reader } from "../../reader/reader.ts";
import { HTTP_PROXY_ROUTES } from "../../route/placement.ts";
import { listenAddresses, listenerName, localhosts } from "../address.ts";
import { requestFilters } from "../http_connection_manager.ts";

/** The listener, on loopback; undefined when neither the proxy (`HTTP_PROXY_PORT`) nor the mesh names a port. */
export function httpProxyListener(read: Reader): envoy.config.listener.v3.Listener | undefined {
  const port = read.property("httpProxyPort");
  if (port === 0) return undefined;
  const binds = localhosts(read);
  const name = listenerName(binds[0] ?? "", port);
  const filters = requestFilters(read, {
    direction: "outbound",
    port,
    statPrefix: `outbound_${name}`,
    routes: HTTP_PROXY_ROUTES,
    allowAbsoluteUrl: true,
  });
  return {
    name,
    ...listenAddresses(binds, port),
    traffic_direction: TrafficDirection.OUTBOUND,
    ...(read.property("outboundExactBalance") ? { connection_balance_config: { exact_balance: {} } } : {}),
    listener_filters_timeout: duration(0),
    continue_on_listener_filters_timeout: true,
    filter_chains: [{ filters }],
  };
}
