/**
 * The virtual hosts that one host contributes to the outbound route configurations of a sidecar.
 *
 * Permissions: none.
 *
 * @module
 */
import type { EffectiveVirtualService } from "../../mesh/types.ts";
import { isWildcard } from "../../mesh/host_match.ts";
import { MESH_GATEWAY } from "../../mesh/virtual_service_index.ts";
import type { Service } from "../../registry/types.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { listenerKind } from "../listener/protocol.ts";
import type { Reader } from "../reader.ts";
import { defaultOutboundRoute } from "./default_route.ts";
import { behindAlias, hashing, routeTarget } from "./destination.ts";
import { hostDomains, virtualHostName, withPort } from "./domains.ts";
import { placements } from "./placement.ts";
import { STATEFUL_SESSION_FILTER, statefulSession } from "./session.ts";
import { httpRoutes } from "./virtual_service.ts";

type VirtualHost = envoy.config.route.v3.VirtualHost;
type Route = envoy.config.route.v3.Route;

/** A virtual host, where it belongs, and why it is as it is. */
export interface OutboundVirtualHost {
  readonly routeConfiguration: string;
  readonly virtualHost: VirtualHost;
  /** Keys of the config objects that made it, the service first. */
  readonly causes: readonly string[];
  /** What the user wrote and does not get, one sentence each; absent: nothing. */
  readonly warnings?: readonly string[];
  /** Of two virtual hosts that claim a domain, the one with the smaller number (ms since the epoch) is older and wins. */
  readonly creationTimestamp: number;
}

/** One port of a host with the routes that requests to it take. */
interface RoutedPort {
  readonly port: number;
  readonly sniffed: boolean;
  readonly routes: Route[];
  readonly causes: readonly string[];
  readonly warnings: readonly string[];
  readonly creationTimestamp: number;
}

/**
 * Builds them.
 *
 * - A service: one per HTTP or sniffed port, with the routes of the virtual service in force, else the default route.
 * - An alias: the same for the service behind it, under the alias's names.
 * - A host that only a virtual service names: for port 80, and for the ports of the services that it names beside it.
 *
 * @param host A service's host, or one that a virtual service for sidecars names.
 */
export function outboundVirtualHosts(read: Reader, host: string): OutboundVirtualHost[] {
  const service = read.service(host);
  const ports = service ? servicePorts(read, host, service) : namedPorts(read, host);
  if (!ports.length) return [];
  const domains = hostDomains(read, host, service);
  return ports.flatMap((port) => virtualHosts(read, host, service, domains, port));
}

function virtualHosts(
  read: Reader,
  host: string,
  service: Service | undefined,
  domains: string[],
  routed: RoutedPort,
): OutboundVirtualHost[] {
  const { port, routes, causes, warnings, creationTimestamp } = routed;
  const session = statefulSession(read, service);
  const common: VirtualHost = {
    name: virtualHostName(host, port),
    routes,
    ...(read.proxyHeaders()?.attemptCount?.disabled ? {} : { include_request_attempt_count: true }),
    ...(session ? { typed_per_filter_config: { [STATEFUL_SESSION_FILTER]: session } } : {}),
  };
  const forms = { port: domains, any: ["*"], allPorts: withPort(domains, port) };
  return placements(read, host, port, routed.sniffed).map((place) => ({
    routeConfiguration: place.routeConfiguration,
    virtualHost: { ...common, domains: forms[place.domains] },
    causes,
    ...(warnings.length ? { warnings } : {}),
    creationTimestamp,
  }));
}

function servicePorts(read: Reader, host: string, service: Service): RoutedPort[] {
  const target = behindAlias(read, host);
  if (!target.service) return [];
  const vs = read.virtualService(host) ?? (target.host === host ? undefined : read.virtualService(target.host));
  const base = target.service === service ? [service.cause] : [service.cause, target.service.cause];
  return httpPorts(target.service).map(({ port, sniffed }) => {
    const own = vs && meshRoutes(read, vs, port);
    if (own?.routes.length) {
      return { ...own, port, sniffed, causes: [...base, ...own.causes], creationTimestamp: vs!.creationTimestamp };
    }
    const to = routeTarget(read, { host: target.host, port: { number: port } }, port);
    const hash = hashing(read, to);
    return {
      port,
      sniffed,
      routes: [defaultOutboundRoute(read, to, hash, `${virtualHostName(target.host, port)}/*`)],
      causes: [...base, ...(hash?.causes ?? [])],
      warnings: own?.warnings ?? [],
      creationTimestamp: service.creationTimestamp,
    };
  });
}

/** A wildcard that covers services shapes their virtual hosts and makes none of its own. */
function namedPorts(read: Reader, host: string): RoutedPort[] {
  const vs = read.virtualService(host);
  if (!vs?.hosts.includes(host) || host === "*" || (isWildcard(host) && read.hasServiceUnder(host))) return [];
  const beside = vs.hosts.flatMap((other) => {
    const service = other === host || isWildcard(other) ? undefined : read.service(other);
    return service ? httpPorts(service).map(({ port }) => port) : [];
  });
  return [...new Set([80, ...beside])].flatMap((port) => {
    const own = meshRoutes(read, vs, port);
    return own.routes.length ? [{ ...own, port, sniffed: false, creationTimestamp: vs.creationTimestamp }] : [];
  });
}

function meshRoutes(read: Reader, vs: EffectiveVirtualService, port: number) {
  const { routes, causes, warnings } = httpRoutes(vs, { read, port, gateways: [MESH_GATEWAY], tls: false });
  return { routes, causes: [...vs.causes, ...causes], warnings };
}

function httpPorts(service: Service): { port: number; sniffed: boolean }[] {
  return service.ports.flatMap(({ port, protocol }) => {
    const kind = listenerKind(protocol);
    return kind === "http" || kind === "auto" ? [{ port, sniffed: kind === "auto" }] : [];
  });
}
