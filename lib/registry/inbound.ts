/**
 * The services and ports that a proxy serves itself: those whose endpoints are at its own addresses.
 *
 * @module
 */
import { canonicalIp } from "./address.ts";
import type { EndpointPlacement } from "./endpoint_index.ts";
import type { Endpoint, Service, ServiceKey, ServicePort } from "./types.ts";

/** One port of one service that a proxy serves. */
export interface ServiceTarget {
  readonly service: Service;
  readonly port: ServicePort;
  /** Port at the workload, on which the application listens; 0 for a Unix socket. */
  readonly endpointPort: number;
}

/** The proxy that asks. */
export interface ProxyPlace {
  /** Its own IP addresses, the first is the main one. */
  readonly addresses: readonly string[];
  /** Only services of its namespace are its own; empty: of any. */
  readonly namespace: string;
  /** Its cluster; where orchestrators report endpoints, only those of that cluster are its own. Empty: of any cluster. */
  readonly clusterId: string;
}

/** Where endpoints are looked up (an `EndpointIndex`). */
export interface Placements {
  byAddress(address: string): readonly EndpointPlacement[];
}

/** Where services are looked up (an `Aggregate`). */
export interface Services {
  service(key: ServiceKey): Service | undefined;
}

/**
 * The proxy's own services and ports, each once: the oldest service first, then by host, port and endpoint port. The
 * first of two that want the same endpoint port is the one that gets it.
 */
export function serviceTargets(proxy: ProxyPlace, index: Placements, services: Services): ServiceTarget[] {
  const found = new Map<string, ServiceTarget>();
  for (const address of proxy.addresses) {
    for (const { service: key, endpoint } of index.byAddress(canonicalIp(address))) {
      const service = services.service(key);
      if (service?.provider === "Orch" && !sameCluster(proxy, endpoint)) continue;
      if (service === undefined || (proxy.namespace !== "" && service.namespace !== proxy.namespace)) continue;
      const port = service.ports.find((candidate) => candidate.name === endpoint.portName);
      if (port === undefined) continue;
      found.set(`${key}|${port.port}|${endpoint.port}`, { service, port, endpointPort: endpoint.port });
    }
  }
  return [...found.values()].sort(byAgeAndName);
}

/**
 * Addresses may repeat from cluster to cluster. Endpoints of configuration (service entries) belong to no cluster, so
 * that it is not asked of these: a proxy may call its cluster by another name than this server does.
 */
function sameCluster(proxy: ProxyPlace, endpoint: Endpoint): boolean {
  return proxy.clusterId === "" || endpoint.clusterId === "" || endpoint.clusterId === proxy.clusterId;
}

function byAgeAndName(a: ServiceTarget, b: ServiceTarget): number {
  return a.service.creationTimestamp - b.service.creationTimestamp ||
    compare(a.service.hostname, b.service.hostname) || compare(a.service.namespace, b.service.namespace) ||
    a.port.port - b.port.port || a.endpointPort - b.endpointPort;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
