/**
 * Databases whose protocol a proxy understands.
 *
 * @module
 */
import type { Protocol } from "../../registry/types.ts";
import type { Reader } from "../reader/reader.ts";
import { hasExtension, listsExtension } from "./extension.ts";

/** Name of the filter for MongoDB. */
export const MONGO = "envoy.filters.network.mongo_proxy";
/** Name of the filter for MySQL. */
export const MYSQL = "envoy.filters.network.mysql_proxy";
/** Name of the filter for Redis. */
export const REDIS = "envoy.filters.network.redis_proxy";

/** Whether the proxy understands the protocol, instead of only carrying bytes. */
export function isUnderstood(read: Reader, protocol: Protocol | undefined): boolean {
  if (protocol === undefined || !read.settings.databases.includes(protocol)) return false;
  if (protocol === "Mongo") return hasExtension(read, MONGO);
  // Stock Envoy lacks the MySQL filter, so the proxy must list the filter.
  return protocol === "MySQL" ? listsExtension(read, MYSQL) : hasExtension(read, REDIS);
}
