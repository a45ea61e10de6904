/**
 * Endpoints for datagrams. The gateway dials each endpoint directly: entrances of other networks take no datagrams.
 *
 * @module
 */
import { datagramDestinations } from "../destination/datagrams.ts";
import { localityPlan } from "../destination/locality_setting.ts";
import { causesOf, type DestinationPlan } from "../destination/plan.ts";
import type { Built } from "../message/built.ts";
import type { Reader } from "../reader/reader.ts";
import type { LeanAssignment } from "./encode.ts";
import { byLocality, type Group, localityLbEndpoints } from "./group.ts";
import { lbEndpoint } from "./lb_endpoint.ts";
import { applyLocality } from "./priority.ts";
import { entrancesTo, isResolved, usableEndpoints } from "./select.ts";

/** Load assignments of all EDS clusters of a host. A cluster without endpoints has an empty assignment. */
export function datagramAssignments(read: Reader, host: string): Built<LeanAssignment>[] {
  return datagramDestinations(read, host).filter(({ discovery }) => discovery === "eds").map((d) => {
    const endpoints = datagramGroups(read, d).map(localityLbEndpoints);
    return { message: { cluster_name: d.name, ...(endpoints.length > 0 && { endpoints }) }, causes: causesOf(d) };
  });
}

/** The endpoints of a cluster for datagrams. */
export function datagramGroups(read: Reader, d: DestinationPlan): Group[] {
  const dialled = usableEndpoints(read, d.service).filter((endpoint) => {
    const fits = d.discovery === "eds" ? isResolved(endpoint.address) : !endpoint.address.startsWith("unix://");
    return endpoint.portName === d.port.name && fits && endpoint.address !== "" &&
      entrancesTo(read, endpoint).length === 0;
  });
  const candidates = dialled.map((endpoint) => {
    return { endpoint, message: lbEndpoint(read.settings, d.service, endpoint, "plain") };
  });
  return applyLocality(read, byLocality(candidates), localityPlan(read, d));
}
