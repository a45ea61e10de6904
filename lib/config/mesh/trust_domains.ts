/**
 * Identities in the rules of policies, over the trust domains of the mesh.
 *
 * @module
 */
import type { MeshConfig } from "./types.ts";

/** Stands for the mesh's trust domain in rules, whatever its name. */
const LOCAL = "cluster.local";

/** The trust domains of a mesh. */
export type MeshTrustDomains = Pick<MeshConfig, "trustDomain" | "trustDomainAliases">;

/**
 * The identities that an identity in a rule stands for. In rules, the mesh's trust domain and its aliases are
 * equivalent. An identity stands for itself if its trust domain is foreign or `*`, or its form is not
 * `DOMAIN/ns/NAMESPACE/sa/ACCOUNT`.
 */
export function withTrustDomains(
  identity: string,
  { trustDomain, trustDomainAliases }: MeshTrustDomains,
): readonly string[] {
  const [domain = "", ...rest] = identity.split("/");
  if (rest.length !== 4 || domain === "*") return [identity];
  const domains = [trustDomain, ...trustDomainAliases];
  const isEnd = domain.startsWith("*");
  const covers = (one: string) => isEnd ? one.endsWith(domain.slice(1)) : one === domain;
  if (domain !== LOCAL && !domains.some(covers)) return [identity];
  return [...new Set(domains.map((one) => covers(one) ? identity : [one, ...rest].join("/")))];
}
