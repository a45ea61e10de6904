/**
 * Endpoints of connections that a gateway passes on. The gateway does not decrypt connections, so only endpoints that
 * accept mutual TLS qualify. The gateway dials each endpoint directly: a gateway of a third network might pass the
 * connection back.
 *
 * @module
 */
import type { Endpoint } from "../../registry/types.ts";
import { acceptsPeerTls } from "../destination/automatic_tls.ts";
import { localityPlan } from "../destination/locality_setting.ts";
import { passedDestinations } from "../destination/passed.ts";
import { causesOf, type DestinationPlan } from "../destination/plan.ts";
import type { Built } from "../message/built.ts";
import type { Reader } from "../reader/reader.ts";
import type { LeanAssignment } from "./encode.ts";
import { byLocality, type Group, localityLbEndpoints } from "./group.ts";
import { lbEndpoint } from "./lb_endpoint.ts";
import { applyLocality } from "./priority.ts";
import { entrancesTo, hasLabels, isResolved, usableEndpoints } from "./select.ts";

/** Load assignments of all EDS clusters of a host. A cluster without endpoints has an empty assignment. */
export function passedAssignments(read: Reader, host: string): Built<LeanAssignment>[] {
  return passedDestinations(read, host).filter(({ discovery }) => discovery === "eds").map((d) => {
    const endpoints = passedGroups(read, d).map(localityLbEndpoints);
    return { message: { cluster_name: d.name, ...(endpoints.length > 0 && { endpoints }) }, causes: causesOf(d) };
  });
}

/** The endpoints of a cluster of passed connections. */
export function passedGroups(read: Reader, d: DestinationPlan): Group[] {
  const dialled = usableEndpoints(read, d.service).filter((endpoint) => isDialled(read, d, endpoint));
  const candidates = dialled.map((endpoint) => {
    return { endpoint, message: lbEndpoint(read.settings, d.service, endpoint, "plain") };
  });
  return applyLocality(read, byLocality(candidates), localityPlan(read, d));
}

function isDialled(read: Reader, { port, subset, discovery }: DestinationPlan, endpoint: Endpoint): boolean {
  if (endpoint.portName !== port.name || !hasLabels(endpoint, subset?.labels)) return false;
  const fits = discovery === "eds" ? isResolved(endpoint.address) : !endpoint.address.startsWith("unix://");
  return fits && endpoint.address !== "" && acceptsPeerTls(read, endpoint) && entrancesTo(read, endpoint).length === 0;
}
