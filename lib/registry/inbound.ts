/**
 * The services and ports that a proxy serves itself: those whose endpoints are at its own addresses, and those that
 * select its pod.
 *
 * @module
 */
import { canonicalIp } from "./address.ts";
import type { EndpointPlacement } from "./endpoint_index.ts";
import type { Endpoint, Service, ServiceKey, ServicePort, Workload } from "./types.ts";

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
  /** Its pod (`pod/NAMESPACE/NAME`), which tells it from others at the address of their node. Default: not known. */
  readonly pod?: string;
}

/** Looks endpoints up (an `EndpointIndex`). */
export interface Placements {
  byAddress(address: string): readonly EndpointPlacement[];
}

/** Looks services up (an `Aggregate`). */
export interface Services {
  service(key: ServiceKey): Service | undefined;
  workloadsAt(address: string): readonly Workload[];
}

/**
 * The proxy's own services and ports, each once: the oldest service first, then by host, by the place of the port in its
 * service, and by endpoint port. The first of two that want the same endpoint port is the one that gets it.
 */
export function serviceTargets(proxy: ProxyPlace, index: Placements, services: Services): ServiceTarget[] {
  const found = new Map<string, ServiceTarget>();
  const add = (key: ServiceKey, portName: string, endpointPort: number, at: Pick<Endpoint, "clusterId">) => {
    const service = services.service(key);
    if (service?.provider === "Orch" && !sameCluster(proxy, at)) return;
    if (service === undefined || (proxy.namespace !== "" && service.namespace !== proxy.namespace)) return;
    const port = service.ports.find((candidate) => candidate.name === portName);
    if (port !== undefined) found.set(`${key}|${port.port}|${endpointPort}`, { service, port, endpointPort });
  };
  for (const address of proxy.addresses.map(canonicalIp)) {
    for (const workload of ownWorkloads(proxy, services.workloadsAt(address))) {
      for (const { service, portName, port } of workload.serves ?? []) add(service, portName, port, workload);
    }
    for (const { service, endpoint } of index.byAddress(address)) {
      add(service, endpoint.portName, endpoint.port, endpoint);
    }
  }
  return [...found.values()].sort(byAgeAndName);
}

/** The workloads of a proxy among those at its address. Pods share the address of their node: of these the proxy's own alone counts, where it is known. */
export function ownWorkloads(proxy: ProxyPlace, all: readonly Workload[]): readonly Workload[] {
  const own = all.filter(({ id, clusterId }) => id === proxy.pod && sameCluster(proxy, { clusterId }));
  return own.length > 0 ? own : all;
}

/**
 * Addresses may repeat from cluster to cluster. Endpoints of configuration (service entries) belong to no cluster, so
 * that it is not asked of these: a proxy may call its cluster by another name than this server does.
 */
function sameCluster(proxy: ProxyPlace, endpoint: Pick<Endpoint, "clusterId">): boolean {
  return proxy.clusterId === "" || endpoint.clusterId === "" || endpoint.clusterId === proxy.clusterId;
}

function byAgeAndName(a: ServiceTarget, b: ServiceTarget): number {
  return a.service.creationTimestamp - b.service.creationTimestamp ||
    compare(a.service.hostname, b.service.hostname) || compare(a.service.namespace, b.service.namespace) ||
    a.service.ports.indexOf(a.port) - b.service.ports.indexOf(b.port) || a.endpointPort - b.endpointPort;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
