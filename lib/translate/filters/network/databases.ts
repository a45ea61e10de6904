/**
 * Filters that understand the protocols of databases, on ports that declare them.
 *
 * MongoDB and MySQL: statistics in front of the TCP proxy, at both sides. Redis: requests go to the endpoint that has their
 * key, so the filter stands in for the TCP proxy, at the client's side and where the cluster has endpoints. (Istio's:
 * PILOT_ENABLE_MONGO_FILTER, PILOT_ENABLE_MYSQL_FILTER, PILOT_ENABLE_REDIS_FILTER.)
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { any } from "../../../pb/codec.ts";
import { duration } from "../../../pb/wellknown.ts";
import type { Reader } from "../../reader/reader.ts";
import { isUnderstood, MONGO, MYSQL, REDIS } from "../understood.ts";
import type { TcpProxyPlan } from "./tcp_proxy.ts";

type Filter = envoy.config.listener.v3.Filter;

/** How long a command of Redis may take, milliseconds; Istio's. */
const REDIS_TIMEOUT = 5000;

/** Filters in front of the TCP proxy, or one in its place. */
export interface DatabaseFilters {
  readonly before: readonly Filter[];
  readonly instead?: Filter;
}

const NONE: DatabaseFilters = { before: [] };

/** The filters of a chain that carries bytes. */
export function databaseFilters(read: Reader, { protocol, statPrefix, clusters }: TcpProxyPlan): DatabaseFilters {
  if (!isUnderstood(read, protocol)) return NONE;
  const stat_prefix = statPrefix;
  if (protocol === "Mongo") {
    const config = any("envoy.extensions.filters.network.mongo_proxy.v3.MongoProxy", { stat_prefix });
    return { before: [{ name: MONGO, typed_config: config }] };
  }
  if (protocol === "MySQL") {
    const config = any("envoy.extensions.filters.network.mysql_proxy.v3.MySQLProxy", { stat_prefix });
    return { before: [{ name: MYSQL, typed_config: config }] };
  }
  const config = any("envoy.extensions.filters.network.redis_proxy.v3.RedisProxy", {
    stat_prefix,
    latency_in_micros: true,
    settings: { op_timeout: duration(REDIS_TIMEOUT) },
    // Keys lie on the endpoints of one cluster: of weighted ones the first counts.
    prefix_routes: { catch_all_route: { cluster: clusters[0]?.name ?? "" } },
  });
  return { before: [], instead: { name: REDIS, typed_config: config } };
}
