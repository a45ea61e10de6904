/**
 * Filters for the protocols of databases, on ports that declare a database protocol.
 *
 * MongoDB and MySQL: statistics before the TCP proxy, on both sides. Redis: each request goes to the endpoint with the
 * request's key, so the filter replaces the TCP proxy, on the client's side and if the cluster has endpoints. (Istio's
 * settings: PILOT_ENABLE_MONGO_FILTER, PILOT_ENABLE_MYSQL_FILTER, PILOT_ENABLE_REDIS_FILTER.)
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

/** Time limit of a Redis command, ms (Istio's value). */
const REDIS_TIMEOUT = 5000;

/** Filters before the TCP proxy, or a filter instead. */
export interface DatabaseFilters {
  readonly before: readonly Filter[];
  readonly instead?: Filter;
}

const NONE: DatabaseFilters = { before: [] };

/** The database filters of a chain that carries bytes. */
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
    // All keys are on the endpoints of one cluster. Of weighted clusters, the first counts.
    prefix_routes: { catch_all_route: { cluster: clusters[0]?.name ?? "" } },
  });
  return { before: [], instead: { name: REDIS, typed_config: config } };
}
