/**
 * How proxies ask for virtual hosts and clusters while a request or a connection waits, and for how long.
 *
 * Envoy has a limit for the wait for a cluster, and none for the wait for a virtual host. The limit of a stream's life
 * takes its place: Envoy begins to count when a request begins, and stops when the request has a route whose own limit
 * is 0. A request that has no route yet is answered at the end of the time.
 *
 * @module
 */
import { ApiVersion } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { any } from "../../pb/codec.ts";
import { duration, wrap } from "../../pb/wellknown.ts";
import type { Built } from "../message/built.ts";
import type { PatchedBareRoutes } from "../patches/routes.ts";
import type { Reader } from "../reader/reader.ts";
import { hasExtension } from "./extension.ts";

type HttpConnectionManager = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;
type VirtualHost = envoy.config.route.v3.VirtualHost;
type Route = envoy.config.route.v3.Route;

/** Clusters come on the stream of all other resources. */
export const ADS: envoy.config.core.v3.ConfigSource = { ads: {}, resource_api_version: ApiVersion.V3 };

const CEL_FILTER = "envoy.access_loggers.extension_filters.cel";

/** Envoy's words in access logs for a request that has reached the limit of a stream's life. */
const LATE = "max_duration_timeout";

/** Status of a request to a closed port. */
const UNAVAILABLE = 503;

/**
 * The answer to a request that waits for its virtual host for too long. No other request of such a proxy reaches the
 * limit. Without the extension for expressions, Envoy answers 504 in its own words.
 */
export function answersLate(read: Reader): Pick<HttpConnectionManager, "local_reply_config"> {
  if (!hasExtension(read, CEL_FILTER)) return {};
  const time = read.settings.askTimeoutMs;
  const expression = { expression: `response.code_details == "${LATE}"` };
  const typed_config = any("envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter", expression);
  return {
    local_reply_config: {
      mappers: [{
        filter: { extension_filter: { name: CEL_FILTER, typed_config } },
        status_code: wrap(UNAVAILABLE),
        body: { inline_string: `no configuration for this host within ${time} ms: the control plane does not answer` },
      }],
    },
  };
}

/** A virtual host whose requests have no limit of life, but for limits that its routes have. */
export function withoutLimit(host: VirtualHost): VirtualHost {
  const { routes } = host;
  return routes === undefined ? host : { ...host, routes: routes.map(unlimited) };
}

function unlimited(one: Route): Route {
  const { route } = one;
  if (route === undefined || route.max_stream_duration?.max_stream_duration !== undefined) return one;
  const own = { ...route.max_stream_duration, max_stream_duration: duration(0) };
  return { ...one, route: { ...route, max_stream_duration: own } };
}

/** {@linkcode withoutLimit} for a built virtual host. */
export function builtWithoutLimit(built: Built<VirtualHost>): Built<VirtualHost> {
  return { ...built, message: withoutLimit(built.message) };
}

/** {@linkcode withoutLimit} for all virtual hosts of a route configuration. */
export function routesWithoutLimit({ built, added, catchAll }: PatchedBareRoutes): PatchedBareRoutes {
  const hosts = built.message.virtual_hosts?.map(withoutLimit);
  return {
    built: hosts === undefined ? built : { ...built, message: { ...built.message, virtual_hosts: hosts } },
    added: added.map(builtWithoutLimit),
    ...(catchAll ? { catchAll: withoutLimit(catchAll) } : {}),
  };
}
