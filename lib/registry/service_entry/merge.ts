/**
 * Several ServiceEntry objects of the same namespace and host become a single service.
 *
 * - The oldest entry (then the first by name) is the base.
 * - Entries with the same export rule add ports that no older entry has, with the ports' endpoints. Each port is
 *   resolved by the rule of its own entry.
 * - An entry adds its endpoints to a port of an older entry, if both entries have the same resolution.
 * - Entries that also have the same resolution, labels and selector add their addresses.
 *
 * @module
 */
import { samePlain } from "../content.ts";
import { resolutionOf, type Service, type ServicePort } from "../types.ts";
import type { ConvertedEntry } from "./convert.ts";

/** An entry's part of a merged service. */
export interface ServiceFragment {
  readonly entry: ConvertedEntry;
  /**
   * Name of each port in the merged service, by the port's own name; ports left out are absent. Undefined: all ports
   * keep their names.
   */
  readonly portNames: ReadonlyMap<string, string> | undefined;
}

/** The service of a host with its endpoints. */
export interface MergedService {
  readonly service: Service;
  readonly fragments: readonly ServiceFragment[];
}

/**
 * Merges the entries of a host and namespace.
 *
 * @param entries Not empty, in any order.
 */
export function mergeEntries(host: string, entries: readonly ConvertedEntry[]): MergedService {
  const [base, ...others] = entries.length === 1 ? entries : [...entries].sort(byAge);
  if (others.length === 0) {
    const { ports, addresses, subjectAltNames } = base!;
    const service = serviceOf(host, base!, ports, addresses, subjectAltNames, []);
    return { service, fragments: [{ entry: base!, portNames: undefined }] };
  }
  const ports: ServicePort[] = [...base!.ports];
  const addresses = new Set(base!.addresses);
  const subjectAltNames = new Set(base!.subjectAltNames);
  const fragments: ServiceFragment[] = [{ entry: base!, portNames: undefined }];
  const also: string[] = [];
  for (const entry of others) {
    const alike = samePlain(mergedParts(entry), mergedParts(base!));
    const portNames = placePorts(entry, ports, base!, samePlain(entry.exportTo, base!.exportTo));
    if (portNames.size === 0 && !alike) continue;
    fragments.push({ entry, portNames });
    also.push(entry.key);
    if (!alike) continue;
    for (const address of entry.addresses) addresses.add(address);
    for (const name of entry.subjectAltNames) subjectAltNames.add(name);
  }
  return { service: serviceOf(host, base!, ports, [...addresses], [...subjectAltNames], also), fragments };
}

/** The order of entries. If two entries want the same name or port, the first entry gets the name or port. */
export function byAge(a: ConvertedEntry, b: ConvertedEntry): number {
  return a.createdAt - b.createdAt || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}

/** The parts that entries must have in common to share their addresses. */
function mergedParts({ resolution, labels, selector, exportTo }: ConvertedEntry) {
  return [resolution, labels, selector, exportTo];
}

/** Finds the entry's ports among the service's ports, and adds missing ports if `mayAdd`. */
function placePorts(
  entry: ConvertedEntry,
  ports: ServicePort[],
  base: ConvertedEntry,
  mayAdd: boolean,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const port of entry.ports) {
    const same = ports.find((candidate) => candidate.port === port.port);
    // A static endpoint inside a DNS cluster, or the reverse, is never wanted.
    if (same) { if (resolutionOf(base, same) === entry.resolution) names.set(port.name, same.name); }
    else if (mayAdd) {
      // Endpoints find their port by its name, so two ports of a service never share a name.
      const name = ports.some((candidate) => candidate.name === port.name) ? `${port.name}-${port.port}` : port.name;
      const resolution = entry.resolution === base.resolution ? {} : { resolution: entry.resolution };
      ports.push({ ...port, name, ...resolution, cause: entry.key });
      names.set(port.name, name);
    }
  }
  return names;
}

function serviceOf(
  host: string,
  base: ConvertedEntry,
  ports: readonly ServicePort[],
  addresses: readonly string[],
  subjectAltNames: readonly string[],
  also: readonly string[],
): Service {
  return {
    hostname: host,
    namespace: base.namespace,
    name: base.name,
    provider: "External",
    ports,
    addresses,
    resolution: base.resolution,
    meshExternal: base.meshExternal,
    exportTo: base.exportTo,
    labels: base.labels,
    subjectAltNames,
    headless: false,
    ...(base.targetPorts ? { picked: true } : {}),
    ...(base.routesOnly ? { routesOnly: true } : {}),
    ...(base.trafficDistribution ? { trafficDistribution: base.trafficDistribution } : {}),
    creationTimestamp: base.createdAt,
    cause: base.key,
    ...(also.length > 0 ? { otherCauses: also } : {}),
  };
}
