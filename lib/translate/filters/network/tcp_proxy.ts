/**
 * The TCP proxy, the last network filter of a chain without HTTP: carries bytes to a cluster.
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { any, encode } from "../../../pb/codec.ts";
import { joinedAny } from "../../../pb/joined_any.ts";
import { duration } from "../../../pb/wellknown.ts";
import type { DialledServer } from "../../../mesh/dialled_server.ts";
import type { Protocol } from "../../../registry/types.ts";

/** A destination and its share of connections. */
export interface WeightedCluster {
  readonly name: string;
  /** Relative to the sum over all; above 0. */
  readonly weight: number;
}

/** The plan of one TCP proxy: small plain data. */
export interface TcpProxyPlan {
  readonly statPrefix: string;
  /** The protocol that the port declares; absent: bytes. */
  readonly protocol?: Protocol;
  /** One: everything goes there. Several: by weight. Never empty. */
  readonly clusters: readonly WeightedCluster[];
  /** ms without bytes; 0 turns the timeout off; absent: Envoy's 1 h. */
  readonly idleTimeout?: number;
  /** ms a connection may live; absent: no limit. */
  readonly maxConnectionDuration?: number;
  /** Same source address, same endpoint. */
  readonly hashSourceIp?: boolean;
  /** The name of the server is resolved for each connection: the name that this says, or that the client's TLS names. */
  readonly resolves?: DialledServer;
  /** The destination is the cluster that has the name for which the client's TLS asks; `clusters` is where none has. */
  readonly byServerName?: boolean;
  /** Access logs are written when a connection is made, too. */
  readonly logsConnected?: boolean;
  /** Carry the connection inside an HTTP CONNECT (or POST) to this `host:port`. */
  readonly tunnel?: { readonly hostname: string; readonly post: boolean };
}

/** The message of a TCP proxy. */
export const TCP_PROXY = "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy";

/**
 * `envoy.filters.network.tcp_proxy`.
 *
 * @param shared Further fields, encoded, that other TCP proxies have as well.
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
