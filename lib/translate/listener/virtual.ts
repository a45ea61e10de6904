/**
 * The listener to which outbound connections are redirected. The listener passes each connection to the listener of the
 * dialled address. Without such a listener, the outbound traffic policy decides.
 *
 * @module
 */
import { TrafficDirection } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { wrap } from "../../pb/wellknown.ts";
import type { Reader } from "../reader/reader.ts";
import { listenerAccessLogs } from "../telemetry/access_logs.ts";
import { ipMode } from "../service/ip_mode.ts";
import { listenAddresses, wildcards } from "./address.ts";
import { blackHoleFilter, fallthroughFilters } from "./fallthrough.ts";

/** Name of the listener. */
const VIRTUAL_OUTBOUND = "virtualOutbound";

/** The listener. Undefined for a proxy that captures nothing, or a mesh without a capture port. */
export function virtualOutboundListener(read: Reader): envoy.config.listener.v3.Listener | undefined {
  const mode = read.property("interceptionMode");
  const mesh = read.mesh();
  const port = mesh.proxyListenPort;
  if (mode === "NONE" || port === 0) return undefined;
  const logs = listenerAccessLogs(read, "client");
  return {
    name: VIRTUAL_OUTBOUND,
    ...listenAddresses(binds(read), port),
    traffic_direction: TrafficDirection.OUTBOUND,
    ...(mode === "TPROXY" ? { transparent: wrap(true) } : {}),
    use_original_dst: wrap(true),
    filter_chains: [
      {
        name: `${VIRTUAL_OUTBOUND}-blackhole`,
        filter_chain_match: { destination_port: wrap(port) },
        filters: [blackHoleFilter()],
      },
      { name: `${VIRTUAL_OUTBOUND}-catchall-tcp`, filters: fallthroughFilters(read) },
    ],
    ...connectionsPerEvent(read),
    ...(logs.length > 0 ? { access_log: logs } : {}),
  };
}

/**
 * An IPv6-only cluster may still dial external IPv4 addresses (by NAT64). By setting, these connections are captured,
 * too.
 */
function binds(read: Reader): readonly string[] {
  const own = wildcards(read);
  const ipv4Too = read.settings.enableIpv4OutboundListenerForIpv6Clusters && ipMode(read) === "ipv6";
  return ipv4Too ? [...own, "0.0.0.0"] : own;
}

/**
 * Limit of connections that a worker accepts before serving existing connections
 * (`MAX_CONNECTIONS_PER_SOCKET_EVENT_LOOP`).
 */
export function connectionsPerEvent(
  read: Reader,
): Pick<envoy.config.listener.v3.Listener, "max_connections_to_accept_per_socket_event"> {
  const limit = read.settings.maxConnectionsPerSocketEventLoop;
  return limit > 0 ? { max_connections_to_accept_per_socket_event: wrap(limit) } : {};
}
