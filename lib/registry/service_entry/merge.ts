/**
 * Several ServiceEntry objects of one namespace that define the same host: one service.
 *
 * - The oldest entry (then the first by name) is the base.
 * - Entries with the same export rule add their ports that no older one has, and the endpoints of these. Each port is found
 *   in the way of the entry that it is of.
 * - To the ports that an older entry has they add their endpoints, where those are found in the same way.
 * - Entries that also have the same resolution, labels and selector add their addresses.
 *
 * @module
 */
import { samePlain } from "../content.ts";
import { resolutionOf, type Service, type ServicePort } from "../types.ts";
import type { ConvertedEntry } from "./convert.ts";

/** One entry's part of a merged service. */
export interface ServiceFragment {
  readonly entry: ConvertedEntry;
  /**
   * Name of each of its ports in the merged service, by its own name; a missing port has no place there. Undefined: all
   * keep their names.
   */
  readonly portNames: ReadonlyMap<string, string> | undefined;
}

/** The service of one host, with its endpoints. */
export interface MergedService {
  readonly service: Service;
  readonly fragments: readonly ServiceFragment[];
}

/**
 * Merges the entries of one host and namespace.
 *
 * @param entries At least one; any order.
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

/** The order of entries, of which the first gets a thing that two of them want. */
export function byAge(a: ConvertedEntry, b: ConvertedEntry): number {
  return a.createdAt - b.createdAt || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}

/** The parts that entries have in common which share their addresses. */
function mergedParts({ resolution, labels, selector, exportTo }: ConvertedEntry) {
  return [resolution, labels, selector, exportTo];
}

/** Finds the entry's ports among those of the service, adding those that are missing when it may. */
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
      // Endpoints find their port by its name, so two ports of one service never share one.
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
    ...(base.trafficDistribution ? { trafficDistribution: base.trafficDistribution } : {}),
    creationTimestamp: base.createdAt,
    cause: base.key,
    ...(also.length > 0 ? { otherCauses: also } : {}),
  };
}
