/**
 * Makes the plan of a TCP proxy from the destinations of a rule, or from the plain service.
 *
 * @module
 */
import { hostAndPort } from "../../values/host.ts";
import type { DestinationRuleSpec } from "../../../config/kinds/destination_rule/schema.ts";
import type { Destination, RouteDestination } from "../../../config/kinds/virtual_service/schema.ts";
import { type DialledServer, dialledServer, sharedServer } from "../../../mesh/dialled_server.ts";
import type { Protocol, Service } from "../../../registry/types.ts";
import { BLACK_HOLE } from "../../cluster/static.ts";
import { destinationOf } from "../../destination/plan.ts";
import { portPolicy, subsetPolicy } from "../../destination/policy.ts";
import type { TcpProxyPlan } from "../../filters/network/tcp_proxy.ts";
import { isUnderstood } from "../../filters/understood.ts";
import type { Reader } from "../../reader/reader.ts";
import { type RouteTarget, routeTarget } from "../../route/destination.ts";
import { statName } from "../stat_name.ts";

/** The listener's port, for destinations without a port. */
export interface TcpPort {
  readonly port: number;
  readonly name: string;
  readonly protocol: Protocol;
}

/** Everything goes to one port of a service: the plan without any rule. */
export function servicePlan(read: Reader, service: Service, port: TcpPort): TcpProxyPlan {
  return singlePlan(read, { host: service.hostname, port: { number: port.port } }, port);
}

/**
 * The destinations of a TCP or TLS rule.
 *
 * @param routes At least one.
 * @param owner `name.namespace` of the virtual service: the statistics prefix of weighted destinations.
 * @returns Undefined when no destination has a weight.
 */
export function routePlan(
  read: Reader,
  routes: readonly RouteDestination[],
  port: TcpPort,
  owner: string,
): TcpProxyPlan | undefined {
  const [first, second] = routes;
  if (first === undefined) return undefined;
  if (second === undefined) return first.internal ? closedPlan(owner) : singlePlan(read, first.destination, port);
  const open = routes.filter(({ internal }) => internal === undefined);
  const targets = open.map(({ destination, weight = 0 }) => ({
    ...routeTarget(read, destination, port.port),
    weight,
  }));
  const used = targets.filter(({ weight }) => weight > 0);
  const closed = routes.reduce((sum, { internal, weight = 0 }) => sum + (internal ? weight : 0), 0);
  const clusters = used.map(({ cluster, weight }) => ({ name: cluster, weight }));
  if (closed > 0) clusters.push({ name: BLACK_HOLE, weight: closed });
  if (clusters.length === 0) return undefined;
  // Several destinations use the connection settings of the first destination's rule, for all ports and no subset.
  const rule = ruleOf(read, targets[0]?.service);
  const protocol = carriedProtocol(read, port.protocol, used[0]);
  return { statPrefix: owner, protocol, clusters, ...resolved(used), ...connectionSettings(rule, 0, "") };
}

/** Connections of a backend that cannot be used are accepted and closed. */
function closedPlan(owner: string): TcpProxyPlan {
  return { statPrefix: owner, clusters: [{ name: BLACK_HOLE, weight: 1 }] };
}

function singlePlan(read: Reader, destination: Destination, listened: TcpPort): TcpProxyPlan {
  const target = routeTarget(read, destination, listened.port);
  const { cluster, service, port, subset, host } = target;
  const pattern = read.mesh().outboundClusterStatName;
  const portName = service?.ports.find((p) => p.port === port)?.name ?? listened.name;
  const statPrefix = pattern && service ? statName(pattern, { host, service, subset, port, portName }) : cluster;
  return {
    statPrefix,
    protocol: carriedProtocol(read, listened.protocol, target),
    clusters: [{ name: cluster, weight: 1 }],
    ...resolved([target]),
    ...connectionSettings(ruleOf(read, service), port, subset),
  };
}

/** The server to resolve for each connection. Several servers cannot be resolved, and a finding reports the problem. */
function resolved(targets: readonly RouteTarget[]): { readonly resolves?: DialledServer } {
  const server = sharedServer(targets.map((target) => dialledServer(target, target.port)));
  return server === undefined || server === "several" ? {} : { resolves: server };
}

/**
 * The protocol that the listener may understand. Redis commands have neither a dialled address nor a server name, so
 * Redis is carried as bytes if the address or the name chooses the endpoint.
 */
function carriedProtocol(read: Reader, protocol: Protocol, target: RouteTarget | undefined): Protocol {
  if (protocol !== "Redis" || target === undefined || !isUnderstood(read, protocol)) return protocol;
  const discovery = destinationOf(read, target.host, target.port, target.subset)?.discovery;
  return discovery === "originalDst" || discovery === "dynamicDns" ? "TCP" : protocol;
}

function ruleOf(read: Reader, service: Service | undefined): DestinationRuleSpec | undefined {
  return service && read.destinationRule(service.hostname)?.spec;
}

/** The settings of a destination rule for connections, not for clusters. */
function connectionSettings(
  rule: DestinationRuleSpec | undefined,
  port: number,
  subsetName: string,
): Omit<TcpProxyPlan, "statPrefix" | "clusters"> {
  if (rule === undefined) return {};
  const subset = subsetName === "" ? undefined : rule.subsets?.find((s) => s.name === subsetName);
  const policy = subset ? subsetPolicy(rule.trafficPolicy, subset, port) : portPolicy(rule.trafficPolicy, port);
  const { idleTimeout, maxConnectionDuration } = policy.connectionPool?.tcp ?? {};
  const tunnel = subsetName === "" ? rule.trafficPolicy?.tunnel : subset?.trafficPolicy?.tunnel;
  return {
    ...(idleTimeout === undefined ? {} : { idleTimeout }),
    ...(maxConnectionDuration === undefined ? {} : { maxConnectionDuration }),
    ...(policy.loadBalancer?.consistentHash?.useSourceIp ? { hashSourceIp: true } : {}),
    ...(tunnel
      ? { tunnel: { hostname: hostAndPort(tunnel.targetHost, tunnel.targetPort), post: tunnel.protocol === "POST" } }
      : {}),
  };
}
