/**
 * The names accepted in a service's certificate when the destination rule sets no names.
 *
 * @module
 */
import type { ServiceIdentities } from "../../mesh/endpoint_identities.ts";
import type { Service } from "../../registry/types.ts";
import type { Reader } from "../reader/reader.ts";

/**
 * The names from a service entry, and the identities of the service accounts of all endpoints, each also under the
 * aliases of the trust domain. Sorted. Empty for services of other registries: only a service entry names its servers.
 */
export function serverNames(read: Reader, service: Service): readonly string[] {
  return service.provider === "External" ? workloadNames(read, service) : [];
}

/**
 * The accepted names for mutual TLS of the mesh, in which every service has identities. Empty: any workload of the mesh
 * is accepted.
 */
export function workloadNames(read: Reader, service: Service): readonly string[] {
  return namesOf(read, service.subjectAltNames, read.identities(service.hostname));
}

/**
 * The accepted names for HBONE. In another network the pods of a global service's waypoint answer for the service.
 */
export function servingNames(read: Reader, service: Service): readonly string[] {
  const names = workloadNames(read, service);
  if (names.length === 0 || !read.settings.multiNetwork || !read.isGlobal(service.hostname)) return names;
  const waypoint = read.waypointOf(service.hostname);
  const host = waypoint === undefined ? undefined : read.waypointHost(waypoint);
  if (host === undefined) return names;
  return [...new Set([...names, ...waypointNames(read, host)])].sort();
}

/** The accepted names for the pods of a waypoint, by the host of the waypoint's service. */
export function waypointNames(read: Reader, host: string): readonly string[] {
  return namesOf(read, [], read.waypointIdentities(host));
}

/** The accepted names for workloads with accounts, `ns/NAMESPACE/sa/ACCOUNT`. */
export function accountNames(read: Reader, accounts: readonly string[]): readonly string[] {
  return namesOf(read, [], { accounts });
}

function namesOf(
  read: Reader,
  written: readonly string[],
  identities: Pick<ServiceIdentities, "accounts"> | undefined,
): readonly string[] {
  const { trustDomain, trustDomainAliases } = read.mesh();
  const own = `spiffe://${trustDomain}/`;
  const names = new Set(written);
  for (const account of identities?.accounts ?? []) names.add(own + account);
  for (const name of [...names]) {
    if (!name.startsWith(own)) continue;
    for (const alias of trustDomainAliases) names.add(`spiffe://${alias}/${name.slice(own.length)}`);
  }
  return [...names].sort();
}
