/**
 * One view over all registries: services by key and host, workloads by address, endpoints in their index.
 *
 *     service entries ─┐
 *     orchestrator  ───┼─> sink(source) ──> reports of each source ──settle──> services, changed keys
 *     remote clusters ─┘                └─> EndpointIndex
 *
 * Rules for a service reported by several sources (same host, same namespace):
 * - The orchestrator wins over every other provider, so that no entry takes over the orchestrator's hosts.
 * - The same service in several clusters: ports and all other fields of the first cluster in order of registration;
 *   virtual addresses by cluster.
 * - Else the oldest report wins, then the source registered first.
 * - A service that stands for another service (`importOf`) is the other service, at the addresses from its own sources.
 *   Endpoints of all sources count, whichever source wins.
 *
 * @module
 */
import { samePlain, sameWorkload } from "./content.ts";
import { canonicalIp } from "./address.ts";
import { SmallMultimap } from "./small_multimap.ts";
import type { EndpointIndex } from "./endpoint_index.ts";
import { ReportedNetworks } from "./reported_networks.ts";
import { addressesByCluster, beats, type RegistrySource, type ReportedService, type SourceReports } from "./reports.ts";
import type { Endpoint, RegistrySink, Service, ServiceKey, Workload } from "./types.ts";
import { serviceKey } from "./types.ts";

export type { RegistrySource } from "./reports.ts";

/** Changes between two calls of `Aggregate.drain`. */
export interface ServiceChanges {
  /** Services that appeared, changed or went; `service(key)` is undefined for a departed service. */
  readonly services: ReadonlySet<ServiceKey>;
  /** Addresses whose workloads appeared, changed or went. */
  readonly addresses: ReadonlySet<string>;
}

/** Called with every report about workloads, for registries with services that select workloads of other registries. */
export type WorkloadListener = (
  source: RegistrySource,
  upserted: readonly Workload[],
  removed: readonly string[],
) => void;

const NO_WORKLOADS: readonly Workload[] = Object.freeze([]);

/** The view over all registries. All calls are synchronous; writes mark, reads settle. */
export class Aggregate {
  /** Networks and their entrances, from the reports of the registries. */
  readonly networks = new ReportedNetworks();
  readonly #endpoints: EndpointIndex;
  readonly #sources = new Map<string, SourceReports>();
  readonly #services = new Map<ServiceKey, Service>();
  readonly #workloads = new Map<string, readonly Workload[]>();
  readonly #listeners: WorkloadListener[] = [];
  readonly #dirty = new Set<ServiceKey>();
  /** Services that stand for other services, by the other service. */
  readonly #imports = new SmallMultimap<ServiceKey, ServiceKey>();
  #changed = new Set<ServiceKey>();
  #touched = new Set<string>();
  #ranks = 0;

  /** @param endpoints Where reports about endpoints go. */
  constructor(endpoints: EndpointIndex) {
    this.#endpoints = endpoints;
  }

  /** Whether a source reports a cluster. */
  hasCluster(clusterId: string): boolean {
    return [...this.#sources.keys()].some((id) => id.slice(id.indexOf("/") + 1) === clusterId);
  }

  /**
   * The sink of a source. The order of the sources' first calls gives their ranks. A second call gives the same sink.
   */
  sink(source: RegistrySource): RegistrySink {
    const reports = this.#reportsOf(source);
    return {
      services: (upserted, removed) => this.#onServices(reports, upserted, removed),
      endpoints: (service, shard, endpoints) => this.#onEndpoints(reports, service, shard, endpoints),
      workloads: (upserted, removed) => this.#onWorkloads(reports, upserted, removed),
      networks: (known) => this.networks.set(reports.source, known),
    };
  }

  /** Removes a source and all its reports, when its cluster is removed. */
  removeSource(source: RegistrySource): void {
    const reports = this.#sources.get(sourceId(source));
    if (reports === undefined) return;
    this.#onServices(reports, [], [...reports.services.keys()]);
    for (const [service, shards] of [...reports.endpoints.entries()]) {
      for (const shard of shards) this.#endpoints.set(service, shard, []);
    }
    this.#onWorkloads(reports, [], [...reports.workloads.keys()]);
    this.networks.remove(reports.source);
    this.#sources.delete(reports.id);
  }

  /** Calls a listener with every later report about workloads, for the life of the aggregate. */
  onWorkloads(listener: WorkloadListener): void {
    this.#listeners.push(listener);
  }

  /** The service in force under a key; the same object until its content changes. */
  service(key: ServiceKey): Service | undefined {
    this.#settleAll();
    return this.#services.get(key);
  }

  /** All services in force, in no particular order. */
  services(): IterableIterator<Service> {
    this.#settleAll();
    return this.#services.values();
  }

  /** The keys of all services in force, in no particular order. */
  keys(): IterableIterator<ServiceKey> {
    this.#settleAll();
    return this.#services.keys();
  }

  /** How many services are in force (`pilot_services`). */
  get serviceCount(): number {
    this.#settleAll();
    return this.#services.size;
  }

  /**
   * The workloads at an address (canonical spelling), ordered by source and id. A proxy at the address has their
   * labels.
   */
  workloadsAt(address: string): readonly Workload[] {
    return this.#workloads.get(address) ?? NO_WORKLOADS;
  }

  /** All workloads, each with an id that is unique among the registries. */
  *allWorkloads(): IterableIterator<readonly [id: string, workload: Workload]> {
    for (const { id: source, workloads } of this.#sources.values()) {
      for (const [id, workload] of workloads) yield [`${source}/${id}`, workload];
    }
  }

  /** Returns the changes since the last call, and forgets the returned changes. */
  drain(): ServiceChanges {
    this.#settleAll();
    const changes = { services: this.#changed, addresses: this.#touched };
    this.#changed = new Set();
    this.#touched = new Set();
    return changes;
  }

  /** Whether `drain` may have something to report; cheap. */
  get pending(): boolean {
    return this.#dirty.size > 0 || this.#changed.size > 0 || this.#touched.size > 0;
  }

  #reportsOf(source: RegistrySource): SourceReports {
    const id = sourceId(source);
    let reports = this.#sources.get(id);
    if (reports === undefined) {
      reports = {
        source,
        id,
        rank: this.#ranks++,
        services: new Map(),
        workloads: new Map(),
        endpoints: new SmallMultimap(),
      };
      this.#sources.set(id, reports);
    }
    return reports;
  }

  #onServices(reports: SourceReports, upserted: readonly Service[], removed: readonly ServiceKey[]): void {
    for (const key of removed) this.#remove(reports, key);
    for (const service of upserted) {
      const key = serviceKey(service);
      reports.services.set(key, service);
      if (service.importOf !== undefined) this.#imports.add(service.importOf, key);
      this.#dirty.add(key);
    }
  }

  #remove(reports: SourceReports, key: ServiceKey): void {
    const old = reports.services.get(key);
    if (old === undefined) return;
    reports.services.delete(key);
    this.#dirty.add(key);
    const others = [...this.#sources.values()].some(({ services }) => services.has(key));
    if (old.importOf !== undefined && !others) this.#imports.delete(old.importOf, key);
  }

  #onEndpoints(reports: SourceReports, service: ServiceKey, shard: string, endpoints: readonly Endpoint[]): void {
    if (endpoints.length > 0) reports.endpoints.add(service, shard);
    else reports.endpoints.delete(service, shard);
    this.#endpoints.set(service, shard, endpoints);
  }

  #onWorkloads(reports: SourceReports, upserted: readonly Workload[], removed: readonly string[]): void {
    for (const id of removed) {
      const old = reports.workloads.get(id);
      if (old === undefined) continue;
      reports.workloads.delete(id);
      this.#move(old, undefined);
    }
    for (const workload of upserted) {
      const old = reports.workloads.get(workload.id);
      if (old !== undefined && sameWorkload(old, workload)) continue;
      reports.workloads.set(workload.id, workload);
      this.#move(old, workload);
    }
    for (const listener of this.#listeners) listener(reports.source, upserted, removed);
  }

  #move(old: Workload | undefined, now: Workload | undefined): void {
    const before = old?.addresses.map(canonicalIp) ?? [];
    const after = now?.addresses.map(canonicalIp) ?? [];
    for (const address of before) if (!after.includes(address)) this.#setAt(address, old, undefined);
    for (const address of after) this.#setAt(address, old, now);
  }

  #setAt(address: string, old: Workload | undefined, now: Workload | undefined): void {
    const before = this.#workloads.get(address) ?? NO_WORKLOADS;
    const others = before.filter((workload) => workload !== old && workload !== now);
    // Each address keeps a list, and a list that grew by an item would have room for seventeen.
    const here = now === undefined ? others : others.length === 0 ? [now] : others.concat(now);
    if (here.length > 1) here.sort(byClusterAndId);
    if (here.length === 0) this.#workloads.delete(address);
    else this.#workloads.set(address, here);
    this.#touched.add(address);
  }

  #settleAll(): void {
    for (const key of this.#dirty) this.#settle(key);
  }

  #settle(key: ServiceKey): void {
    this.#dirty.delete(key);
    const before = this.#services.get(key);
    const after = this.#inForce(key);
    if (samePlain(before, after)) return;
    this.#changed.add(key);
    if (after) this.#services.set(key, after);
    else this.#services.delete(key);
    // The imports settle later in the same walk: a walk over a set also visits elements added meanwhile.
    for (const imported of this.#imports.get(key)) this.#dirty.add(imported);
  }

  #inForce(key: ServiceKey): Service | undefined {
    let winner: ReportedService | undefined;
    const clusters: ReportedService[] = [];
    for (const reports of this.#sources.values()) {
      const service = reports.services.get(key);
      if (service === undefined) continue;
      const candidate = { reports, service };
      if (service.provider === "Orch") clusters.push(candidate);
      if (winner === undefined || beats(candidate, winner)) winner = candidate;
    }
    const imported = winner?.service.importOf;
    if (imported !== undefined) return this.#imported(winner!.service, imported, clusters);
    if (winner === undefined || clusters.length < 2) return winner?.service;
    return { ...winner.service, clusterAddresses: addressesByCluster(clusters) };
  }

  /** A service as it is called and dialled through imports of some clusters. */
  #imported(
    { hostname, addresses }: Service,
    of: ServiceKey,
    clusters: readonly ReportedService[],
  ): Service | undefined {
    if (this.#dirty.has(of)) this.#settle(of);
    const found = this.#services.get(of);
    if (found === undefined) return undefined;
    // The import keeps its own addresses.
    const { oneFamily: _, ...service } = found;
    // If the service has no address in its clusters, the import has an address nevertheless, on which no workload
    // listens.
    const resolution = service.resolution === "passthrough" ? "static" : service.resolution;
    return {
      ...{ ...service, importOf: of, hostname, headless: false, resolution },
      ...{ addresses, clusterAddresses: addressesByCluster(clusters) },
    };
  }
}

function sourceId(source: RegistrySource): string {
  return `${source.provider}/${source.clusterId}`;
}

function byClusterAndId(a: Workload, b: Workload): number {
  const [x, y] = [`${a.clusterId}/${a.id}`, `${b.clusterId}/${b.id}`];
  return x < y ? -1 : x > y ? 1 : 0;
}
