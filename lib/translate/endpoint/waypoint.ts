/**
 * The pods of a waypoint as endpoints of a service behind the waypoint: a gateway opens a tunnel to a pod, for the address
 * of the service.
 *
 * @module
 */
import { hostAndPort } from "../values/host.ts";
import { localityPlan } from "../destination/locality_setting.ts";
import type { DestinationPlan } from "../destination/plan.ts";
import { DIALLED_METADATA, DIALLED_WAYPOINT, HBONE_PORT } from "../hbone/names.ts";
import type { IngressPath } from "../hbone/ingress.ts";
import type { Reader } from "../reader/reader.ts";
import type { LeanAssignment, LeanEndpoint } from "./encode.ts";
import { byLocality, localityLbEndpoints } from "./group.ts";
import { lbEndpoint } from "./lb_endpoint.ts";
import { applyLocality } from "./priority.ts";
import { entrancesTo, isResolved, usableEndpoints } from "./select.ts";

/** The load assignment of a destination that is reached through its waypoint. Subsets are chosen by the waypoint. */
export function waypointAssignment(
  read: Reader,
  d: DestinationPlan,
  { host, dialled }: Extract<IngressPath, { way: "waypoint" }>,
): LeanAssignment {
  const service = read.waypointService(host);
  const port = service?.ports.find((one) => one.port === HBONE_PORT);
  if (service === undefined || port === undefined) return { cluster_name: d.name };
  const candidates = usableEndpoints(read, service, read.waypointEndpoints(host))
    .filter((one) =>
      one.portName === port.name && isResolved(one.address) && !one.address.startsWith("unix://") &&
      entrancesTo(read, one).length === 0
    )
    .map((one) => {
      const endpoint = { ...one, port: HBONE_PORT };
      const message = lbEndpoint(read.settings, service, endpoint, "hbone");
      return { endpoint, message: behind(message, dialled, hostAndPort(endpoint.address, endpoint.port)) };
    });
  const groups = applyLocality(read, byLocality(candidates), localityPlan(read, d));
  return { cluster_name: d.name, ...(groups.length > 0 && { endpoints: groups.map(localityLbEndpoints) }) };
}

/** The message of a waypoint's pod, for another dialled address. */
function behind({ metadata, ...message }: LeanEndpoint, dialled: string, pod: string): LeanEndpoint {
  const fields = { local: { stringValue: dialled }, [DIALLED_WAYPOINT]: { stringValue: pod } };
  return {
    ...message,
    metadata: { filter_metadata: { ...metadata?.filter_metadata, [DIALLED_METADATA]: { fields } } },
  };
}
