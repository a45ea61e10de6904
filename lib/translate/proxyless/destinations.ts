/**
 * The clusters of a host for gRPC libraries, and their discovery of endpoints: over EDS, or by resolving one name.
 *
 * @module
 */
import { isWildcard } from "../../mesh/host_match.ts";
import { type DestinationPlan, destinations } from "../destination/plan.ts";
import type { Endpoint } from "../../registry/types.ts";
import { entrancesTo, hasLabels, isResolved, usableEndpoints } from "../endpoint/select.ts";
import type { Reader } from "../reader/reader.ts";

/** A destination as a library may have it. */
export interface LibraryDestination {
  readonly plan: DestinationPlan;
  /** Its endpoints: those with a port, and with an address or name that is dialled itself. */
  readonly endpoints: readonly Endpoint[];
  /** The one name to resolve; absent: endpoints come over EDS. */
  readonly name?: Endpoint;
  /** Why there is no such cluster. */
  readonly without?: string;
}

/** Those of a host; hosts with a wildcard, which nobody can dial, have none. */
export function libraryDestinations(read: Reader, host: string): LibraryDestination[] {
  const plans = isWildcard(host) ? [] : destinations(read, host);
  const service = plans[0]?.service;
  if (service === undefined) return [];
  const usable = usableEndpoints(read, service).filter((endpoint) => isDialled(read, endpoint));
  return plans.map((plan) => {
    const labels = plan.subset?.labels;
    const own = usable.filter((one) => one.portName === plan.port.name && hasLabels(one, labels));
    return destinationOf(plan, distinct(own));
  });
}

/** Not by a socket in the file system, and not through a gateway, to which a library cannot name the service. */
function isDialled(read: Reader, endpoint: Endpoint): boolean {
  return endpoint.address !== "" && !endpoint.address.startsWith("unix://") &&
    entrancesTo(read, endpoint).length === 0;
}

/** Libraries refuse endpoints with an address that comes twice. */
function distinct(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const seen = new Set<string>();
  return endpoints.filter(({ address, port }) => {
    const key = `${port} ${address}`;
    return !seen.has(key) && seen.add(key);
  });
}

function destinationOf(plan: DestinationPlan, all: readonly Endpoint[]): LibraryDestination {
  const endpoints = all.filter(({ address }) => isResolved(address));
  const names = all.filter(({ address }) => !isResolved(address));
  const [name, ...more] = names;
  if (name === undefined || plan.discovery === "eds") return { plan, endpoints };
  if (plan.discovery === "logicalDns" || more.length === 0 && endpoints.length === 0) return { plan, endpoints, name };
  return { plan, endpoints, without: "gRPC clients resolve one name for a cluster, and this has several endpoints" };
}
