/**
 * Where connections to unknown destinations go: to the dialled address, to an egress proxy, or nowhere.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { BLACK_HOLE, PASSTHROUGH } from "../cluster/static.ts";
import { tcpFilters } from "../filters/network/order.ts";
import { tcpProxyFilter, type TcpProxyPlan } from "../filters/network/tcp_proxy.ts";
import type { Reader } from "../reader/reader.ts";
import { routeTarget } from "../route/destination.ts";
import { accessLogs } from "../telemetry/access_logs.ts";

/** The filters for unknown destinations, by the outbound traffic policy of the scope. */
export function fallthroughFilters(read: Reader): envoy.config.listener.v3.Filter[] {
  const cluster = fallthroughCluster(read);
  const idleTimeout = read.property("idleTimeout");
  const plan: TcpProxyPlan = {
    statPrefix: cluster,
    clusters: [{ name: cluster, weight: 1 }],
    ...(idleTimeout > 0 ? { idleTimeout } : {}),
  };
  return tcpFilters(read, plan, accessLogs(read, "client", "tcp"), { side: "client", port: 0 });
}

/** The cluster for unknown destinations. */
function fallthroughCluster(read: Reader): string {
  const { mode, egressProxy } = read.outboundTrafficPolicy();
  if (mode !== "ALLOW_ANY") return BLACK_HOLE;
  if (egressProxy === undefined) return PASSTHROUGH;
  return routeTarget(read, egressProxy, 0).cluster;
}

/** A chain for connections to the capture port itself. Passing such connections on would loop endlessly. */
export function blackHoleFilter(): envoy.config.listener.v3.Filter {
  return tcpProxyFilter({ statPrefix: BLACK_HOLE, clusters: [{ name: BLACK_HOLE, weight: 1 }] });
}
