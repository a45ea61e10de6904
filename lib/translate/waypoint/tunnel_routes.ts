/**
 * The routes of CONNECT requests by names of services. Clients of other networks know only the names.
 *
 *     at a gateway between networks    HOST:PORT ──> the workloads of the service in the gateway's network, unopened
 *     at a waypoint                    HOST:PORT ──> as if the client had dialled the address of the service
 *
 * Only services of scope GLOBAL have routes. A gateway between networks refuses everything else.
 *
 * @module
 */
import { keyText } from "../../finding/object_name.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { type Finding, lossOf } from "../../finding/finding.ts";
import { wrap } from "../../pb/wellknown.ts";
import { type Service, serviceKey, type ServicePort } from "../../registry/types.ts";
import { forwardedClusterName } from "../destination/forwarded.ts";
import { CONNECT_ROUTES, connectRoute, type NamedConnect } from "../listener/hbone/terminate.ts";
import type { Built } from "../message/built.ts";
import type { Reader } from "../reader/reader.ts";
import { waypointName } from "../reader/waypoint_role.ts";
import { isRange, tunnelAddresses } from "../service/address.ts";

/** The routes of a gateway between networks, and findings about services without routes. */
export interface ForwardingRoutes {
  readonly routes: Built<envoy.config.route.v3.RouteConfiguration>;
  readonly findings: readonly Finding[];
}

/** Builds the routes of a gateway between networks. */
export function forwardingRoutes(read: Reader): ForwardingRoutes {
  const findings: Finding[] = [];
  const served = read.globalServices("").filter((service) => {
    const { hostname, namespace, cause } = service;
    const seen = read.service(hostname);
    if (seen !== undefined && serviceKey(seen) === serviceKey(service)) {
      findings.push(...closedFindings(read, service));
      return true;
    }
    const text = `the namespace of the gateway between networks does not see ${hostname} of namespace ${namespace}: ` +
      "other networks do not reach the service";
    findings.push(lossOf("not-as-written", [cause], text));
    return false;
  });
  const message = {
    name: CONNECT_ROUTES,
    validate_clusters: wrap(false),
    virtual_hosts: served.flatMap(forwarding),
  };
  const gateway = `ApiGateway/${read.derived("waypointName", waypointName)}`;
  return { routes: { message, causes: [gateway, ...served.map(({ cause }) => cause)] }, findings };
}

/** Said once for all ports of a service. */
function closedFindings(read: Reader, { hostname, cause }: Service): Finding[] {
  const way = read.forwardedWay(hostname);
  if (way?.why === undefined || way.policy === undefined) return [];
  const start = `a gateway between networks does not use the waypoint ${way.waypoint} of ${hostname}: ${way.why}`;
  const named = keyText(way.policy);
  const end = way.isClosed
    ? `other networks do not reach the service, because ${named} needs the waypoint`
    : `other networks reach the workloads directly, and nothing enforces ${named} (MESH_WAYPOINT_FAIL_OPEN=true)`;
  return [lossOf("not-as-written", [cause, way.policy], `${start}; ${end}`)];
}

function forwarding(service: Service): envoy.config.route.v3.VirtualHost[] {
  const { hostname } = service;
  return streamPorts(service).map(({ port }) => {
    const name = `${hostname}:${port}`;
    return { name, domains: [name], routes: [connectRoute(forwardedClusterName(port, hostname))] };
  });
}

/** The ports of the services behind a waypoint that clients of other networks name. */
export function namedServices(read: Reader): NamedConnect[] {
  if (!read.settings.multiNetwork) return [];
  return read.waypoint(read.derived("waypointName", waypointName)).services
    .filter((service) => read.service(service.hostname) === service && read.isGlobal(service.hostname))
    .flatMap((service) => {
      // A service without an address has no chains at the waypoint.
      const ip = tunnelAddresses(read, service).find((one) => !isRange(one));
      if (ip === undefined) return [];
      return streamPorts(service).map(({ port }) => ({ host: service.hostname, port, ip, at: port }));
    });
}

function streamPorts({ ports }: Service): readonly ServicePort[] {
  return ports.filter(({ protocol }) => protocol !== "UDP");
}
