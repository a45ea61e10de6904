/**
 * Outbound route configurations of several proxies, virtual host by virtual host.
 *
 * A proxy with VHDS gets each virtual host as a resource, and a bare route configuration. For other proxies the bare
 * route configuration and the encoded virtual hosts are put together.
 *
 * @module
 */
import { GroupBase, type GroupModel } from "../../../incremental/groups.ts";
import { type ReplacedResult, type ResultLook, ResultTable } from "../../../incremental/result_table.ts";
import type { EncodedResource } from "../../../resource/encoded.ts";
import type { ResourceSet } from "../../../resource/set.ts";
import type { Caches, StaleResults } from "../cache/caches.ts";
import type { TranslationCache, TranslationResult } from "../cache/translation_cache.ts";
import type { TranslationNote } from "../../message/notes.ts";
import type { BareRouteConfiguration, VirtualHostEntry } from "../../encode/virtual_hosts.ts";
import type { Finding } from "../../../finding/finding.ts";
import type { ScopeReader } from "../../reader/scope_reader.ts";
import { TYPE } from "../../encode/encode.ts";
import type { SetsByType } from "../results/row.ts";
import type { SharedGroup } from "./group.ts";
import { domainFinding } from "../../route/domain_owners.ts";
import { HTTP_PROXY_ROUTES } from "../../route/placement.ts";
import type { AskedHosts } from "../../route/asked_hosts.ts";
import { RouteTable } from "./route_table.ts";

type Entries = readonly VirtualHostEntry[];

/** All route configurations. */
export class OutboundRoutes extends GroupBase<ScopeReader> implements SharedGroup {
  readonly #virtualHosts: ResultTable<ScopeReader, Entries, TranslationNote>;
  readonly #bareRoutes: TranslationCache<BareRouteConfiguration | undefined>;
  readonly #bare: Map<string, TranslationResult<BareRouteConfiguration | undefined>>;
  readonly #tables: Map<string, RouteTable>;
  readonly #empty: ResourceSet;
  /** Virtual hosts are resources. */
  readonly #vhds: boolean;
  /** Route configurations named by listeners. These route configurations exist even without a host. */
  readonly #always: ReadonlySet<string>;
  #set: ResourceSet;

  constructor(source: ScopeReader, caches: Caches, model: GroupModel<OutboundRoutes> | undefined) {
    super(source);
    const { vhds, httpProxyPort } = source.properties;
    const hasHttpProxy = httpProxyPort > 0;
    // Route configurations of another form are of no use.
    const like = model && model.like.#vhds === vhds ? model.like : undefined;
    const { empty } = caches;
    this.asked.require("vhds", (properties) => properties.vhds, vhds);
    this.asked.require("hasHttpProxy", (properties) => properties.httpProxyPort > 0, hasHttpProxy);
    this.#virtualHosts = new ResultTable(caches.of.virtualHosts, like ? like.#virtualHosts : undefined);
    this.#tables = new Map([...like ? like.#tables : []].map(([name, table]) => [name, new RouteTable(empty, table)]));
    this.#bareRoutes = caches.of.routes;
    this.#bare = new Map(like ? like.#bare : []);
    this.#empty = empty;
    this.#vhds = vhds;
    this.#always = new Set(hasHttpProxy ? [HTTP_PROXY_ROUTES] : []);
    this.#set = like ? like.#set : empty;
    const look = this.#begin(model?.inherits);
    const difference = like && model?.difference;
    const hosts = difference
      ? this.#virtualHosts.unlike(look, difference)
      : [...source.hosts(), ...this.#virtualHosts.results.keys()];
    this.#update(new Set(hosts), true, look);
  }

  /** The route configurations: bare for VHDS, otherwise whole. */
  get sets(): SetsByType {
    return { [TYPE.route]: this.#set };
  }

  /** Conflicts of virtual hosts about domains. */
  *notes(): Iterable<Finding> {
    for (const [name, table] of this.#tables) {
      for (const { domain, owner, loser } of table.owners.losers()) {
        const [objects, owners] = [loser, owner].map((one) => table.entries.get(one)?.built.causes ?? []);
        yield domainFinding(name, domain, owner, loser, objects!, owners);
      }
      const bare = this.#bare.get(name)?.value;
      for (const { domain, owner, loser } of bare ? table.lostByAdded(bare) : []) {
        yield domainFinding(name, domain, owner, loser.message.name ?? "", loser.causes);
      }
    }
  }

  /** The virtual hosts of a route configuration, for VHDS. */
  virtualHosts(routeConfiguration: string): ResourceSet {
    return this.#tables.get(routeConfiguration)?.set ?? this.#empty;
  }

  /** The virtual hosts of a route configuration for a proxy that asks for them. Undefined: no such configuration. */
  askedHosts(routeConfiguration: string): AskedHosts | undefined {
    const table = this.#tables.get(routeConfiguration);
    const bare = this.#bare.get(routeConfiguration)?.value;
    return table && bare && table.asked(bare);
  }

  /** The results in use. */
  *results(): Iterable<TranslationResult<unknown>> {
    yield* this.#virtualHosts.results.values();
    yield* this.#bare.values();
  }

  update(stale: StaleResults): void {
    this.#update(stale.get("virtualHosts") ?? [], (stale.get("routes")?.size ?? 0) > 0, this.#begin());
  }

  #begin(keeps?: boolean): ResultLook<ScopeReader> {
    return this.look((host) => this.source.exists(host), keeps);
  }

  /** @param bareStale Bare route configurations may have changed. */
  #update(hosts: Iterable<string>, bareStale: boolean, look: ResultLook<ScopeReader>): void {
    const affected = this.#replace(this.#virtualHosts.update(hosts, look));
    this.#assemble(bareStale ? new Set([...this.#tables.keys(), ...affected]) : affected, look);
  }

  /** Puts replaced virtual hosts into tables. Returns the names of the affected route configurations. */
  #replace(replaced: readonly ReplacedResult<Entries>[]): Set<string> {
    const removed = Map.groupBy(replaced.flatMap(({ before = [] }) => before), (entry) => entry.routeConfiguration);
    const added = Map.groupBy(replaced.flatMap(({ after = [] }) => after), (entry) => entry.routeConfiguration);
    const affected = new Set([...removed.keys(), ...added.keys()]);
    for (const name of this.#always) if (!this.#tables.has(name)) affected.add(name);
    for (const name of affected) this.#table(name).update(removed.get(name) ?? [], added.get(name) ?? []);
    return affected;
  }

  #table(name: string): RouteTable {
    let table = this.#tables.get(name);
    if (!table) this.#tables.set(name, table = new RouteTable(this.#empty));
    return table;
  }

  #assemble(names: Iterable<string>, { source, onResult, keeps }: ResultLook<ScopeReader>): void {
    const upserts: EncodedResource[] = [];
    const gone: string[] = [];
    for (const name of names) {
      const table = this.#tables.get(name);
      if (!table || (table.entries.size === 0 && !this.#always.has(name))) {
        this.#tables.delete(name);
        this.#bare.delete(name);
        gone.push(name);
        continue;
      }
      const bare = this.#bareRoutes.get(name, source, undefined);
      onResult(bare);
      if (bare.value) {
        upserts.push(this.#vhds ? table.bare(bare.value) : table.whole(bare.value));
        this.#bare.set(name, bare);
      } else if (!keeps) gone.push(name);
    }
    this.#set = this.#set.with(upserts, gone);
  }
}
