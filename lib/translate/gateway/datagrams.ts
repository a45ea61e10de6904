/**
 * Listeners of a gateway for datagrams: UDP, to the destinations of the port's `tcp` rule.
 *
 *     udp_0.0.0.0_53  datagrams ─> outbound_udp|53||dns.ns.svc.cluster.local
 *
 * Envoy cannot check authorization policies for datagrams. If a policy of the workload may refuse connections, the port
 * stays closed.
 *
 * @module
 */
import { TrafficDirection } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { RouteDestination } from "../../config/kinds/virtual_service/schema.ts";
import { gatewayTcpRules, matchesServer, virtualServicesOfServer } from "../../mesh/gateway_tcp_rules.ts";
import type { Authorization } from "../authorization/authorization.ts";
import { BLACK_HOLE } from "../cluster/static.ts";
import { datagramClusterName } from "../destination/datagrams.ts";
import { hasExtension } from "../filters/extension.ts";
import { UDP_PROXY, udpProxyFilter } from "../filters/listener/udp_proxy.ts";
import type { WeightedCluster } from "../filters/network/tcp_proxy.ts";
import { listenerName, wildcards } from "../listener/address.ts";
import type { Built } from "../message/built.ts";
import { objectMetadata } from "../message/object_metadata.ts";
import { joinedParts, ruleParts, serverParts } from "../message/parts.ts";
import type { Reader } from "../reader/reader.ts";
import { routeTarget } from "../route/destination.ts";
import { udpAddresses } from "./http3.ts";
import type { MergedPort, MergedServer } from "./merge.ts";
import { type GatewayRefusal, type GatewayRefusalReason, serverRefusal, serverWithoutRule } from "./problem.ts";
import { visibleVirtualServices } from "./virtual_services.ts";

type Listener = envoy.config.listener.v3.Listener;

/** A listener, or the reasons for having none. */
interface DatagramListener {
  readonly listener?: Built<Listener>;
  readonly problems: readonly GatewayRefusal[];
}

/** The listener of a port for datagrams. */
export function datagramListener(read: Reader, port: MergedPort, authorization: Authorization): DatagramListener {
  const [server] = port.servers;
  if (server === undefined) return { problems: [] };
  const refused = (reason: GatewayRefusalReason, why: string) => ({
    problems: [serverRefusal(server, port.port, reason, why)],
  });
  if (!hasExtension(read, UDP_PROXY)) return refused("datagrams", `left out, the proxy's build lacks ${UDP_PROXY}`);
  if (authorization.isEnforced) {
    return refused("datagrams", "left out, authorization policies cannot be checked for datagrams");
  }
  const found = datagramTarget(read, server);
  if (found === undefined) {
    return { problems: serverWithoutRule(server, port.port, "no bound virtual service has a tcp rule for this port") };
  }
  const binds = port.bind === "" ? wildcards(read) : [port.bind];
  const name = `udp_${listenerName(binds[0] ?? "", port.port)}`;
  const message: Listener = {
    name,
    ...udpAddresses(binds, port.port),
    traffic_direction: TrafficDirection.OUTBOUND,
    udp_listener_config: { downstream_socket_config: {} },
    listener_filters: [udpProxyFilter({ statPrefix: name, clusters: found.clusters })],
    metadata: objectMetadata(found.causes[0] ?? server.cause),
  };
  const causes = [...new Set([server.cause, ...found.causes])];
  return { listener: { message, causes, parts: joinedParts([serverParts([server]), found.parts]) }, problems: [] };
}

interface DatagramTarget {
  readonly clusters: readonly WeightedCluster[];
  readonly causes: readonly string[];
  readonly parts: readonly string[];
}

/** The destinations of the first `tcp` rule for the server. */
function datagramTarget(read: Reader, server: MergedServer): DatagramTarget | undefined {
  const bound = virtualServicesOfServer(visibleVirtualServices(read, server.gateway), server.hosts);
  const { number } = server.spec.port;
  const { used: [rule] } = gatewayTcpRules(bound, (match) => matchesServer(match, server.gateway, number));
  if (rule === undefined) return undefined;
  const { virtualService, index, route } = rule;
  const parts = ruleParts(virtualService, "tcp", [{ rule: index }]);
  return { clusters: datagramClusters(read, route, number), causes: virtualService.causes, parts };
}

/** A destination with an unusable backend takes its share of datagrams and drops them. */
function datagramClusters(read: Reader, routes: readonly RouteDestination[], port: number): WeightedCluster[] {
  return routes.flatMap(({ destination, internal, weight = routes.length === 1 ? 1 : 0 }) => {
    if (weight === 0) return [];
    const target = routeTarget(read, destination, port);
    return [{ name: internal ? BLACK_HOLE : datagramClusterName(target.port, target.host), weight }];
  });
}
