/**
 * The services and ports that a proxy serves: services with endpoints at the proxy's addresses, and services that
 * select the proxy's pod.
 *
 * @module
 */
import { compareTexts } from "../kernel/text/compare.ts";
import { canonicalIp } from "./address.ts";
import type { EndpointPlacement } from "./endpoint_index.ts";
import type { Endpoint, Service, ServiceKey, ServicePort, Workload } from "./types.ts";

/** A port of a service that a proxy serves. */
export interface ServiceTarget {
  readonly service: Service;
  readonly port: ServicePort;
  /** The application's port at the workload; 0 for a Unix socket. */
  readonly endpointPort: number;
}

/** The asking proxy. */
export interface ProxyPlace {
  /** The proxy's own IP addresses, the main address first. */
  readonly addresses: readonly string[];
  /** Only services of this namespace are the proxy's own; empty: of any namespace. */
  readonly namespace: string;
  /**
   * The proxy's cluster. Of endpoints reported by orchestrators, only endpoints of this cluster are the proxy's own.
   * Empty: of any cluster.
   */
  readonly clusterId: string;
  /** The proxy's pod (`pod/NAMESPACE/NAME`), among several pods at the address of their node. Default: not known. */
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
 * The proxy's own services and ports, without duplicates: the oldest service first, then by host, by the place of the
 * port in its service, and by endpoint port. If two want the same endpoint port, the first gets the port.
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

/**
 * The workloads of a proxy among the workloads at the proxy's address. Pods share the address of their node: if the
 * proxy's own pod is known, only this pod counts.
 */
export function ownWorkloads(proxy: ProxyPlace, all: readonly Workload[]): readonly Workload[] {
  const own = all.filter(({ id, clusterId }) => id === proxy.pod && sameCluster(proxy, { clusterId }));
  return own.length > 0 ? own : all;
}

/**
 * Addresses may repeat from cluster to cluster. Endpoints of configuration (service entries) belong to no cluster and
 * are not compared: a proxy and this server may call the proxy's cluster by different names.
 */
function sameCluster(proxy: ProxyPlace, endpoint: Pick<Endpoint, "clusterId">): boolean {
  return proxy.clusterId === "" || endpoint.clusterId === "" || endpoint.clusterId === proxy.clusterId;
}

function byAgeAndName(a: ServiceTarget, b: ServiceTarget): number {
  return a.service.creationTimestamp - b.service.creationTimestamp ||
    compareTexts(a.service.hostname, b.service.hostname) || compareTexts(a.service.namespace, b.service.namespace) ||
    a.service.ports.indexOf(a.port) - b.service.ports.indexOf(b.port) || a.endpointPort - b.endpointPort;
}
