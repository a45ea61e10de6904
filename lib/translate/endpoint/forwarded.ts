/**
 * Endpoints of connections that a gateway between networks forwards. The connections are HBONE, so only workloads that take
 * HBONE qualify, or the pods of the service's waypoint. Workloads of other networks are left to the gateways of their
 * networks, which might send the connection back.
 *
 * @module
 */
import type { Endpoint } from "../../registry/types.ts";
import { isHboneEndpoint } from "../../registry/labels.ts";
import { localityPlan } from "../destination/locality_setting.ts";
import { forwardedDestinations } from "../destination/forwarded.ts";
import { causesOf, type DestinationPlan } from "../destination/plan.ts";
import { HBONE_PORT } from "../hbone/names.ts";
import type { Built } from "../message/built.ts";
import type { Reader } from "../reader/reader.ts";
import type { LeanAssignment } from "./encode.ts";
import { byLocality, localityLbEndpoints } from "./group.ts";
import { lbEndpoint } from "./lb_endpoint.ts";
import { applyLocality } from "./priority.ts";
import { isResolved, usableEndpoints } from "./select.ts";

/** Load assignments of all clusters of a host. A cluster without endpoints has an empty assignment. */
export function forwardedAssignments(read: Reader, host: string): Built<LeanAssignment>[] {
  return forwardedDestinations(read, host).map((d) => {
    const candidates = distinct(servers(read, d).filter((one) => isOwn(read, one))).map((one) => {
      const endpoint = { ...one, port: HBONE_PORT };
      return { endpoint, message: lbEndpoint(read.settings, d.service, endpoint, "plain") };
    });
    const endpoints = applyLocality(read, byLocality(candidates), localityPlan(read, d)).map(localityLbEndpoints);
    return { message: { cluster_name: d.name, ...(endpoints.length > 0 && { endpoints }) }, causes: causesOf(d) };
  });
}

/**
 * The pods of the service's waypoint, if it has a waypoint: nothing passes around the waypoint's policies. A service whose
 * waypoint is not used is closed if a policy needs the waypoint.
 */
function servers(read: Reader, { service, port }: DestinationPlan): readonly Endpoint[] {
  const waypoint = read.waypointOf(service.hostname);
  if (waypoint === undefined) {
    if (read.forwardedWay(service.hostname)?.isClosed) return [];
    return usableEndpoints(read, service).filter((one) => one.portName === port.name && isHboneEndpoint(one));
  }
  const host = read.waypointHost(waypoint);
  const before = host === undefined ? undefined : read.waypointService(host);
  const hbone = before?.ports.find((one) => one.port === HBONE_PORT);
  if (host === undefined || before === undefined || hbone === undefined) return [];
  return usableEndpoints(read, before, read.waypointEndpoints(host)).filter(({ portName }) => portName === hbone.name);
}

/** Whether an endpoint is a machine in the gateway's own network. */
function isOwn(read: Reader, { address, network }: Endpoint): boolean {
  if (!isResolved(address) || address.startsWith("unix://")) return false;
  return network === "" || read.derived(`isOwnNetwork/${network}`, (t) => t.network === network);
}

/** The same machine may have several ports of one name. */
function distinct(endpoints: readonly Endpoint[]): Endpoint[] {
  return [...new Map(endpoints.map((one) => [one.address, one])).values()];
}
