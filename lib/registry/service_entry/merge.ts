/**
 * Several ServiceEntry objects of one namespace that define the same host: one service.
 *
 * - The oldest entry (then the first by name) is the base.
 * - Entries of the same resolution add their endpoints, behind the ports that the service has.
 * - Entries that also have the same labels, selector and export rule add their ports (by number) and addresses.
 * - Entries of another resolution are shadowed: a host is found in one way.
 *
 * @module
 */
import { samePlain } from "../content.ts";
import type { Service, ServicePort } from "../types.ts";
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
    if (entry.resolution !== base!.resolution) continue;
    const alike = samePlain([entry.labels, entry.selector, entry.exportTo], [
      base!.labels,
      base!.selector,
      base!.exportTo,
    ]);
    fragments.push({ entry, portNames: placePorts(entry, ports, alike) });
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

/** Finds the entry's ports among those of the service, adding those that are missing when it may. */
function placePorts(entry: ConvertedEntry, ports: ServicePort[], mayAdd: boolean): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const port of entry.ports) {
    const same = ports.find((candidate) => candidate.port === port.port);
    if (same) names.set(port.name, same.name);
    else if (mayAdd) {
      // Endpoints find their port by its name, so two ports of one service never share one.
      const name = ports.some((candidate) => candidate.name === port.name) ? `${port.name}-${port.port}` : port.name;
      ports.push({ ...port, name });
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
