/**
 * The clusters of a host for gRPC libraries, with the discovery of endpoints: over EDS, or by resolving a name.
 *
 * @module
 */
import { isWildcard } from "../../mesh/host_match.ts";
import { type DestinationPlan, destinations } from "../destination/plan.ts";
import type { Endpoint } from "../../registry/types.ts";
import { entrancesTo, hasLabels, isResolved, usableEndpoints } from "../endpoint/select.ts";
import type { Reader } from "../reader/reader.ts";

/** A destination in the form for libraries. */
export interface LibraryDestination {
  readonly plan: DestinationPlan;
  /** The endpoints with a port and a dialled address or name. */
  readonly endpoints: readonly Endpoint[];
  /** The only name to resolve. Absent: endpoints come over EDS. */
  readonly name?: Endpoint;
  /** Why libraries have no such cluster. */
  readonly without?: string;
}

/** The destinations of a host. Empty for hosts with a wildcard, which nobody can dial. */
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

/**
 * Whether a library can dial the endpoint: not by a Unix socket, and not through a gateway, because a library cannot
 * tell a gateway the service.
 */
function isDialled(read: Reader, endpoint: Endpoint): boolean {
  return endpoint.address !== "" && !endpoint.address.startsWith("unix://") &&
    entrancesTo(read, endpoint).length === 0;
}

/** Removes repeated addresses: libraries refuse repeated endpoints. */
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
  return {
    plan,
    endpoints,
    without: "gRPC clients resolve a single name per cluster, and this cluster has several endpoints",
  };
}
