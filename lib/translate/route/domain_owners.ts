/**
 * Which virtual host of one route configuration owns a domain that several claim: Envoy refuses a route configuration
 * in which a domain occurs twice, so the others go without it.
 *
 * A virtual host named after the domain (`host:port`) wins over those for which it is a short form or an address; then
 * the older one wins, then the smaller name. So the outcome does not depend on the order of updates.
 *
 * @module
 */

interface Claim {
  readonly domains: readonly string[];
  readonly creationTimestamp: number;
}

/** The owners of one route configuration. An update costs the domains of the virtual host that changed. */
export class DomainOwners {
  readonly #claims: Map<string, Claim>;
  /** Names of the claimants by domain, the owner first; a lone claimant needs no list. */
  readonly #claimants: Map<string, string | readonly string[]>;
  #lost: number;

  /** @param from Begins with the claims of another; from then on they are apart. */
  constructor(from?: DomainOwners) {
    this.#claims = new Map(from?.claims);
    this.#claimants = new Map(from?.claimants);
    this.#lost = from?.lost ?? 0;
  }

  /** What each virtual host claims. */
  get claims(): ReadonlyMap<string, Claim> {
    return this.#claims;
  }

  /** Who claims each domain. */
  get claimants(): ReadonlyMap<string, string | readonly string[]> {
    return this.#claimants;
  }

  /** How many claims go without their domain now (metric `pilot_vservice_dup_domain`). */
  get lost(): number {
    return this.#lost;
  }

  /**
   * Replaces the claims of a virtual host.
   *
   * @param domains Empty: the virtual host went.
   * @param creationTimestamp ms since the epoch.
   * @returns Names of the other virtual hosts that gained or lost a domain by it.
   */
  update(name: string, domains: readonly string[], creationTimestamp = 0): Set<string> {
    const changed = new Set<string>();
    const old = this.#claims.get(name);
    for (const domain of old?.domains ?? []) this.#withdraw(name, domain, changed);
    if (domains.length) this.#claims.set(name, { domains: [...new Set(domains)], creationTimestamp });
    else this.#claims.delete(name);
    for (const domain of this.#claims.get(name)?.domains ?? []) this.#claim(name, domain, changed);
    changed.delete(name);
    return changed;
  }

  /** The domains that a virtual host owns, in the order of its claim. */
  owned(name: string): readonly string[] {
    const domains = this.#claims.get(name)?.domains ?? [];
    if (this.#lost === 0) return domains;
    return domains.filter((domain) => this.#owner(domain) === name);
  }

  /** Claims that go without their domain. Costs nothing while there are none. */
  *losers(): Iterable<{ readonly domain: string; readonly owner: string; readonly loser: string }> {
    if (this.#lost === 0) return;
    for (const [domain, names] of this.#claimants) {
      if (typeof names === "string") continue;
      const [owner, ...losers] = names;
      for (const loser of losers) yield { domain, owner: owner!, loser };
    }
  }

  #owner(domain: string): string | undefined {
    const names = this.#claimants.get(domain);
    return typeof names === "string" ? names : names?.[0];
  }

  #claim(name: string, domain: string, changed: Set<string>): void {
    const before = this.#claimants.get(domain);
    if (before === undefined) {
      this.#claimants.set(domain, name);
      return;
    }
    const all = (typeof before === "string" ? [before] : [...before]).concat(name);
    this.#rank(domain, all, changed);
    this.#lost++;
  }

  #withdraw(name: string, domain: string, changed: Set<string>): void {
    const before = this.#claimants.get(domain);
    if (before === undefined || typeof before === "string") {
      this.#claimants.delete(domain);
      return;
    }
    this.#rank(domain, before.filter((other) => other !== name), changed);
    this.#lost--;
  }

  #rank(domain: string, names: string[], changed: Set<string>): void {
    const owner = this.#owner(domain);
    names.sort((a, b) => this.#precedence(domain, a, b));
    const [first, ...rest] = names;
    this.#claimants.set(domain, rest.length ? names : first!);
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
    return this.#claims.get(name)?.creationTimestamp ?? 0;
  }
}

function isNamedAfter(name: string, domain: string): boolean {
  return name === domain || name.startsWith(`${domain}:`);
}
