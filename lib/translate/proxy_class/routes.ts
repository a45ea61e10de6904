/**
 * Route configurations of one class of sidecars, virtual host by virtual host.
 *
 * To a proxy that takes virtual hosts one by one (VHDS) each is a resource of its own and the route configuration is a
 * bare; to others the bare and the encoded virtual hosts are put together.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { EncodedResource } from "../../resource/encoded.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { Built } from "../message/built.ts";
import { DomainOwners, domainWarning } from "../route/domain_owners.ts";
import type { OutboundVirtualHost } from "../route/sidecar.ts";
import type { BaseReader } from "../reader/read_record.ts";
import type { Unit, UnitCache } from "../reader/build_cache.ts";
import type { Warning } from "../message/warning.ts";
import { encodeInlineRouteConfiguration, encodeRouteConfiguration, encodeVirtualHost } from "../encode/encode.ts";

type VirtualHost = envoy.config.route.v3.VirtualHost;

/** One virtual host of one route configuration, built and encoded. */
export interface VirtualHostEntry {
  readonly routeConfiguration: string;
  readonly name: string;
  readonly domains: readonly string[];
  /** The older of two that claim one domain gets it; ms since the epoch. */
  readonly creationTimestamp: number;
  readonly resource: EncodedResource;
  /** To encode it again where another virtual host owns some of its domains. */
  readonly message: VirtualHost;
}

/** Encodes what a builder gave. */
export function encodeEntries(built: readonly OutboundVirtualHost[]): VirtualHostEntry[] {
  return built.map(({ routeConfiguration, virtualHost, causes, creationTimestamp }) => ({
    routeConfiguration,
    name: virtualHost.name ?? "",
    domains: virtualHost.domains ?? [],
    creationTimestamp,
    resource: encodeVirtualHost(routeConfiguration, virtualHost, causes),
    message: virtualHost,
  }));
}

/** A route configuration without the virtual hosts of its hosts, built and encoded. */
export interface BareRouteConfiguration {
  readonly built: Built<envoy.config.route.v3.RouteConfiguration>;
  readonly resource: EncodedResource;
}

/** Encodes what a builder gave. */
export function encodeBareRoute(built: Built<envoy.config.route.v3.RouteConfiguration>): BareRouteConfiguration {
  return { built, resource: encodeRouteConfiguration(built) };
}

/** One route configuration. */
class Table {
  readonly entries: Map<string, VirtualHostEntry>;
  readonly owners: DomainOwners;
  set: ResourceSet;
  /** What `inline` was made of. */
  inlineOf: { readonly set: ResourceSet; readonly bare: BareRouteConfiguration } | undefined;
  inline: EncodedResource | undefined;

  constructor(empty: ResourceSet, like?: Table) {
    this.entries = new Map(like?.entries);
    this.owners = new DomainOwners(like?.owners);
    this.set = like?.set ?? empty;
    this.inline = like?.inline;
    this.inlineOf = like?.inlineOf;
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
    this.set = this.set.with(upserts, gone);
  }

  #owned(entry: VirtualHostEntry): EncodedResource | undefined {
    const domains = this.owners.owned(entry.name);
    if (domains.length === entry.domains.length) return entry.resource;
    if (domains.length === 0) return undefined;
    const message = { ...entry.message, domains: [...domains] };
    return encodeVirtualHost(entry.routeConfiguration, message, entry.resource.causes);
  }
}

/** All route configurations of one class. */
export class OutboundRoutes {
  readonly #cache: UnitCache<readonly VirtualHostEntry[]>;
  readonly #bareRoutes: UnitCache<BareRouteConfiguration | undefined>;
  readonly #units: Map<string, Unit<readonly VirtualHostEntry[]>>;
  readonly #tables: Map<string, Table>;
  readonly #empty: { readonly routes: ResourceSet; readonly virtualHosts: ResourceSet };
  readonly #vhds: boolean;
  /** Route configurations that listeners name whatever hosts there are: they are there without any, too. */
  readonly #always: ReadonlySet<string>;
  #set: ResourceSet;

  /** @param like Begins as a copy of another class's; the first update must look at all hosts of both. */
  constructor(
    cache: UnitCache<readonly VirtualHostEntry[]>,
    bareRoutes: UnitCache<BareRouteConfiguration | undefined>,
    empty: { readonly routes: ResourceSet; readonly virtualHosts: ResourceSet },
    { vhds, always }: { readonly vhds: boolean; readonly always: ReadonlySet<string> },
    like?: OutboundRoutes,
  ) {
    this.#units = new Map(like ? like.#units : []);
    this.#tables = new Map([...like ? like.#tables : []].map(([name, t]) => [name, new Table(empty.virtualHosts, t)]));
    this.#cache = cache;
    this.#bareRoutes = bareRoutes;
    this.#empty = empty;
    this.#vhds = vhds;
    this.#always = always;
    const unwanted = [...this.#tables].filter(([name, table]) => table.entries.size === 0 && !always.has(name));
    for (const [name] of unwanted) this.#tables.delete(name);
    this.#set = (like?.set ?? empty.routes).with([], unwanted.map(([name]) => name));
  }

  /** The route configurations: bareRoutes for VHDS, whole ones otherwise. */
  get set(): ResourceSet {
    return this.#set;
  }

  /** Domains that several virtual hosts claim. */
  *warnings(): Iterable<Warning> {
    for (const [name, table] of this.#tables) {
      for (const { domain, owner, loser } of table.owners.losers()) {
        const objects = table.entries.get(loser)?.resource.causes ?? [];
        yield domainWarning(name, domain, owner, loser, objects);
      }
    }
  }

  /** The virtual hosts that a route configuration gets by VHDS. */
  virtualHosts(routeConfiguration: string): ResourceSet {
    return this.#tables.get(routeConfiguration)?.set ?? this.#empty.virtualHosts;
  }

  /**
   * Looks at some hosts again, and at all bareRoutes if `bareRoutesDirty` says that they may have changed; see
   * {@linkcode HostResources.update}.
   */
  update(
    hosts: Iterable<string>,
    reader: BaseReader,
    exists: (host: string) => boolean,
    onUnit: (unit: Unit<unknown>) => void,
    bareRoutesDirty: boolean,
    keeps = true,
  ): void {
    const removed = new Map<string, VirtualHostEntry[]>();
    const added = new Map<string, VirtualHostEntry[]>();
    for (const host of hosts) {
      const old = this.#units.get(host);
      const unit = exists(host) ? this.#cache.get(host, reader) : undefined;
      if (unit) onUnit(unit);
      if (unit === old || (keeps && old && unit?.failed)) continue;
      for (const entry of old?.value ?? []) push(removed, entry);
      for (const entry of unit?.value ?? []) push(added, entry);
      if (unit) {
        this.#units.set(host, unit);
      } else {
        this.#units.delete(host);
      }
    }
    const touched = new Set([...removed.keys(), ...added.keys()]);
    for (const name of this.#always) if (!this.#tables.has(name)) touched.add(name);
    for (const name of touched) this.#table(name).update(removed.get(name) ?? [], added.get(name) ?? []);
    for (const name of touched) {
      if (this.#tables.get(name)!.entries.size === 0 && !this.#always.has(name)) this.#tables.delete(name);
    }
    this.#assemble(bareRoutesDirty ? new Set([...this.#tables.keys(), ...touched]) : touched, reader, onUnit, keeps);
  }

  #table(name: string): Table {
    let table = this.#tables.get(name);
    if (!table) this.#tables.set(name, table = new Table(this.#empty.virtualHosts));
    return table;
  }

  #assemble(names: Iterable<string>, reader: BaseReader, onUnit: (unit: Unit<unknown>) => void, keeps: boolean): void {
    const upserts: EncodedResource[] = [];
    const gone: string[] = [];
    for (const name of names) {
      const table = this.#tables.get(name);
      if (!table) {
        gone.push(name);
        continue;
      }
      const bare = this.#bareRoutes.get(name, reader);
      onUnit(bare);
      if (bare.value) upserts.push(this.#vhds ? bare.value.resource : inlineResource(table, bare.value));
      else if (!keeps) gone.push(name);
    }
    this.#set = this.#set.with(upserts, gone);
  }
}

function push(groups: Map<string, VirtualHostEntry[]>, entry: VirtualHostEntry): void {
  const group = groups.get(entry.routeConfiguration);
  if (group) group.push(entry);
  else groups.set(entry.routeConfiguration, [entry]);
}

function inlineResource(table: Table, bare: BareRouteConfiguration): EncodedResource {
  if (table.inline && table.inlineOf?.set === table.set && table.inlineOf.bare === bare) return table.inline;
  const virtualHosts = [...table.set].sort((a, b) => (a.name < b.name ? -1 : 1));
  table.inline = encodeInlineRouteConfiguration(bare.built, virtualHosts);
  table.inlineOf = { set: table.set, bare };
  return table.inline;
}
