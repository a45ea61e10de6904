/**
 * The TCP proxy, the last network filter of a chain without HTTP: carries bytes to a cluster.
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { any, encode } from "../../../pb/codec.ts";
import { joinedAny } from "../../../pb/joined_any.ts";
import { duration } from "../../../pb/wellknown.ts";
import { ADS } from "../on_demand.ts";
import type { DialledServer } from "../../../mesh/dialled_server.ts";
import type { Protocol } from "../../../registry/types.ts";

/** A destination and its share of connections. */
export interface WeightedCluster {
  readonly name: string;
  /** Relative to the sum over all; above 0. */
  readonly weight: number;
}

/** The plan of a TCP proxy. */
export interface TcpProxyPlan {
  readonly statPrefix: string;
  /** The protocol that the port declares. Absent: bytes. */
  readonly protocol?: Protocol;
  /** A single cluster gets all connections, several clusters get connections by weight. Never empty. */
  readonly clusters: readonly WeightedCluster[];
  /** ms without bytes. 0 turns the timeout off. Absent: Envoy's default, 1 h. */
  readonly idleTimeout?: number;
  /** Longest life of a connection, ms. Absent: no limit. */
  readonly maxConnectionDuration?: number;
  /** Same source address, same endpoint. */
  readonly hashSourceIp?: boolean;
  /** Resolve the server's name for each connection: the name in this property, or else the client's SNI. */
  readonly resolves?: DialledServer;
  /** The client's SNI is the name of the destination cluster. `clusters` serves other names. */
  readonly byServerName?: boolean;
  /** Write access logs also when a connection is made. */
  readonly logsConnected?: boolean;
  /** Ask for a missing cluster, while the connection waits. */
  readonly asksWithin?: number;
  /** Carry the connection inside an HTTP CONNECT (or POST) to `hostname`, a `host:port`. */
  readonly tunnel?: { readonly hostname: string; readonly post: boolean };
}

/** The message of a TCP proxy. */
export const TCP_PROXY = "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy";

/**
 * `envoy.filters.network.tcp_proxy`.
 *
 * @param shared Further encoded fields that other TCP proxies share.
 */
export function tcpProxyFilter(
  plan: TcpProxyPlan,
  accessLogs: readonly envoy.config.accesslog.v3.AccessLog[] = [],
  shared?: Uint8Array,
): envoy.config.listener.v3.Filter {
  const config: envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy = {
    stat_prefix: plan.statPrefix,
    ...specifier(plan.clusters),
    ...(plan.idleTimeout === undefined ? {} : { idle_timeout: duration(plan.idleTimeout) }),
    ...(plan.maxConnectionDuration === undefined
      ? {}
      : { max_downstream_connection_duration: duration(plan.maxConnectionDuration) }),
    ...(plan.hashSourceIp ? { hash_policy: [{ source_ip: {} }] } : {}),
    ...(plan.tunnel
      ? { tunneling_config: { hostname: plan.tunnel.hostname, ...(plan.tunnel.post ? { use_post: true } : {}) } }
      : {}),
    ...(plan.asksWithin !== undefined ? { on_demand: { odcds_config: ADS, timeout: duration(plan.asksWithin) } } : {}),
    ...(plan.logsConnected ? { access_log_options: { flush_access_log_on_connected: true } } : {}),
    ...(accessLogs.length > 0 ? { access_log: [...accessLogs] } : {}),
  };
  return {
    name: "envoy.filters.network.tcp_proxy",
    typed_config: shared ? joinedAny(TCP_PROXY, { shared, own: encode(TCP_PROXY, config) }) : any(TCP_PROXY, config),
  };
}

function specifier(
  clusters: readonly WeightedCluster[],
): Pick<envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, "cluster" | "weighted_clusters"> {
  const [only, second] = clusters;
  if (only !== undefined && second === undefined) return { cluster: only.name };
  return { weighted_clusters: { clusters: clusters.map((c) => ({ name: c.name, weight: c.weight })) } };
}
