/**
 * Routes of the services behind a waypoint, a route configuration for each HTTP port.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { MESH_GATEWAY } from "../../mesh/sidecar_rules.ts";
import { wrap } from "../../pb/wellknown.ts";
import { portCauses, type Service, type ServicePort } from "../../registry/types.ts";
import { servedClusterName } from "../destination/names.ts";
import type { Built } from "../message/built.ts";
import { ruleParts } from "../message/parts.ts";
import type { OpenReader } from "../reader/reader.ts";
import { defaultOutboundRoute } from "../route/default_route.ts";
import { hashing, routeTarget } from "../route/destination.ts";
import { virtualHostName } from "../route/domains.ts";
import { httpRoutes } from "../route/virtual_service.ts";
import { STATEFUL_SESSION_FILTER, statefulSession } from "../filters/http/stateful_session/per_route.ts";
import { listenerKind } from "../service/protocol.ts";
import { rulesAtWaypoint } from "./rules.ts";

type VirtualHost = envoy.config.route.v3.VirtualHost;
type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;

/** The routes of a port: a route configuration without virtual hosts, and its only virtual host. */
export interface PortRoutes {
  readonly port: number;
  readonly bare: Built<RouteConfiguration>;
  readonly virtualHost: Built<VirtualHost>;
}

/** The routes of the ports that carry requests, or may. */
export function serviceRoutes(read: OpenReader, service: Service): PortRoutes[] {
  return service.ports.flatMap((port) => {
    const kind = listenerKind(port.protocol);
    if (kind !== "http" && kind !== "auto") return [];
    const name = servedClusterName(port.port, "http", "", service.hostname);
    const bare = { message: { name, validate_clusters: wrap(false) }, causes: portCauses(service, port) };
    return [{ port: port.port, bare, virtualHost: virtualHost(read, service, port) }];
  });
}

/** The only virtual host: connections come to the address of the service, whatever host a request names. */
function virtualHost(read: OpenReader, service: Service, port: ServicePort): Built<VirtualHost> {
  const session = statefulSession(read, service);
  const common: VirtualHost = {
    name: `inbound|http|${port.port}`,
    domains: ["*"],
    ...(read.proxyHeaders()?.attemptCount?.disabled ? {} : { include_request_attempt_count: true }),
    ...(session ? { typed_per_filter_config: { [STATEFUL_SESSION_FILTER]: session } } : {}),
  };
  const causes = portCauses(service, port);
  const context = { read, port: port.port, gateways: [MESH_GATEWAY], tls: false };
  const notInForce: NonNullable<Built<VirtualHost>["warnings"]>[number][] = [];
  for (const rules of rulesAtWaypoint(read, service, "http")) {
    const { routes, used, causes: further, warnings } = httpRoutes(rules, context);
    notInForce.push(...warnings);
    if (routes.length === 0) continue;
    return {
      message: { ...common, routes },
      causes: [...new Set([...causes, ...rules.causes, ...further])],
      parts: ruleParts(rules, "http", used),
      ...(notInForce.length > 0 ? { warnings: notInForce } : {}),
    };
  }
  const target = routeTarget(read, { host: service.hostname, port: { number: port.port } }, port.port);
  const hash = hashing(read, target);
  const operation = `${virtualHostName(service.hostname, port.port)}/*`;
  return {
    message: { ...common, routes: [defaultOutboundRoute(read, target, hash, operation)] },
    causes: [...causes, ...hash?.causes ?? []],
    ...(notInForce.length > 0 ? { warnings: notInForce } : {}),
  };
}
