/**
 * A route configuration as JSON. Virtual hosts are converted separately, because there may be thousands.
 *
 * @module
 */
import { LazyList, LazyObject } from "../http/json_stream.ts";
import type { envoy } from "../../proto/gen/types.ts";
import { anyJson, messageJson } from "../pb/json.ts";
import { decode } from "../pb/reflect.ts";
import type { EncodedMessage } from "../simulate/decoded.ts";
import { splitRoutes } from "../simulate/route_parts.ts";

type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;

const ROUTES = "envoy.config.route.v3.RouteConfiguration";
const HOST = "envoy.config.route.v3.VirtualHost";

/**
 * The JSON of an encoded route configuration.
 *
 * @param more Encoded virtual hosts of the configuration that are separate resources.
 */
export function routesJson({ typeUrl, value }: EncodedMessage, more: readonly Uint8Array[] = []): LazyObject {
  const { head, hosts } = splitRoutes(value);
  const all = [...hosts, ...more];
  const virtual_hosts = all.length > 0 ? LazyList.of(all, (host) => messageJson(HOST, host)) : undefined;
  return new LazyObject(Object.entries({ ...anyJson(typeUrl, head), virtual_hosts }));
}

/** Whether a proxy asks for the virtual hosts of an encoded route configuration one by one. */
export function takesHostsApart({ value }: EncodedMessage): boolean {
  return decode<RouteConfiguration>(ROUTES, splitRoutes(value).head).vhds !== undefined;
}
