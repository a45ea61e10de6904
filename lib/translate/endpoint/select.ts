/**
 * The endpoints of a service that a proxy may use, before selection by port and subset.
 *
 * A property of the proxy is read only if an endpoint makes the property matter. So a service in one network and one
 * cluster is built once for all proxies.
 *
 * @module
 */
import type { Endpoint, NetworkEntrance, Service } from "../../registry/types.ts";
import { isHboneEndpoint } from "../../registry/labels.ts";
import { acceptsPeerTls } from "../destination/automatic_tls.ts";
import { sendsDraining, sendsUnhealthy } from "../destination/health.ts";
import { isServedByWaypoint, sendsHbone } from "../hbone/ability.ts";
import type { Reader } from "../reader/reader.ts";
import { clusterLocal } from "./cluster_local.ts";

/** Endpoints of the service that the proxy may use, in the registry's order. See {@linkcode entrancesTo}. @param all default: of the visible service */
export function usableEndpoints(
  read: Reader,
  service: Service,
  all: readonly Endpoint[] = read.endpoints(service.hostname),
): readonly Endpoint[] {
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

/** The gateways into the endpoint's network. Empty: the proxy dials the endpoint directly. */
export function entrancesTo(read: Reader, endpoint: Pick<Endpoint, "network">): readonly NetworkEntrance[] {
  // Another network without a gateway counts as reachable.
  return isFar(read, endpoint) ? read.entrances(endpoint.network) : DIALLED;
}

/** Whether the endpoint is in another network than the proxy. A proxy that names no network is in every network. */
export function isFar(read: Reader, { network }: Pick<Endpoint, "network">): boolean {
  return network !== "" && !read.derived(`inNetwork/${network}`, (t) => t.network === "" || t.network === network);
}

/** Gateways of the endpoint's cluster if there are some, because other gateways may not know the service. */
export function nearEntrances(
  all: readonly NetworkEntrance[],
  { clusterId }: Endpoint,
): readonly NetworkEntrance[] {
  if (all.length < 2) return all;
  const near = all.filter(({ clusterIds }) => clusterIds?.includes(clusterId));
  return near.length === 0 || near.length === all.length ? all : near;
}

/**
 * The way to an endpoint in another network, if the endpoint takes HBONE:
 *
 *     client ── CONNECT HOST:PORT, mutual TLS ──> gateway of the network :15008
 *         └──── CONNECT HOST:PORT, mutual TLS ─────────┴──> workload or waypoint :15008
 *
 * The gateway sees only the outer CONNECT. The inner connection ends at the workload, whose identity the client verifies.
 *
 * - `hbone`: through a gateway that takes HBONE. The waypoint of a global service takes HBONE for all its workloads.
 * - `closed`: the endpoint takes HBONE, and the proxy cannot reach it there: the service is not global, or the network has
 *   no gateway. Such an endpoint is never dialled directly.
 * - `other`: as without HBONE: the endpoint is in the proxy's own network, or is reached by mutual TLS or in plain text.
 *
 * Mutual TLS has precedence over HBONE at an endpoint that takes both, if the network has a gateway for mutual TLS, and
 * unless HBONE is preferred.
 */
export function wayInto(read: Reader, { hostname }: Service, endpoint: Endpoint): "hbone" | "closed" | "other" {
  if (!read.settings.multiNetwork || !isFar(read, endpoint)) return "other";
  if (!isHboneEndpoint(endpoint) && !isServedByWaypoint(read, hostname)) return "other";
  const all = read.entrances(endpoint.network);
  const canTunnel = all.some(({ hbone }) => hbone) && read.isGlobal(hostname) && sendsHbone(read);
  const prefersTunnel = (read.settings.prefersHbone || endpoint.tlsMode !== "mesh") && sendsHbone(read);
  if (prefersTunnel && canTunnel) return "hbone";
  const byName = all.length === 0 ? !prefersTunnel : all.some(({ hbone }) => !hbone);
  if (byName && acceptsPeerTls(read, endpoint)) return "other";
  return canTunnel ? "hbone" : "closed";
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
