/**
 * Endpoints of connections that a gateway passes on: those that accept mutual TLS and that it dials itself. It sees
 * nothing of a connection, so nothing else may get it; and it passes none on to the gateway of a third network, which
 * might pass it back.
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

/** Load assignments of the clusters of a host that get them over EDS; one without endpoints is empty, not missing. */
export function passedAssignments(read: Reader, host: string): Built<LeanAssignment>[] {
  return passedDestinations(read, host).filter(({ discovery }) => discovery === "eds").map((d) => {
    const endpoints = passedGroups(read, d).map(localityLbEndpoints);
    return { message: { cluster_name: d.name, ...(endpoints.length > 0 && { endpoints }) }, causes: causesOf(d) };
  });
}

/** The endpoints of one such cluster. */
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
