/**
 * Load assignments: the endpoints of a cluster, in order of preference.
 *
 *     endpoints of the host -> usable by the proxy -> port, subset -> by locality -> weights, priorities
 *
 * Names and subsets come from `destinations`, as in cluster builders, so every EDS cluster has a load assignment.
 *
 * @module
 */
import type { Endpoint, Service, ServicePort } from "../../registry/types.ts";
import type { Built } from "../message/built.ts";
import { acceptsPeerTls, asksForPeerTls, marksEndpoints } from "../destination/automatic_tls.ts";
import { localityPlan } from "../destination/locality_setting.ts";
import { parseOutboundClusterName } from "../destination/names.ts";
import { causesOf, destinationOf, type DestinationPlan, destinations } from "../destination/plan.ts";
import { isReachedByHbone } from "../hbone/ability.ts";
import { ingressPath } from "../hbone/ingress.ts";
import type { Reader } from "../reader/reader.ts";
import type { LeanAssignment } from "./encode.ts";
import { type ReachedCandidate, withEntrances } from "./entered.ts";
import { byLocality, type Group, localityLbEndpoints } from "./group.ts";
import { lbEndpoint } from "./lb_endpoint.ts";
import { applyLocality } from "./priority.ts";
import { entrancesTo, hasLabels, isResolved, nearEntrances, usableEndpoints, wayInto } from "./select.ts";
import { waypointAssignment } from "./waypoint.ts";

/** Load assignments of all EDS clusters of a host. A cluster without endpoints has an empty assignment. */
export function loadAssignments(read: Reader, host: string): Built<LeanAssignment>[] {
  const wanted = destinations(read, host).filter((d) => d.discovery === "eds");
  const service = wanted[0]?.service;
  if (service === undefined) return [];
  const usable = usableEndpoints(read, service);
  const byPort = new Map<string, ReachedCandidate[]>();
  return wanted.map((d) => {
    const path = ingressPath(read, d);
    if (path?.way === "waypoint") return { message: waypointAssignment(read, d, path), causes: causesOf(d) };
    if (path?.way === "closed") return { message: { cluster_name: d.name }, causes: causesOf(d) };
    let candidates = byPort.get(d.port.name);
    if (candidates === undefined) {
      candidates = candidatesOf(read, service, usable, d.port);
      byPort.set(d.port.name, candidates);
    }
    return { message: assignment(read, d, candidates), causes: causesOf(d) };
  });
}

/**
 * The load assignment of a cluster by name. If no EDS cluster has the name (invisible host, missing port or subset,
 * endpoints resolved by the proxy), the assignment is empty: an answer, so that no proxy waits for endpoints.
 */
export function loadAssignment(read: Reader, clusterName: string): Built<LeanAssignment> {
  const parts = parseOutboundClusterName(clusterName);
  const d = parts && destinationOf(read, parts.host, parts.port, parts.subset);
  if (d === undefined || d.discovery !== "eds") return { message: { cluster_name: clusterName }, causes: [] };
  const path = ingressPath(read, d);
  if (path?.way === "waypoint") return { message: waypointAssignment(read, d, path), causes: causesOf(d) };
  if (path?.way === "closed") return { message: { cluster_name: clusterName }, causes: causesOf(d) };
  const candidates = candidatesOf(read, d.service, usableEndpoints(read, d.service), d.port);
  return { message: assignment(read, d, candidates), causes: causesOf(d) };
}

/** Endpoints for a cluster whose host names the proxy resolves. Addresses may be host names, but not Unix sockets. */
export function resolvedByProxy(read: Reader, d: DestinationPlan): Group[] {
  const candidates = usableEndpoints(read, d.service)
    .filter((e) => e.portName === d.port.name && !e.address.startsWith("unix://"))
    .flatMap((e) => reached(read, d.service, e, undefined) ?? []);
  return chosen(read, d, candidates);
}

function candidatesOf(
  read: Reader,
  service: Service,
  usable: readonly Endpoint[],
  port: ServicePort,
): ReachedCandidate[] {
  const found: ReachedCandidate[] = [];
  for (const endpoint of usable) {
    if (endpoint.portName !== port.name || endpoint.address !== "" && !isResolved(endpoint.address)) continue;
    const candidate = reached(read, service, endpoint, port);
    if (candidate !== undefined) found.push(candidate);
  }
  return found;
}

/**
 * The way to an endpoint; undefined: the proxy cannot reach the endpoint.
 *
 * @param port Of the service, for endpoints in clusters with endpoints from EDS: other clusters have no gateways for HBONE.
 */
function reached(
  read: Reader,
  service: Service,
  endpoint: Endpoint,
  port: ServicePort | undefined,
): ReachedCandidate | undefined {
  const far = wayInto(read, service, endpoint);
  if (far === "closed") return undefined;
  if (far === "hbone") return port === undefined ? undefined : throughGateway(read, service, endpoint, port);
  const all = entrancesTo(read, endpoint);
  const dialled = all.length === 0;
  const entrances = nearEntrances(all.filter(({ hbone }) => !hbone), endpoint);
  if (!dialled && entrances.length === 0) return undefined;
  // Without an address, the endpoint is reachable only through a gateway. The health of an endpoint behind a gateway is
  // a matter of the gateway's network.
  if (dialled ? endpoint.address === "" : endpoint.health !== "healthy") return undefined;
  const way = wayTo(read, service, endpoint, dialled && isResolved(endpoint.address));
  if (!dialled && way !== "mutual") return undefined;
  const candidate = { endpoint, message: lbEndpoint(read.settings, service, endpoint, way) };
  return dialled ? candidate : { ...candidate, entrances };
}

/** An endpoint behind gateways for HBONE. The health of the endpoint is a matter of the gateway's network. */
function throughGateway(
  read: Reader,
  service: Service,
  endpoint: Endpoint,
  port: ServicePort,
): ReachedCandidate | undefined {
  if (endpoint.health !== "healthy") return undefined;
  const entrances = nearEntrances(entrancesTo(read, endpoint).filter(({ hbone }) => hbone === true), endpoint);
  const named = `${service.hostname}:${port.port}`;
  return { endpoint, message: lbEndpoint(read.settings, service, endpoint, "plain"), entrances, named };
}

/**
 * The endpoint's properties come first: if the endpoint accepts neither mutual TLS nor HBONE, the proxy is not queried.
 */
function wayTo(read: Reader, service: Service, endpoint: Endpoint, named: boolean): "plain" | "mutual" | "hbone" {
  if (named && isReachedByHbone(read, endpoint)) return "hbone";
  return acceptsPeerTls(read, endpoint) && marksEndpoints(read, service) ? "mutual" : "plain";
}

function assignment(read: Reader, d: DestinationPlan, candidates: readonly ReachedCandidate[]): LeanAssignment {
  const groups = chosen(read, d, candidates);
  return { cluster_name: d.name, ...(groups.length > 0 && { endpoints: groups.map(localityLbEndpoints) }) };
}

/** The candidates in a destination's cluster, by locality. */
function chosen(read: Reader, d: DestinationPlan, candidates: readonly ReachedCandidate[]): Group[] {
  const labels = d.subset?.labels;
  const own = labels === undefined ? candidates : candidates.filter((c) => hasLabels(c.endpoint, labels));
  // A gateway for HBONE chooses among all endpoints, whatever subset the client wants.
  const fitting = own.filter(({ entrances, named }) =>
    entrances === undefined || (named === undefined ? asksForPeerTls(d) : labels === undefined)
  );
  if (fitting.length === 0) return [];
  return applyLocality(read, byLocality(withEntrances(fitting)), localityPlan(read, d));
}
