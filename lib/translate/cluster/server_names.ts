/**
 * The names of which the certificate of a service must carry one when its destination rule gives none.
 *
 * @module
 */
import type { Service } from "../../registry/types.ts";
import type { Reader } from "../reader/reader.ts";

/**
 * The names that a service entry gives, and the identities of the service accounts of all its endpoints, each also
 * under the aliases of the trust domain; sorted. Services of other registries have none: only a service entry
 * names its servers.
 */
export function serverNames(read: Reader, service: Service): readonly string[] {
  return service.provider === "External" ? workloadNames(read, service) : [];
}

/** The same for mutual TLS of the mesh, where every service has its identities; none: any workload of the mesh will do. */
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
