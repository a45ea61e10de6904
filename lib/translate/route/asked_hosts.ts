/**
 * The virtual hosts of a route configuration for a sidecar that asks for them: the proxy names the host of a request,
 * and gets the virtual host to which the request belongs. Hosts outside of the mesh get a virtual host each.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { WeakTable } from "../../incremental/weak_table.ts";
import type { EncodedResource } from "../../resource/encoded.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { BareRouteConfiguration, VirtualHostEntry } from "../encode/virtual_hosts.ts";
import { encodeVirtualHost } from "../encode/encode.ts";
import type { PatchedBareRoutes } from "../patches/routes.ts";
import type { DomainOwners } from "./domain_owners.ts";
import { isOfOneHost } from "./placement.ts";

type VirtualHost = envoy.config.route.v3.VirtualHost;

const ANY = "*";
/** No request has this host (RFC 6761). */
const PLACEHOLDER = "not-asked-yet.invalid";

/** Longest host that a request may name, in characters. DNS has a limit of 253 characters, and a port follows. */
const MAX_HOST = 260;

/** Takes the virtual host for unknown hosts out of a route configuration. A host's own route configuration has none. */
export function withoutCatchAll(bare: PatchedBareRoutes): PatchedBareRoutes {
  const { built } = bare;
  const { virtual_hosts: hosts = [], name = "" } = built.message;
  const catchAll = isOfOneHost(name) ? undefined : hosts.find(({ domains }) => domains?.includes(ANY));
  if (catchAll === undefined) return bare;
  // Patches may give it further domains, which stay where they are.
  const rest = hosts.flatMap((host) => host === catchAll ? withoutAny(host) : [host]);
  // Virtual hosts of patches lose the domain to the virtual host for unknown hosts, as inside the route configuration.
  const added = bare.added.flatMap((one) => withoutAny(one.message).map((message) => ({ ...one, message })));
  return {
    added,
    catchAll: { ...catchAll, domains: [ANY] },
    built: { ...built, message: { ...built.message, virtual_hosts: rest } },
  };
}

function withoutAny(host: VirtualHost): VirtualHost[] {
  const domains = host.domains?.filter((domain) => domain !== ANY) ?? [];
  return domains.length === 0 ? [] : [{ ...host, domains }];
}

/**
 * The virtual hosts for unknown hosts, while a sidecar has them: sidecars of one workload call the same hosts, and changes
 * of other virtual hosts leave them alone.
 */
const ofUnknown = new WeakMap<BareRouteConfiguration, WeakTable<string, EncodedResource>>();

/** The virtual hosts of a route configuration, by the hosts of requests. */
export class AskedHosts {
  readonly #bare: BareRouteConfiguration;
  readonly #owners: Pick<DomainOwners, "owner">;
  readonly #entries: ReadonlyMap<string, VirtualHostEntry>;
  #whole: ResourceSet | undefined;
  #catchAll: EncodedResource | undefined;
  #placeholder: EncodedResource | undefined;
  /** The answers for hosts of a wildcard, which all hosts of the wildcard share. */
  readonly #ofWildcards = new Map<string, readonly EncodedResource[]>();

  /** @param set All virtual hosts. */
  constructor(
    bare: BareRouteConfiguration,
    readonly set: ResourceSet,
    owners: Pick<DomainOwners, "owner">,
    entries: ReadonlyMap<string, VirtualHostEntry>,
  ) {
    this.#bare = bare;
    this.#owners = owners;
    this.#entries = entries;
  }

  get #name(): string {
    return this.#bare.built.message.name ?? "";
  }

  /**
   * Whether the sidecar can ask. With a virtual host for all hosts the sidecar would never ask for another one.
   */
  get canAsk(): boolean {
    return this.#bare.catchAll !== undefined && this.#owners.owner(ANY) === undefined;
  }

  /** All virtual hosts, with the virtual host for unknown hosts. */
  get whole(): ResourceSet {
    const { catchAll } = this;
    return catchAll === undefined ? this.set : this.#whole ??= this.set.with([catchAll]);
  }

  /** The virtual host for unknown hosts. Undefined: another virtual host takes all hosts, or unknown hosts are refused. */
  get catchAll(): EncodedResource | undefined {
    const message = this.#bare.catchAll;
    if (message === undefined || !this.canAsk) return undefined;
    return this.#catchAll ??= encodeVirtualHost(this.#name, { message, causes: [] });
  }

  /**
   * The virtual host of a sidecar that has not asked yet: Envoy's listeners wait for a first virtual host. A service may
   * have the name: Envoy refuses two virtual hosts with one domain.
   */
  get placeholder(): EncodedResource {
    const owner = this.#owners.owner(PLACEHOLDER);
    return this.#placeholder ??= (owner === undefined ? undefined : this.#resource(owner)) ??
      this.#unknown(PLACEHOLDER);
  }

  /**
   * The virtual host of a request's host, and further virtual hosts that the sidecar needs with it. Beside a virtual
   * host for a wildcard, these are the virtual hosts for more specific domains: the sidecar would not ask for them.
   *
   * Hosts of one wildcard get the same array.
   *
   * @param isWhole The sidecar has all virtual hosts, and the virtual host for unknown hosts.
   */
  of(host: string, isWhole = false): readonly EncodedResource[] {
    const named = host.toLowerCase();
    const asked = this.#bare.built.message.ignore_port_in_host_matching ? withoutPort(named) : named;
    const domain = asked.length > MAX_HOST ? undefined : this.#domainOf(asked);
    if (domain === undefined) {
      const found = isWhole ? this.catchAll : undefined;
      return [found ?? (isWildcard(asked) ? this.placeholder : this.#unknown(asked))];
    }
    const owner = this.#resource(this.#owners.owner(domain)!);
    if (owner === undefined) return [];
    if (domain === asked || isWhole) return [owner];
    return this.#ofWildcards.getOrInsertComputed(domain, () => [...new Set([owner, ...this.#within(domain)])]);
  }

  /**
   * A virtual host by the name of its resource, and the virtual hosts that the sidecar needs with it. Empty: there is no
   * such virtual host.
   */
  named(resource: string): readonly EncodedResource[] {
    const name = resource.slice(this.#name.length + 1);
    const found = this.#resource(name);
    if (found === undefined || found.name !== resource) return [];
    const wildcards = this.#entries.get(name)?.domains.filter((domain) =>
      isWildcard(domain) && this.#owners.owner(domain) === name
    );
    return [...new Set([found, ...(wildcards ?? []).flatMap((domain) => [...this.#within(domain)])])];
  }

  /** The most specific domain that matches, as Envoy chooses: exact, longest suffix, longest prefix, all. */
  #domainOf(host: string): string | undefined {
    const has = (domain: string) => this.#owners.owner(domain) !== undefined;
    if (has(host)) return host;
    for (let at = 1; at < host.length; at++) {
      const domain = `*${host.slice(at)}`;
      if (has(domain)) return domain;
    }
    for (let to = host.length - 1; to > 0; to--) {
      const domain = `${host.slice(0, to)}*`;
      if (has(domain)) return domain;
    }
    return has(ANY) ? ANY : undefined;
  }

  /** The virtual hosts for domains that come before a wildcard, and may match a host of the wildcard. */
  *#within(wildcard: string): Iterable<EncodedResource> {
    const matches = wildcard.startsWith("*")
      ? (domain: string) => domain.endsWith(wildcard.slice(1))
      : (domain: string) => domain.startsWith("*") || domain.startsWith(wildcard.slice(0, -1));
    for (const [name, { domains }] of this.#entries) {
      if (!domains.some((domain) => matches(domain) && this.#owners.owner(domain) === name)) continue;
      const found = this.#resource(name);
      if (found !== undefined) yield found;
    }
  }

  #resource(name: string): EncodedResource | undefined {
    return this.set.get(`${this.#name}/${name}`);
  }

  /** A virtual host like the virtual host for unknown hosts, for one host. */
  #unknown(host: string): EncodedResource {
    const table = ofUnknown.getOrInsertComputed(this.#bare, () => new WeakTable());
    const known = table.get(host);
    if (known !== undefined) return known;
    const message = { routes: [], ...this.#bare.catchAll, name: `unknown:${host}`, domains: [host] };
    return table.shared(host, encodeVirtualHost(this.#name, { message, causes: [] }));
  }
}

/**
 * Whether Envoy would take a host of a request for a wildcard. As a domain such a host would match other hosts, which the
 * sidecar would then not ask for: requests to services of the mesh would pass as to unknown hosts, in plain text.
 */
function isWildcard(host: string): boolean {
  return host.startsWith("*") || host.endsWith("*");
}

function withoutPort(host: string): string {
  const at = host.lastIndexOf(":");
  return at > 0 && /^[0-9]*$/.test(host.slice(at + 1)) ? host.slice(0, at) : host;
}
