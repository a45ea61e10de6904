/**
 * The virtual hosts that a host contributes to the outbound route configurations of a sidecar.
 *
 * @module
 */
import type { EffectiveVirtualService } from "../../mesh/types.ts";
import { isWildcard } from "../../mesh/host_match.ts";
import { wildcardServiceOver } from "../../mesh/named_service.ts";
import { MESH_GATEWAY } from "../../mesh/sidecar_rules.ts";
import { portCauses, type Service } from "../../registry/types.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { isDialledByAddress } from "../service/address.ts";
import { listenerKind } from "../service/protocol.ts";
import type { BuildFinding } from "../message/built.ts";
import { ruleParts } from "../message/parts.ts";
import type { Reader } from "../reader/reader.ts";
import { defaultOutboundRoute } from "./default_route.ts";
import { hashing, routeTarget, serviceBehind } from "./destination.ts";
import { hostDomains, virtualHostName, withPort } from "./domains.ts";
import { placements } from "./placement.ts";
import { STATEFUL_SESSION_FILTER, statefulSession } from "../filters/http/stateful_session/per_route.ts";
import { httpRoutes } from "./virtual_service.ts";

type VirtualHost = envoy.config.route.v3.VirtualHost;
type Route = envoy.config.route.v3.Route;

/** A virtual host with its place, causes and findings. */
export interface OutboundVirtualHost {
  readonly routeConfiguration: string;
  readonly virtualHost: VirtualHost;
  /** Keys of the configuration objects behind the virtual host, the service first. */
  readonly causes: readonly string[];
  /** Parts of virtual services in the virtual host. */
  readonly parts: readonly string[];
  /** Settings that are not in force as written. Absent: none. */
  readonly warnings?: readonly BuildFinding[];
  /** ms since the epoch. If two virtual hosts want a domain, the older one wins. */
  readonly creationTimestamp: number;
}

/** A port of a host, with its routes. */
export interface RoutedPort {
  readonly port: number;
  readonly sniffed: boolean;
  /** The wildcard service whose listener recognizes requests on the port. Absent: the host's own listener. */
  readonly sniffedBy?: string;
  /** Ways to name the host. */
  readonly domains: string[];
  readonly routes: Route[];
  readonly causes: readonly string[];
  readonly parts: readonly string[];
  readonly warnings: readonly BuildFinding[];
  readonly creationTimestamp: number;
}

/**
 * Builds the virtual hosts of a host.
 *
 * - A service: one per HTTP or sniffed port, with the routes of the virtual service in force, else the default route.
 * - An alias: the same for the target service, under the alias's names.
 * - A host in a virtual service, for ports missing in the host's service: port 80, the HTTP ports of the other services
 *   in the virtual service, and the HTTP ports of the service whose wildcard covers the host.
 *
 * A service that only routes lead to has none.
 *
 * @param host A service's host, or a host in a virtual service for sidecars.
 */
export function outboundVirtualHosts(read: Reader, host: string): OutboundVirtualHost[] {
  const service = read.service(host);
  const target = service && serviceBehind(read, host);
  if (target && !target.service || target?.service?.routesOnly) return [];
  const own = service && target?.service ? servicePorts(read, service, host, target.service) : [];
  const ports = [...own, ...namedPorts(read, host, target?.service)];
  return ports.flatMap((port) => virtualHosts(read, host, service, port));
}

/** The HTTP and sniffed ports of a service, or of an alias's target. Empty when the service is not visible. */
export function routedPorts(read: Reader, host: string): RoutedPort[] {
  const service = read.service(host);
  const target = service && serviceBehind(read, host);
  if (!service || !target?.service) return [];
  return servicePorts(read, service, host, target.service);
}

/** @param target The host behind an alias, else the host. */
function virtualServiceOf(read: Reader, host: string, target: string, port: number) {
  return read.virtualService(host, "http", port) ??
    (target === host ? undefined : read.virtualService(target, "http", port));
}

function virtualHosts(
  read: Reader,
  host: string,
  service: Service | undefined,
  routed: RoutedPort,
): OutboundVirtualHost[] {
  const { port, routes, causes, parts, warnings, creationTimestamp, domains, sniffedBy } = routed;
  const session = statefulSession(read, service);
  const common: VirtualHost = {
    name: virtualHostName(host, port),
    routes,
    ...(read.proxyHeaders()?.attemptCount?.disabled ? {} : { include_request_attempt_count: true }),
    ...(session ? { typed_per_filter_config: { [STATEFUL_SESSION_FILTER]: session } } : {}),
  };
  // The listener of a wildcard's port serves all hosts under the wildcard, so this virtual host lists its own domains.
  const forms = { port: domains, any: sniffedBy === undefined ? ["*"] : domains, allPorts: withPort(domains, port) };
  const ownListener = routed.sniffed || service !== undefined && isDialledByAddress(read, service);
  return placements(read, host, { port, ownListener, sniffedBy }).map((place) => ({
    routeConfiguration: place.routeConfiguration,
    virtualHost: { ...common, domains: forms[place.domains] },
    causes,
    parts,
    ...(warnings.length ? { warnings } : {}),
    creationTimestamp,
  }));
}

function servicePorts(
  read: Reader,
  service: Service,
  host: string,
  target: Service,
): RoutedPort[] {
  const ports = httpPorts(target);
  if (!ports.length) return [];
  const domains = hostDomains(read, host, service);
  return ports.map(({ port, sniffed, cause }) => {
    const base = [...target === service ? [] : [service.cause], ...portCauses(target, { ...(cause && { cause }) })];
    const vs = virtualServiceOf(read, host, target.hostname, port);
    const own = vs && meshRoutes(read, vs, port);
    if (vs && own?.routes.length) {
      const { creationTimestamp } = vs;
      return { ...own, port, sniffed, domains, causes: [...base, ...own.causes], creationTimestamp };
    }
    const to = routeTarget(read, { host: target.hostname, port: { number: port } }, port);
    const hash = hashing(read, to);
    return {
      port,
      sniffed,
      domains,
      routes: [defaultOutboundRoute(read, to, hash, `${virtualHostName(target.hostname, port)}/*`)],
      causes: [...base, ...(hash?.causes ?? [])],
      parts: [],
      warnings: own?.warnings ?? [],
      creationTimestamp: service.creationTimestamp,
    };
  });
}

/**
 * The ports of a host that only virtual services name. `*` is excluded, because the outbound policy covers every host.
 */
function namedPorts(read: Reader, host: string, service: Service | undefined): RoutedPort[] {
  if (host === "*") return [];
  const naming = read.virtualServices(host, "http").filter((vs) => vs.hosts.includes(host));
  if (naming.length === 0) return [];
  const ports = portsBeside(read, host, naming);
  for (const { port } of service?.ports ?? []) ports.delete(port);
  const domains = hostDomains(read, host, undefined);
  return [...ports].flatMap(([port, sniffing]) => {
    const vs = read.virtualService(host, "http", port);
    if (!vs?.hosts.includes(host)) return [];
    const own = meshRoutes(read, vs, port);
    return own.routes.length ? [{ ...own, port, ...sniffing, domains, creationTimestamp: vs.creationTimestamp }] : [];
  });
}

/** Port 80, and the HTTP ports of services named beside the host or covering the host by a wildcard. */
function portsBeside(read: Reader, host: string, naming: readonly EffectiveVirtualService[]) {
  const ports = new Map<number, Pick<RoutedPort, "sniffed" | "sniffedBy">>([[80, { sniffed: false }]]);
  for (const other of new Set(naming.flatMap(({ hosts }) => hosts))) {
    const beside = other === host || isWildcard(other) ? undefined : read.service(other);
    for (const { port } of beside ? httpPorts(beside) : []) ports.set(port, { sniffed: false });
  }
  const over = wildcardServiceOver(host, (name) => read.service(name));
  for (const { port, sniffed } of over ? httpPorts(over.service) : []) {
    ports.set(port, { sniffed, ...(sniffed ? { sniffedBy: over!.host } : {}) });
  }
  return ports;
}

function meshRoutes(read: Reader, vs: EffectiveVirtualService, port: number) {
  const { routes, used, causes, warnings } = httpRoutes(vs, { read, port, gateways: [MESH_GATEWAY], tls: false });
  return { routes, causes: [...vs.causes, ...causes], parts: ruleParts(vs, "http", used), warnings };
}

function httpPorts(service: Service): { port: number; sniffed: boolean; cause?: string }[] {
  return service.ports.flatMap(({ port, protocol, cause }) => {
    const kind = listenerKind(protocol);
    return kind === "http" || kind === "auto" ? [{ port, sniffed: kind === "auto", ...(cause && { cause }) }] : [];
  });
}
