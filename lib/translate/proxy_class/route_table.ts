/**
 * The virtual hosts of one route configuration of a class, each with the domains that it owns.
 *
 * @module
 */
import { LayeredMap } from "../../incremental/layered_map.ts";
import type { EncodedResource } from "../../resource/encoded.ts";
import type { ResourceSet } from "../../resource/set.ts";
import { encodeInlineRouteConfiguration, encodeVirtualHost } from "../encode/encode.ts";
import type { BareRouteConfiguration, VirtualHostEntry } from "../encode/virtual_hosts.ts";
import { DomainOwners } from "../route/domain_owners.ts";

/** See the module. */
export class RouteTable {
  readonly entries: LayeredMap<string, VirtualHostEntry>;
  readonly owners: DomainOwners;
  #set: ResourceSet;
  /** What `#inline` was made of. */
  #inlineOf: { readonly set: ResourceSet; readonly bare: BareRouteConfiguration } | undefined;
  #inline: EncodedResource | undefined;

  /** @param like Begins as a copy of another class's, with which it shares what stays the same. */
  constructor(empty: ResourceSet, like?: RouteTable) {
    this.entries = new LayeredMap(like?.entries);
    this.owners = new DomainOwners(like?.owners);
    this.#set = like ? like.#set : empty;
    this.#inline = like ? like.#inline : undefined;
    this.#inlineOf = like ? like.#inlineOf : undefined;
  }

  /** The virtual hosts as resources. The same object while none of them changed. */
  get set(): ResourceSet {
    return this.#set;
  }

  /** Puts in and takes out virtual hosts; those that lose or gain domains by it are encoded with what they own. */
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
    const gone = removed.map((entry) => entry.resource.name);
    for (const name of changed) {
      const entry = this.entries.get(name);
      const resource = entry && this.#owned(entry);
      if (resource) upserts.push(resource);
      else if (entry) gone.push(entry.resource.name);
    }
    this.#set = this.#set.with(upserts, gone);
  }

  #owned(entry: VirtualHostEntry): EncodedResource | undefined {
    const domains = this.owners.owned(entry.name);
    if (domains.length === entry.domains.length) return entry.resource;
    if (domains.length === 0) return undefined;
    const message = { ...entry.message, domains: [...domains] };
    return encodeVirtualHost(entry.routeConfiguration, message, entry.resource.causes);
  }

  /** The route configuration with its virtual hosts inside; made once while neither changes. */
  withVirtualHosts(bare: BareRouteConfiguration): EncodedResource {
    if (this.#inline && this.#inlineOf?.set === this.#set && this.#inlineOf.bare === bare) return this.#inline;
    const virtualHosts = [...this.#set].sort((a, b) => (a.name < b.name ? -1 : 1));
    this.#inline = encodeInlineRouteConfiguration(bare.built, virtualHosts);
    this.#inlineOf = { set: this.#set, bare };
    return this.#inline;
  }
}
