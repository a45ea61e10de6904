/**
 * The owners of domains that several virtual hosts of a route configuration want. Envoy refuses a route configuration
 * with a repeated domain, so only the owner gets the domain.
 *
 * A virtual host named after the domain (`host:port`) wins over virtual hosts for which the domain is a short form or
 * an address. Next the older virtual host wins, then the smaller name. So the outcome is independent of the order of
 * updates.
 *
 * @module
 */
import { type Finding, lossOf, warningOf } from "../../finding/finding.ts";
import { isIp } from "../../registry/address.ts";
import { LayeredMap } from "../../incremental/layered_map.ts";

/** The domains that a virtual host wants. */
interface WantedDomains {
  readonly domains: readonly string[];
  readonly creationTimestamp: number;
}

/**
 * The owners of a route configuration's domains. The cost of an update depends only on the changed virtual host's
 * domains.
 */
export class DomainOwners {
  readonly #wanted: LayeredMap<string, WantedDomains>;
  /** Names of the virtual hosts that want a domain, the owner first. A single name needs no list. */
  readonly #wantedBy: LayeredMap<string, string | readonly string[]>;
  #lost: number;

  /** @param from Source for a copy. Both share unchanged parts. */
  constructor(from?: DomainOwners) {
    this.#wanted = new LayeredMap(from ? from.#wanted : undefined);
    this.#wantedBy = new LayeredMap(from ? from.#wantedBy : undefined);
    this.#lost = from?.lost ?? 0;
  }

  /** How often a virtual host lacks a wanted domain (metric `pilot_vservice_dup_domain`). */
  get lost(): number {
    return this.#lost;
  }

  /**
   * Replaces the domains that a virtual host wants.
   *
   * @param domains Empty: the virtual host was removed.
   * @param creationTimestamp ms since the epoch.
   * @returns Names of the other virtual hosts that gained or lost a domain.
   */
  update(name: string, domains: readonly string[], creationTimestamp = 0): Set<string> {
    const changed = new Set<string>();
    const old = this.#wanted.get(name);
    for (const domain of old?.domains ?? []) this.#withdraw(name, domain, changed);
    if (domains.length) this.#wanted.set(name, { domains: [...new Set(domains)], creationTimestamp });
    else this.#wanted.delete(name);
    for (const domain of this.#wanted.get(name)?.domains ?? []) this.#want(name, domain, changed);
    changed.delete(name);
    return changed;
  }

  /** The domains that a virtual host owns, in the wanted order. */
  owned(name: string): readonly string[] {
    const domains = this.#wanted.get(name)?.domains ?? [];
    if (this.#lost === 0) return domains;
    return domains.filter((domain) => this.owner(domain) === name);
  }

  /** Virtual hosts without a wanted domain, with the owner of the domain. Free of cost if no domain is contested. */
  *losers(): Iterable<{ readonly domain: string; readonly owner: string; readonly loser: string }> {
    if (this.#lost === 0) return;
    for (const [domain, names] of this.#wantedBy) {
      if (typeof names === "string") continue;
      const [owner, ...losers] = names;
      for (const loser of losers) yield { domain, owner: owner!, loser };
    }
  }

  /** The virtual host that owns a domain. */
  owner(domain: string): string | undefined {
    const names = this.#wantedBy.get(domain);
    return typeof names === "string" ? names : names?.[0];
  }

  #want(name: string, domain: string, changed: Set<string>): void {
    const before = this.#wantedBy.get(domain);
    if (before === undefined) {
      this.#wantedBy.set(domain, name);
      return;
    }
    const all = (typeof before === "string" ? [before] : [...before]).concat(name);
    this.#rank(domain, all, changed);
    this.#lost++;
  }

  #withdraw(name: string, domain: string, changed: Set<string>): void {
    const before = this.#wantedBy.get(domain);
    if (before === undefined || typeof before === "string") {
      this.#wantedBy.delete(domain);
      return;
    }
    this.#rank(domain, before.filter((other) => other !== name), changed);
    this.#lost--;
  }

  #rank(domain: string, names: string[], changed: Set<string>): void {
    const owner = this.owner(domain);
    names.sort((a, b) => this.#precedence(domain, a, b));
    const [first, ...rest] = names;
    this.#wantedBy.set(domain, rest.length ? names : first!);
    if (first === owner) return;
    changed.add(first!);
    changed.add(owner!);
  }

  #precedence(domain: string, a: string, b: string): number {
    const named = Number(isNamedAfter(b, domain)) - Number(isNamedAfter(a, domain));
    const age = this.#age(a) - this.#age(b);
    return named || age || (a < b ? -1 : 1);
  }

  #age(name: string): number {
    return this.#wanted.get(name)?.creationTimestamp ?? 0;
  }
}

function isNamedAfter(name: string, domain: string): boolean {
  return name === domain || name.startsWith(`${domain}:`);
}

/**
 * A conflict of two virtual hosts of a route configuration over a domain.
 *
 * @param objects Keys of the loser's objects.
 * @param owners Keys of the owner's objects. Default: not known.
 */
export function domainFinding(
  routeConfiguration: string,
  domain: string,
  owner: string,
  loser: string,
  objects: readonly string[],
  owners: readonly string[] = [],
): Finding {
  const text = `routes ${routeConfiguration}: domain ${domain} belongs to ${owner}, so ${loser} loses the domain`;
  // Hosts of a service entry share addresses. Each host is served by name, as written.
  const ip = domain.startsWith("[") ? domain.slice(1, domain.indexOf("]")) : domain;
  const isShared = isIp(ip) && new Set([...objects, ...owners]).size === 1 && owners.length > 0;
  return (isShared ? warningOf : lossOf)("domain-conflict", objects, text);
}
