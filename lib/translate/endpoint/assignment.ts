/**
 * Load assignments: which endpoints a cluster has, in which order of preference.
 *
 *     endpoints of the host -> usable by the proxy -> port, subset -> by locality -> weights, priorities
 *
 * Names and subsets come from `destinations`, as those of clusters do, so that the two always meet.
 *
 * @module
 */
import type { Endpoint, Service } from "../../registry/types.ts";
import type { Built } from "../message/built.ts";
import { acceptsPeerTls, asksForPeerTls, marksEndpoints } from "../destination/automatic_tls.ts";
import { localityPlan } from "../destination/locality_setting.ts";
import { parseOutboundClusterName } from "../destination/names.ts";
import { causesOf, destinationOf, type DestinationPlan, destinations } from "../destination/plan.ts";
import type { Reader } from "../reader/reader.ts";
import type { LeanAssignment } from "./encode.ts";
import { type ReachedCandidate, withEntrances } from "./entered.ts";
import { byLocality, type EndpointCandidate, type Group, localityLbEndpoints } from "./group.ts";
import { lbEndpoint } from "./lb_endpoint.ts";
import { applyLocality } from "./priority.ts";
import { entrancesTo, hasLabels, isResolved, usableEndpoints } from "./select.ts";

/** Load assignments of all clusters of a host that get them over EDS; one without endpoints is empty, not missing. */
export function loadAssignments(read: Reader, host: string): Built<LeanAssignment>[] {
  const wanted = destinations(read, host).filter((d) => d.discovery === "eds");
  const service = wanted[0]?.service;
  if (service === undefined) return [];
  const usable = usableEndpoints(read, service);
  const byPort = new Map<string, ReachedCandidate[]>();
  return wanted.map((d) => {
    let candidates = byPort.get(d.port.name);
    if (candidates === undefined) {
      candidates = candidatesOf(read, service, usable, d.port.name);
      byPort.set(d.port.name, candidates);
    }
    return { message: assignment(read, d, candidates), causes: causesOf(d) };
  });
}

/**
 * The load assignment of one cluster by its name. A name that stands for no EDS cluster (its host is not visible, its
 * port or subset is gone, the proxy resolves it) gets an empty assignment: an answer, so that no proxy waits for one.
 */
export function loadAssignment(read: Reader, clusterName: string): Built<LeanAssignment> {
  const parts = parseOutboundClusterName(clusterName);
  const d = parts && destinationOf(read, parts.host, parts.port, parts.subset);
  if (d === undefined || d.discovery !== "eds") return { message: { cluster_name: clusterName }, causes: [] };
  const candidates = candidatesOf(read, d.service, usableEndpoints(read, d.service), d.port.name);
  return { message: assignment(read, d, candidates), causes: causesOf(d) };
}

/** Endpoints for a cluster whose names the proxy resolves itself: names are allowed, Unix sockets are not. */
export function resolvedByProxy(read: Reader, d: DestinationPlan): Group[] {
  const toCandidate = candidate(read, d.service);
  const candidates = usableEndpoints(read, d.service)
    .filter((e) => e.portName === d.port.name && !e.address.startsWith("unix://"))
    .filter((e) => hasLabels(e, d.subset?.labels))
    // A gateway knows no name that the proxy resolves.
    .filter((e) => entrancesTo(read, e).length === 0)
    .map((e) => toCandidate(e));
  return applyLocality(read, byLocality(candidates), localityPlan(read, d));
}

function candidatesOf(
  read: Reader,
  service: Service,
  usable: readonly Endpoint[],
  portName: string,
): ReachedCandidate[] {
  const found: ReachedCandidate[] = [];
  const toCandidate = candidate(read, service);
  for (const endpoint of usable) {
    if (endpoint.portName !== portName || !isResolved(endpoint.address)) continue;
    const entrances = entrancesTo(read, endpoint);
    if (entrances.length === 0) found.push(toCandidate(endpoint));
    // Whether one behind a gateway works is for the gateway's network to see.
    else if (endpoint.health === "healthy" && isMutual(read, service, endpoint)) {
      found.push({ ...toCandidate(endpoint), entrances });
    }
  }
  return found;
}

/** The endpoint comes first: where none accepts mutual TLS, nothing is asked about the proxy. */
function isMutual(read: Reader, service: Service, endpoint: Endpoint): boolean {
  return acceptsPeerTls(read, endpoint) && marksEndpoints(read, service);
}

function candidate(read: Reader, service: Service): (endpoint: Endpoint) => EndpointCandidate {
  return (endpoint) => {
    return { endpoint, message: lbEndpoint(read.settings, service, endpoint, isMutual(read, service, endpoint)) };
  };
}

function assignment(read: Reader, d: DestinationPlan, candidates: readonly ReachedCandidate[]): LeanAssignment {
  const labels = d.subset?.labels;
  const own = labels === undefined ? candidates : candidates.filter((c) => hasLabels(c.endpoint, labels));
  const chosen = asksForPeerTls(d) ? own : own.filter((c) => c.entrances === undefined);
  if (chosen.length === 0) return { cluster_name: d.name };
  const groups = applyLocality(read, byLocality(withEntrances(chosen)), localityPlan(read, d));
  return { cluster_name: d.name, endpoints: groups.map(localityLbEndpoints) };
}
