/**
 * Listeners of gRPC libraries on the client's side: one per dialled name of a service's port.
 *
 *     xds:///reviews:9080 -> listener reviews:9080 -> routes outbound|9080||reviews.default.svc.cluster.local
 *
 * A library compares only the name, so each name is a separate resource.
 *
 * Format: gRFC A27 (API listener), A31 and A39 (HTTP filters), A55 (sessions).
 *
 * @module
 */
import { ApiVersion } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { any } from "../../pb/codec.ts";
import { isWildcard } from "../../mesh/host_match.ts";
import { outboundClusterName } from "../destination/names.ts";
import { faultFilter } from "../filters/http/fault/filter.ts";
import { routerFilter } from "../filters/http/router/filter.ts";
import { ownStatefulSession } from "../filters/http/stateful_session/per_route.ts";
import type { Built } from "../message/built.ts";
import type { Reader } from "../reader/reader.ts";
import { ownNames } from "../route/domains.ts";
import { bracketed } from "../values/host.ts";
import { routedPorts } from "../route/sidecar.ts";

/** A listener of a name, with aliases for subscriptions. */
export interface NamedListener extends Built<envoy.config.listener.v3.Listener> {
  readonly aliases: readonly string[];
}

/**
 * The listeners of a host, `NAME:PORT` for each name and each port that carries requests. A name alone stands for all
 * ports. If the host has a single port, the name alone is an alias, so targets without a port work.
 */
export function clientListeners(read: Reader, host: string): NamedListener[] {
  const ports = isWildcard(host) ? [] : routedPorts(read, host);
  if (ports.length === 0) return [];
  const names = ownNames(read, host).map(bracketed);
  return ports.flatMap(({ port, causes }) => {
    const api_listener = { api_listener: apiListener(read, host, port) };
    const listener = (name: string, aliases: readonly string[] = []) => ({
      message: { name, api_listener },
      causes,
      aliases,
    });
    return names.flatMap((name) =>
      ports.length === 1 ? [listener(name), listener(`${name}:${port}`)] : [listener(`${name}:${port}`, [name])]
    );
  });
}

function apiListener(read: Reader, host: string, port: number) {
  const session = ownStatefulSession(read, read.service(host));
  const manager: envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager = {
    rds: {
      config_source: { ads: {}, resource_api_version: ApiVersion.V3 },
      route_config_name: outboundClusterName(port, "", host),
    },
    http_filters: [...session ? [session] : [], faultFilter(), routerFilter()],
  };
  return any("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", manager);
}
