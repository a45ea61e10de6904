/**
 * Identities of the mesh's trust domain and its aliases: they stand for each other in rules.
 *
 * @module
 */
import type { MeshConfig } from "../../config/mesh/types.ts";

/** Names the trust domain of the mesh in rules, whichever it is. */
const LOCAL = "cluster.local";

/**
 * The identities that an identity of a rule stands for. One of another trust domain, of any (`*`), or one that is not
 * written as `DOMAIN/ns/NAMESPACE/sa/ACCOUNT`, stands for itself.
 */
export function withTrustDomains(
  identity: string,
  { trustDomain, trustDomainAliases }: Pick<MeshConfig, "trustDomain" | "trustDomainAliases">,
): readonly string[] {
  const [domain = "", ...rest] = identity.split("/");
  if (rest.length !== 4 || domain === "*") return [identity];
  const domains = [trustDomain, ...trustDomainAliases];
  const isEnd = domain.startsWith("*");
  const covers = (one: string) => isEnd ? one.endsWith(domain.slice(1)) : one === domain;
  if (domain !== LOCAL && !domains.some(covers)) return [identity];
  return [...new Set(domains.map((one) => covers(one) ? identity : [one, ...rest].join("/")))];
}
