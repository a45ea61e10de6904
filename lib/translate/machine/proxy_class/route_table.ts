/**
 * The virtual hosts of a class's route configuration, with the domains of each virtual host.
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { LayeredMap } from "../../../incremental/layered_map.ts";
import type { EncodedResource } from "../../../resource/encoded.ts";
import type { ResourceSet } from "../../../resource/set.ts";
import { encodeInlineRouteConfiguration, encodeRouteConfiguration, encodeVirtualHost } from "../../encode/encode.ts";
import type { BareRouteConfiguration, VirtualHostEntry } from "../../encode/virtual_hosts.ts";
import type { Built } from "../../message/built.ts";
import { type LostDomain, type OtherVirtualHosts, withAddedVirtualHosts } from "../../patches/routes.ts";
import { DomainOwners } from "../../route/domain_owners.ts";
import { AskedHosts } from "../../route/asked_hosts.ts";

export class RouteTable {
  readonly entries: LayeredMap<string, VirtualHostEntry>;
  readonly owners: DomainOwners;
  #set: ResourceSet;
  /** The inputs of `#inline`. */
  #inlineOf:
    | {
      readonly set: ResourceSet;
      readonly bare: BareRouteConfiguration;
      /** Marks the added virtual hosts of patches that remain, in order. */
      readonly left: string;
    }
    | undefined;
  #inline: EncodedResource | undefined;
  #asked: AskedHosts | undefined;
  #askedOf: BareRouteConfiguration | undefined;

  /** @param like The model: the table begins as a copy, and shares unchanged parts. */
  constructor(empty: ResourceSet, like?: RouteTable) {
    this.entries = new LayeredMap(like?.entries);
    this.owners = new DomainOwners(like?.owners);
    this.#set = like ? like.#set : empty;
    this.#inline = like ? like.#inline : undefined;
    this.#inlineOf = like ? like.#inlineOf : undefined;
  }

  /** The virtual hosts as resources. The same object until a virtual host changes. */
  get set(): ResourceSet {
    return this.#set;
  }

  /**
   * Adds and removes virtual hosts. A virtual host with lost or gained domains is encoded again with its own domains.
   */
  update(removed: readonly VirtualHostEntry[], added: readonly VirtualHostEntry[]): void {
    const changed = new Set<string>();
    const kept = new Set(added.map((entry) => entry.name));
    for (const entry of removed) {
      if (kept.has(entry.name)) continue;
      this.entries.delete(entry.name);
      changed.add(entry.name);
      for (const name of this.owners.update(entry.name, [])) changed.add(name);
    }
    for (const entry of added) {
      this.entries.set(entry.name, entry);
      changed.add(entry.name);
      for (const name of this.owners.update(entry.name, entry.domains, entry.creationTimestamp)) changed.add(name);
    }
    const upserts: EncodedResource[] = [];
    const gone = removed.map(resourceName);
    for (const name of changed) {
      const entry = this.entries.get(name);
      const resource = entry && this.#owned(entry);
      if (resource) upserts.push(resource);
      else if (entry) gone.push(resourceName(entry));
    }
    this.#set = this.#set.with(upserts, gone);
  }

  #owned(entry: VirtualHostEntry): EncodedResource | undefined {
    const domains = this.owners.owned(entry.name);
    if (domains.length === entry.domains.length) return entry.resource;
    if (domains.length === 0) return undefined;
    const { built } = entry;
    return encodeVirtualHost(entry.routeConfiguration, {
      ...built,
      message: { ...built.message, domains: [...domains] },
    });
  }

  /**
   * The route configuration with all virtual hosts inside, with the additions of patches. Made once for the same
   * inputs.
   */
  whole(bare: BareRouteConfiguration): EncodedResource {
    return this.#once(bare, (built) => {
      const virtualHosts = [...this.#set].sort((a, b) => (a.name < b.name ? -1 : 1));
      return encodeInlineRouteConfiguration(built, virtualHosts);
    });
  }

  /** The route configuration for a proxy with VHDS, with the additions of patches. */
  bare(bare: BareRouteConfiguration): EncodedResource {
    return bare.added.length === 0 ? bare.resource : this.#once(bare, encodeRouteConfiguration);
  }

  /** The virtual hosts for a proxy that asks for them. The same object until a virtual host changes. */
  asked(bare: BareRouteConfiguration): AskedHosts {
    if (this.#asked?.set === this.#set && this.#askedOf === bare) return this.#asked;
    this.#askedOf = bare;
    return this.#asked = new AskedHosts(bare, this.#set, this.owners, this.entries);
  }

  /** Virtual hosts of patches without a domain. */
  lostByAdded(bare: BareRouteConfiguration): readonly LostDomain[] {
    return bare.added.length === 0 ? [] : withAddedVirtualHosts(bare, this.#others).lost;
  }

  #once(
    bare: BareRouteConfiguration,
    encode: (built: Built<envoy.config.route.v3.RouteConfiguration>) => EncodedResource,
  ): EncodedResource {
    const others = this.#others;
    const left = bare.added.map(({ message }) => !others.removed(message.name ?? "")).join();
    const { set, bare: made, left: leftThen } = this.#inlineOf ?? {};
    if (this.#inline && set === this.#set && made === bare && leftThen === left) return this.#inline;
    this.#inline = encode(bare.added.length === 0 ? bare.built : withAddedVirtualHosts(bare, others).built);
    this.#inlineOf = { set: this.#set, bare, left };
    return this.#inline;
  }

  get #others(): OtherVirtualHosts {
    return {
      removed: (name) => this.entries.has(name) && this.entries.get(name)?.resource === undefined,
      owner: (domain) => this.owners.owner(domain),
    };
  }
}

function resourceName({ routeConfiguration, name }: VirtualHostEntry): string {
  return `${routeConfiguration}/${name}`;
}
