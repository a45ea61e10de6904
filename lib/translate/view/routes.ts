/**
 * Route configurations of one class of sidecars, virtual host by virtual host.
 *
 * To a proxy that takes virtual hosts one by one (VHDS) each is a resource of its own and the route configuration is a
 * shell; to others the shell and the encoded virtual hosts are put together.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { EncodedResource } from "../../resource/encoded.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { Built } from "../built.ts";
import { DomainOwners } from "../route/domain_owners.ts";
import type { OutboundVirtualHost } from "../route/sidecar.ts";
import type { BaseReader } from "../trace.ts";
import type { Unit, UnitCache } from "../unit_cache.ts";
import { domainWarning, type Warning } from "../warning.ts";
import { encodeInlineRouteConfiguration, encodeRouteConfiguration, encodeVirtualHost } from "./encode.ts";

type VirtualHost = envoy.config.route.v3.VirtualHost;

/** One virtual host of one route configuration, built and encoded. */
export interface VirtualHostPiece {
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
export function encodePieces(built: readonly OutboundVirtualHost[]): VirtualHostPiece[] {
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
export interface RouteShell {
  readonly built: Built<envoy.config.route.v3.RouteConfiguration>;
  readonly resource: EncodedResource;
}

/** Encodes what a builder gave. */
export function encodeShell(built: Built<envoy.config.route.v3.RouteConfiguration>): RouteShell {
  return { built, resource: encodeRouteConfiguration(built) };
}

/** One route configuration. */
class Table {
  readonly pieces: Map<string, VirtualHostPiece>;
  readonly owners: DomainOwners;
  set: ResourceSet;
  /** What `inline` was made of. */
  inlineOf: { readonly set: ResourceSet; readonly shell: RouteShell } | undefined;
  inline: EncodedResource | undefined;

  constructor(empty: ResourceSet, like?: Table) {
    this.pieces = new Map(like?.pieces);
    this.owners = new DomainOwners(like?.owners);
    this.set = like?.set ?? empty;
    this.inline = like?.inline;
    this.inlineOf = like?.inlineOf;
  }

  /** Puts in and takes out virtual hosts; those that lose or gain domains by it are encoded with what they own. */
  update(removed: readonly VirtualHostPiece[], added: readonly VirtualHostPiece[]): void {
    const changed = new Set<string>();
    const kept = new Set(added.map((piece) => piece.name));
    for (const piece of removed) {
      if (kept.has(piece.name)) continue;
      this.pieces.delete(piece.name);
      changed.add(piece.name);
      for (const name of this.owners.update(piece.name, [])) changed.add(name);
    }
    for (const piece of added) {
      this.pieces.set(piece.name, piece);
      changed.add(piece.name);
      for (const name of this.owners.update(piece.name, piece.domains, piece.creationTimestamp)) changed.add(name);
    }
    const upserts: EncodedResource[] = [];
    const gone = removed.map((piece) => piece.resource.name);
    for (const name of changed) {
      const piece = this.pieces.get(name);
      const resource = piece && this.#owned(piece);
      if (resource) upserts.push(resource);
      else if (piece) gone.push(piece.resource.name);
    }
    this.set = this.set.with(upserts, gone);
  }

  #owned(piece: VirtualHostPiece): EncodedResource | undefined {
    const domains = this.owners.owned(piece.name);
    if (domains.length === piece.domains.length) return piece.resource;
    if (domains.length === 0) return undefined;
    const message = { ...piece.message, domains: [...domains] };
    return encodeVirtualHost(piece.routeConfiguration, message, piece.resource.causes);
  }
}

/** All route configurations of one class. */
export class OutboundRoutes {
  readonly #cache: UnitCache<readonly VirtualHostPiece[]>;
  readonly #shells: UnitCache<RouteShell | undefined>;
  readonly #units: Map<string, Unit<readonly VirtualHostPiece[]>>;
  readonly #tables: Map<string, Table>;
  readonly #empty: { readonly routes: ResourceSet; readonly virtualHosts: ResourceSet };
  readonly #vhds: boolean;
  /** Route configurations that listeners name whatever hosts there are: they are there without any, too. */
  readonly #always: ReadonlySet<string>;
  #set: ResourceSet;

  /** @param like Begins as a copy of another class's; the first update must look at all hosts of both. */
  constructor(
    cache: UnitCache<readonly VirtualHostPiece[]>,
    shells: UnitCache<RouteShell | undefined>,
    empty: { readonly routes: ResourceSet; readonly virtualHosts: ResourceSet },
    { vhds, always }: { readonly vhds: boolean; readonly always: ReadonlySet<string> },
    like?: OutboundRoutes,
  ) {
    this.#units = new Map(like ? like.#units : []);
    this.#tables = new Map([...like ? like.#tables : []].map(([name, t]) => [name, new Table(empty.virtualHosts, t)]));
    this.#cache = cache;
    this.#shells = shells;
    this.#empty = empty;
    this.#vhds = vhds;
    this.#always = always;
    const unwanted = [...this.#tables].filter(([name, table]) => table.pieces.size === 0 && !always.has(name));
    for (const [name] of unwanted) this.#tables.delete(name);
    this.#set = (like?.set ?? empty.routes).with([], unwanted.map(([name]) => name));
  }

  /** The route configurations: shells for VHDS, whole ones otherwise. */
  get set(): ResourceSet {
    return this.#set;
  }

  /** Domains that several virtual hosts claim. */
  *warnings(): Iterable<Warning> {
    for (const [name, table] of this.#tables) {
      for (const { domain, owner, loser } of table.owners.losers()) {
        const objects = table.pieces.get(loser)?.resource.causes ?? [];
        yield domainWarning(name, domain, owner, loser, objects);
      }
    }
  }

  /** The virtual hosts that a route configuration gets by VHDS. */
  virtualHosts(routeConfiguration: string): ResourceSet {
    return this.#tables.get(routeConfiguration)?.set ?? this.#empty.virtualHosts;
  }

  /**
   * Looks at some hosts again, and at all shells if `shellsDirty` says that they may have changed; see
   * {@linkcode HostResources.update}.
   */
  update(
    hosts: Iterable<string>,
    reader: BaseReader,
    exists: (host: string) => boolean,
    onUnit: (unit: Unit<unknown>) => void,
    shellsDirty: boolean,
    keeps = true,
  ): void {
    const removed = new Map<string, VirtualHostPiece[]>();
    const added = new Map<string, VirtualHostPiece[]>();
    for (const host of hosts) {
      const old = this.#units.get(host);
      const unit = exists(host) ? this.#cache.get(host, reader) : undefined;
      if (unit) onUnit(unit);
      if (unit === old || (keeps && old && unit?.failed)) continue;
      for (const piece of old?.value ?? []) push(removed, piece);
      for (const piece of unit?.value ?? []) push(added, piece);
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
      if (this.#tables.get(name)!.pieces.size === 0 && !this.#always.has(name)) this.#tables.delete(name);
    }
    this.#assemble(shellsDirty ? new Set([...this.#tables.keys(), ...touched]) : touched, reader, onUnit, keeps);
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
      const shell = this.#shells.get(name, reader);
      onUnit(shell);
      if (shell.value) upserts.push(this.#vhds ? shell.value.resource : inlineResource(table, shell.value));
      else if (!keeps) gone.push(name);
    }
    this.#set = this.#set.with(upserts, gone);
  }
}

function push(groups: Map<string, VirtualHostPiece[]>, piece: VirtualHostPiece): void {
  const group = groups.get(piece.routeConfiguration);
  if (group) group.push(piece);
  else groups.set(piece.routeConfiguration, [piece]);
}

function inlineResource(table: Table, shell: RouteShell): EncodedResource {
  if (table.inline && table.inlineOf?.set === table.set && table.inlineOf.shell === shell) return table.inline;
  const virtualHosts = [...table.set].sort((a, b) => (a.name < b.name ? -1 : 1));
  table.inline = encodeInlineRouteConfiguration(shell.built, virtualHosts);
  table.inlineOf = { set: table.set, shell };
  return table.inline;
}
