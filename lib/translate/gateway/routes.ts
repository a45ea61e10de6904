/**
 * Route configurations of a gateway. Bare route configurations and virtual hosts are built separately, so virtual hosts
 * can be sent inside a route configuration or as separate resources (VHDS).
 *
 * @module
 */
import { ApiVersion, VirtualHost_TlsRequirementType as TlsRequirement } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { wrap } from "../../pb/wellknown.ts";
import type { ServiceTarget } from "../../registry/inbound.ts";
import type { BuildFinding, Built } from "../message/built.ts";
import { joinedParts, ruleParts, type UsedRule } from "../message/parts.ts";
import type { Reader } from "../reader/reader.ts";
import { matchesAll } from "../route/match.ts";
import { STATEFUL_SESSION_FILTER, statefulSession } from "../filters/http/stateful_session/per_route.ts";
import { httpRoutes } from "../route/virtual_service.ts";
import { http3Offer } from "./http3.ts";
import { mergedGateways } from "./merge.ts";
import { gatewayRoutePlans, type PlannedVirtualHost, type RoutePlan, type RouteSource } from "./route_plan.ts";

type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;
type VirtualHost = envoy.config.route.v3.VirtualHost;
type Route = envoy.config.route.v3.Route;

/** Longest body of a direct response, bytes (Envoy's own default is 4 KiB, too small for an error page). */
const MAX_DIRECT_RESPONSE_BODY_BYTES = 1 << 20;

/** A route configuration in both forms that a proxy may get. */
export interface GatewayRouteConfiguration {
  /** Without virtual hosts. If nothing is bound and the proxy lacks VHDS, with a virtual host that answers 404. */
  readonly routeConfiguration: Built<RouteConfiguration>;
  /** Sorted by name. Empty: nothing is bound. */
  readonly virtualHosts: readonly Built<VirtualHost>[];
}

/** All route configurations of a gateway, by name. */
export function gatewayRouteConfigurations(
  read: Reader,
  targets: readonly ServiceTarget[] = [],
): Map<string, GatewayRouteConfiguration> {
  const built = new Map<string, GatewayRouteConfiguration>();
  for (const [name, plan] of gatewayRoutePlans(read, mergedGateways(read, targets))) {
    built.set(name, {
      routeConfiguration: gatewayRouteConfiguration(read, plan),
      virtualHosts: plan.entries.map((entry) => gatewayVirtualHost(read, entry)),
    });
  }
  return built;
}

/**
 * The route configuration of a plan, without its virtual hosts. Virtual hosts are inserted later, or announced for
 * VHDS. If nothing is bound, every request gets 404.
 *
 * VHDS is announced whether or not anything is bound: Envoy 1.40 keeps its virtual hosts when the announcement goes, and
 * serves them again when the announcement comes back, also the removed ones. See {@linkcode closedVirtualHost}.
 */
export function gatewayRouteConfiguration(read: Reader, plan: RoutePlan): Built<RouteConfiguration> {
  const byVhds = read.property("vhds");
  const isOpen = byVhds || plan.entries.length > 0;
  const vhds = { config_source: { ads: {}, resource_api_version: ApiVersion.V3 } };
  const message: RouteConfiguration = {
    name: plan.name,
    // A virtual host without routes answers 404. The name `blackhole` distinguishes this answer from unmatched routes.
    ...(isOpen ? {} : { virtual_hosts: [{ name: `blackhole:${plan.port}`, domains: ["*"] }] }),
    ...(byVhds ? { vhds } : {}),
    // A route to a missing cluster answers 503 until the cluster arrives. Validation would refuse the whole
    // configuration.
    validate_clusters: wrap(false),
    ...(plan.offersHttp3 ? { response_headers_to_add: [http3Offer(plan.port)] } : {}),
    // Clients send `host:port` where the port is not the scheme's default.
    ignore_port_in_host_matching: true,
    max_direct_response_body_size_bytes: wrap(MAX_DIRECT_RESPONSE_BODY_BYTES),
  };
  return { message, causes: plan.causes };
}

/**
 * The virtual host of a route configuration with VHDS where nothing else is bound: a listener waits for its first
 * virtual host. No request has this domain, and requests without a virtual host get 404.
 */
export function closedVirtualHost({ port, causes }: Pick<RoutePlan, "port" | "causes">): Built<VirtualHost> {
  return { message: { name: `closed:${port}`, domains: ["closed.invalid"] }, causes };
}

/** A virtual host, with the routes of all virtual services for its hosts. */
export function gatewayVirtualHost(read: Reader, entry: PlannedVirtualHost): Built<VirtualHost> {
  if (entry.isMisdirected) return misdirectedHost(entry);
  const found: SourceRoute[] = [];
  const warnings: BuildFinding[] = [];
  for (const source of entry.sources) {
    const { routes, used, warnings: ofSource } = sourceRoutes(read, source);
    for (const [at, route] of routes.entries()) found.push({ route, source, used: used[at]! });
    warnings.push(...ofSource);
  }
  const placed = inOrder(found);
  const message: VirtualHost = {
    name: entry.name,
    domains: [...entry.domains],
    routes: placed.map(({ route }) => route),
    ...(entry.requireTls ? { require_tls: TlsRequirement.ALL } : {}),
    ...(read.proxyHeaders()?.attemptCount?.disabled ? {} : { include_request_attempt_count: true }),
    ...sessionOfHosts(read, entry),
  };
  const causes = [...entry.gatewayCauses, ...entry.sources.flatMap((source) => source.virtualService.causes)];
  const parts = joinedParts(
    entry.sources.map((source) =>
      ruleParts(source.virtualService, "http", placed.filter((one) => one.source === source).map(({ used }) => used))
    ),
  );
  return { message, causes: [...new Set(causes)], parts, ...(warnings.length > 0 ? { warnings } : {}) };
}

/** The virtual host that answers 421 (Misdirected Request). */
function misdirectedHost({ name, domains, gatewayCauses }: PlannedVirtualHost): Built<VirtualHost> {
  const route: Route = { name: "misdirected", match: { prefix: "/" }, direct_response: { status: 421 } };
  return { message: { name, domains: [...domains], routes: [route] }, causes: gatewayCauses };
}

function sourceRoutes(read: Reader, source: RouteSource): ReturnType<typeof httpRoutes> {
  const { virtualService, gateway, port, tls } = source;
  return httpRoutes(virtualService, { read, port, gateways: [gateway], tls });
}

/** A route with its virtual service and rule. */
interface SourceRoute {
  readonly route: Route;
  readonly source: RouteSource;
  readonly used: UsedRule;
}

/** Routes for all requests come last, so each virtual service of a host contributes. One such route is enough. */
function inOrder(routes: readonly SourceRoute[]): SourceRoute[] {
  const takesAll = ({ route }: SourceRoute) => matchesAll(route.match ?? {});
  return [...routes.filter((route) => !takesAll(route)), ...routes.filter(takesAll).slice(0, 1)];
}

/** The session of the virtual host's service, for routes to destinations without sessions. */
function sessionOfHosts(read: Reader, entry: PlannedVirtualHost): Pick<VirtualHost, "typed_per_filter_config"> {
  const [host] = entry.domains;
  if (!read.settings.enablePersistentSessionFilter || host === undefined) return {};
  const session = statefulSession(read, read.service(host));
  return session ? { typed_per_filter_config: { [STATEFUL_SESSION_FILTER]: session } } : {};
}
