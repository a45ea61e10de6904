/**
 * Limits of connections to a cluster: circuit breakers, timeouts, keepalive.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { ConnectionPoolSettings, TcpKeepalive } from "../../config/kinds/common/schema.ts";
import type { RetryBudget } from "../../config/kinds/destination_rule/internal.ts";
import type { MeshConfig } from "../../config/mesh/types.ts";
import { duration, wrap } from "../../pb/wellknown.ts";

type Cluster = envoy.config.cluster.v3.Cluster;

/** "No limit" for Envoy. Envoy's own defaults (1024 connections and requests, 3 retries) surprise users. */
export const UNLIMITED = 0xffff_ffff;

/**
 * The pool fields of a cluster: `connect_timeout`, `circuit_breakers` and, where set, `upstream_connection_options`.
 *
 * @param retryBudget Takes the place of the pool's `maxRetries`. Absent: there is none.
 */
export function connectionPool(
  mesh: MeshConfig,
  pool: ConnectionPoolSettings | undefined,
  retryBudget?: RetryBudget,
): Cluster {
  const tcp = pool?.tcp;
  const http = pool?.http;
  const keepalive = tcpKeepalive(mesh.tcpKeepalive, tcp?.tcpKeepalive);
  return {
    connect_timeout: duration(tcp?.connectTimeout ?? mesh.connectTimeout),
    circuit_breakers: {
      thresholds: [{
        max_connections: wrap(tcp?.maxConnections ?? UNLIMITED),
        max_pending_requests: wrap(http?.http1MaxPendingRequests ?? UNLIMITED),
        max_requests: wrap(http?.http2MaxRequests ?? UNLIMITED),
        ...(retryBudget ? budget(retryBudget) : { max_retries: wrap(http?.maxRetries ?? UNLIMITED) }),
        track_remaining: true,
      }],
    },
    ...(keepalive && { upstream_connection_options: { tcp_keepalive: keepalive } }),
  };
}

/** Envoy ignores `max_retries` beside a budget. */
function budget({ percent, interval, least }: RetryBudget): envoy.config.cluster.v3.CircuitBreakers.Thresholds {
  return {
    retry_budget: {
      budget_percent: { value: percent },
      budget_interval: duration(interval),
      min_retry_concurrency: wrap(least),
    },
  };
}

/** The mesh's keepalive, with each value replaced by the pool's value if set. An empty message turns keepalive on. */
function tcpKeepalive(
  mesh: TcpKeepalive | undefined,
  own: TcpKeepalive | undefined,
): envoy.config.core.v3.TcpKeepalive | undefined {
  if (mesh === undefined && own === undefined) return undefined;
  const { probes, time, interval } = { ...mesh, ...own };
  return {
    ...(probes !== undefined && { keepalive_probes: wrap(probes) }),
    ...(time !== undefined && { keepalive_time: wrap(wholeSeconds(time)) }),
    ...(interval !== undefined && { keepalive_interval: wrap(wholeSeconds(interval)) }),
  };
}

/** The socket options count whole seconds. A fraction is rounded up, because 0 would have another meaning. */
function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

/** HTTP limits that belong in `common_http_protocol_options`. Undefined when the user set no limit. */
export function commonHttpOptions(
  pool: ConnectionPoolSettings | undefined,
): envoy.config.core.v3.HttpProtocolOptions | undefined {
  const idleTimeout = pool?.http?.idleTimeout ?? pool?.tcp?.idleTimeout;
  const maxRequests = pool?.http?.maxRequestsPerConnection;
  const maxDuration = pool?.tcp?.maxConnectionDuration;
  if (idleTimeout === undefined && maxRequests === undefined && maxDuration === undefined) return undefined;
  return {
    ...(idleTimeout !== undefined && { idle_timeout: duration(idleTimeout) }),
    ...(maxDuration !== undefined && { max_connection_duration: duration(maxDuration) }),
    ...(maxRequests !== undefined && { max_requests_per_connection: wrap(maxRequests) }),
  };
}
