/**
 * The names accepted in a service's certificate when the destination rule sets no names.
 *
 * @module
 */
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
  const { trustDomain, trustDomainAliases } = read.mesh();
  const own = `spiffe://${trustDomain}/`;
  const names = new Set(service.subjectAltNames);
  for (const account of read.identities(service.hostname)?.accounts ?? []) names.add(own + account);
  for (const name of [...names]) {
    if (!name.startsWith(own)) continue;
    for (const alias of trustDomainAliases) names.add(`spiffe://${alias}/${name.slice(own.length)}`);
  }
  return [...names].sort();
}
