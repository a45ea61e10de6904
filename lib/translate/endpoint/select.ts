/**
 * The endpoints of a service that a proxy may use, before selection by port and subset.
 *
 * A property of the proxy is read only if an endpoint makes the property matter. So a service in one network and one
 * cluster is built once for all proxies.
 *
 * @module
 */
import type { Endpoint, NetworkEntrance, Service } from "../../registry/types.ts";
import { sendsDraining, sendsUnhealthy } from "../destination/health.ts";
import type { Reader } from "../reader/reader.ts";
import { clusterLocal } from "./cluster_local.ts";

/** Endpoints of the service that the proxy may use, in the registry's order. See {@linkcode entrancesTo}. */
export function usableEndpoints(read: Reader, service: Service): readonly Endpoint[] {
  const all = read.endpoints(service.hostname);
  if (all.length === 0) return all;
  const { drainingLabel } = read.settings;
  const unhealthy = sendsUnhealthy(read.settings, service);
  const draining = sendsDraining(read.settings, service);
  const nodeLocal = service.nodeLocal === true;
  const ownCluster = nodeLocal || clusterLocal(read, service.hostname) ? read.property("clusterId") : undefined;
  const ownNode = nodeLocal ? read.property("nodeName") : undefined;
  return all.filter((e) => {
    if (e.health === "unhealthy" && !unhealthy) return false;
    if (isDraining(e, drainingLabel) && !draining) return false;
    if (ownCluster !== undefined && e.clusterId !== ownCluster) return false;
    if (!mayUse(read, e)) return false;
    if (ownNode !== undefined && e.nodeName !== ownNode) return false;
    return e.network === "" || asksForNetwork(read, e.network);
  });
}

/** Whether the endpoint is offered to the proxy: to every proxy, or only to proxies of the endpoint's cluster. */
export function mayUse(read: Reader, { ownClusterOnly, clusterId }: Endpoint): boolean {
  return !ownClusterOnly || read.property("clusterId") === clusterId;
}

/** Whether the registry or the label marks an endpoint as draining: no new sessions. */
export function isDraining(endpoint: Endpoint, drainingLabel: string): boolean {
  return endpoint.health === "draining" || (drainingLabel !== "" && !!endpoint.labels[drainingLabel]);
}

function asksForNetwork(read: Reader, network: string): boolean {
  return read.derived(`asksForNetwork/${network}`, (t) => {
    return t.requestedNetworks === "" || t.requestedNetworks.split(",").includes(network);
  });
}

/**
 * The gateways through which the proxy enters the endpoint's network. Empty: the proxy dials the endpoint directly.
 * Gateways of the endpoint's cluster are preferred, because other gateways may not know the service.
 */
export function entrancesTo(read: Reader, { network, clusterId }: Endpoint): readonly NetworkEntrance[] {
  if (network === "") return DIALLED;
  const isOwn = read.derived(`inNetwork/${network}`, (t) => t.network === "" || t.network === network);
  // Another network without a gateway counts as reachable.
  const all = isOwn ? DIALLED : read.entrances(network);
  if (all.length < 2) return all;
  const near = all.filter(({ clusterIds }) => clusterIds?.includes(clusterId));
  return near.length === 0 || near.length === all.length ? all : near;
}

const DIALLED: readonly NetworkEntrance[] = Object.freeze([]);

/** Whether an endpoint carries all labels of a subset. */
export function hasLabels(endpoint: Endpoint, labels: Readonly<Record<string, string>> | undefined): boolean {
  if (labels === undefined) return true;
  for (const key in labels) {
    if (endpoint.labels[key] !== labels[key]) return false;
  }
  return true;
}

const ipv4 = /^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/;

/** Whether EDS may carry the address: an IP address or a Unix socket. Envoy refuses an assignment with a host name. */
export function isResolved(address: string): boolean {
  return ipv4.test(address) || address.includes(":");
}
