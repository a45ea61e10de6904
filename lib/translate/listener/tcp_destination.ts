/**
 * From destinations of a rule, or the plain service, to what a TCP proxy does.
 *
 * Permissions: none.
 *
 * @module
 */
import type { DestinationRuleSpec } from "../../config/kinds/destination_rule/types.ts";
import type { Destination, RouteDestination } from "../../config/kinds/virtual_service/types.ts";
import type { Service } from "../../registry/types.ts";
import { outboundClusterName } from "../destination/names.ts";
import { portPolicy, subsetPolicy } from "../destination/policy.ts";
import type { TcpProxyPlan, WeightedCluster } from "../filters/network/tcp_proxy.ts";
import type { Reader } from "../reader.ts";
import { statName } from "./stat_name.ts";

/** The listener's port, for destinations that name none. */
export interface TcpPort {
  readonly port: number;
  readonly name: string;
}

/** Everything to one port of a service, as without any rule. */
export function servicePlan(read: Reader, service: Service, port: TcpPort): TcpProxyPlan {
  const destination = { host: service.hostname, port: { number: port.port } };
  return singlePlan(read, destination, service, port);
}

/**
 * The destinations of one TCP or TLS rule.
 *
 * @param routes At least one.
 * @param owner `name.namespace` of the virtual service: the statistics prefix of weighted destinations.
 */
export function routePlan(
  read: Reader,
  routes: readonly RouteDestination[],
  port: TcpPort,
  owner: string,
): TcpProxyPlan | undefined {
  const [first, second] = routes;
  if (first === undefined) return undefined;
  const service = read.service(first.destination.host);
  if (second === undefined) return singlePlan(read, first.destination, service, port);
  const clusters: WeightedCluster[] = [];
  for (const { destination, weight = 0 } of routes) {
    if (weight <= 0) continue;
    const target = destination.host === first.destination.host ? service : read.service(destination.host);
    clusters.push({ name: destinationCluster(destination, target, port.port).name, weight });
  }
  if (clusters.length === 0) return undefined;
  const rule = service && read.destinationRule(service.hostname)?.spec;
  // The connection settings of several destinations: those of the first one's rule, for all ports and no subset.
  return { statPrefix: owner, clusters, ...connectionSettings(rule, 0, "") };
}

function singlePlan(
  read: Reader,
  destination: Destination,
  service: Service | undefined,
  port: TcpPort,
): TcpProxyPlan {
  const cluster = destinationCluster(destination, service, port.port);
  const subset = destination.subset ?? "";
  const pattern = read.mesh().outboundClusterStatName;
  const portName = service?.ports.find((p) => p.port === cluster.port)?.name ?? port.name;
  const facts = { host: destination.host, subset, port: cluster.port, portName };
  const statPrefix = pattern && service ? statName(pattern, { ...facts, service }) : cluster.name;
  const rule = service && read.destinationRule(service.hostname)?.spec;
  return {
    statPrefix,
    clusters: [{ name: cluster.name, weight: 1 }],
    ...(service?.resolution === "dynamicDns" ? { resolveServerName: cluster.port } : {}),
    ...connectionSettings(rule, cluster.port, subset),
  };
}

/**
 * The cluster of a destination: at the port that it names, else the only one of its service, else the one that was
 * dialled.
 */
export function destinationCluster(
  destination: Destination,
  service: Service | undefined,
  dialled: number,
): { readonly name: string; readonly port: number } {
  const only = service?.ports.length === 1 ? service.ports[0]?.port : undefined;
  const port = destination.port?.number ?? only ?? dialled;
  const host = service?.externalName ?? destination.host;
  return { name: outboundClusterName(port, destination.subset ?? "", host), port };
}

/** What a destination rule says about connections and not about clusters. */
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
      ? { tunnel: { hostname: hostPort(tunnel.targetHost, tunnel.targetPort), post: tunnel.protocol === "POST" } }
      : {}),
  };
}

function hostPort(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
