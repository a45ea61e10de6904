/**
 * The registry of service entries: ServiceEntry and WorkloadEntry objects become services, endpoints and workloads.
 *
 *     config changes ──apply──> entries, workloads ──touched services──> merge ──> what differs goes to the sink
 *     workloads of other registries ──onWorkloads──┘
 *
 * The cost of a change is the cost of its services: the services of the entry, or the services that select the
 * workload.
 *
 * @module
 */
import { unpaced } from "../../kernel/time/paced.ts";
import type { AnyConfigObject } from "../../config/types.ts";
import { objectKey } from "../../config/types.ts";
import type { RegistrySource } from "../aggregate.ts";
import { sameEndpoints, sameLabels, samePlain, sameWorkload } from "../content.ts";
import type { Labels } from "../labels.ts";
import { SmallMultimap } from "../small_multimap.ts";
import type { Endpoint, Registry, RegistrySink, Service, ServiceKey, ServicePort, Workload } from "../types.ts";
import { resolutionOf, serviceKey } from "../types.ts";
import type { AssignedAddress } from "../../config/kinds/assigned_addresses.ts";
import {
  type ConvertedEntry,
  convertEntry,
  type ConvertOptions,
  convertWorkload,
  endpointLabels,
  exactAddresses,
  hostEndpoints,
  isOneHost,
  poolEndpoints,
  takesAddresses,
  workloadEndpoint,
} from "./convert.ts";
import { resolvesNames } from "./resolution.ts";
import { byAge, type MergedService, mergeEntries, type ServiceFragment } from "./merge.ts";
import type { StandInAddresses } from "../allocation/stand_ins.ts";
import { ServiceAddresses } from "./service_addresses.ts";
import { WorkloadSelection } from "../selection.ts";
import {
  addressKey,
  type HealthReport,
  isChecked,
  placeKey,
  ReportedHealth,
  type ReportPlace,
  type WorkloadEntryObject,
} from "./reported_health.ts";

/** Settings of the registry. */
export interface ServiceEntryOptions extends ConvertOptions {
  /** Selectors also select pods of other registries (`PILOT_ENABLE_SERVICEENTRY_SELECT_PODS`). */
  readonly selectPods: boolean;
  /** Services without an address get an automatic address (`PILOT_ENABLE_IP_AUTOALLOCATE`). */
  readonly autoAllocate: boolean;
  /** Stand-in addresses for services, never equal to an entry's address. Default: none. */
  readonly standIns?: StandInAddresses;
  /** Health of workload entries is looked at (`PILOT_ENABLE_WORKLOAD_ENTRY_HEALTHCHECKS`). */
  readonly healthChecks: boolean;
}

/** The last report to the sink about a service. */
interface Reported {
  service: Service | undefined;
  endpoints: readonly Endpoint[];
}

/** Objects and services handled in a single step. */
const ITEMS_A_STEP = 200;
const NO_ENDPOINTS: readonly Endpoint[] = Object.freeze([]);

/** Service entries as a registry. All calls are synchronous. */
export class ServiceEntryRegistry implements Registry {
  readonly provider = "External";
  readonly clusterId: string;
  /** Shard of the reported endpoints. */
  readonly shard: string;
  readonly #options: ServiceEntryOptions;
  readonly #entries = new Map<string, ConvertedEntry>();
  readonly #byService = new SmallMultimap<ServiceKey, ConvertedEntry>();
  readonly #entryObjects = new Map<string, WorkloadEntryObject>();
  /** Keys of these objects by the place of their address. */
  readonly #byAddress = new SmallMultimap<string, string>();
  readonly #health = new ReportedHealth();
  /** Workloads for selectors: own workloads by key, workloads of other registries by source and id. */
  readonly #workloads = new Map<string, Workload>();
  readonly #selection = new WorkloadSelection<ConvertedEntry>(() => this.#workloads);
  readonly #addresses = new ServiceAddresses();
  readonly #assignedListeners = new Set<(entries: ReadonlySet<string>) => void>();
  readonly #merged = new Map<ServiceKey, MergedService>();
  readonly #reported = new Map<ServiceKey, Reported>();
  /** Labels with place, and endpoints by service port, made once for each version of a workload. */
  readonly #labels = new WeakMap<Workload, Labels>();
  readonly #made = new WeakMap<Workload, WeakMap<ServicePort, Endpoint>>();
  #sink: RegistrySink | undefined;

  constructor(options: ServiceEntryOptions) {
    this.#options = options;
    this.clusterId = options.clusterId;
    this.shard = `${this.provider}/${this.clusterId}`;
  }

  /** The number of services that want an automatic address, and the number of addresses. */
  get automaticAddresses(): { readonly wanted: number; readonly available: number } {
    return this.#addresses.counts;
  }

  /** Calls `listener` with the keys of entries whose hosts may have new addresses. @returns ends the calls */
  onAssigned(listener: (entries: ReadonlySet<string>) => void): () => void {
    this.#assignedListeners.add(listener);
    return () => void this.#assignedListeners.delete(listener);
  }

  /** The addresses in force, for the status of an entry; undefined: the status should assign none. */
  assignment(key: string): readonly AssignedAddress[] | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || !this.#options.autoAllocate || !takesAddresses(entry)) return undefined;
    return entry.hosts.filter(isOneHost).flatMap((host) =>
      this.#addresses.addresses(serviceKey({ namespace: entry.namespace, hostname: host }))
        .map((value) => ({ host, value }))
    );
  }

  start(sink: RegistrySink): Promise<void> {
    this.#sink = sink;
    sink.workloads([...this.#entryObjects.keys()].map((key) => this.#workloads.get(key)!), []);
    sink.services(
      [...this.#reported.values()].map((reported) => reported.service).filter((service) => service !== undefined),
      [],
    );
    for (const [key, reported] of this.#reported) {
      if (reported.endpoints.length > 0) sink.endpoints(key, this.shard, reported.endpoints);
    }
    return Promise.resolve();
  }

  stop(): Promise<void> {
    this.#sink = undefined;
    return Promise.resolve();
  }

  /**
   * Takes config changes. Objects of other kinds are passed over, so the store's changes may come unfiltered.
   *
   * @param upserted Objects that appeared or changed.
   * @param removed Keys (`kind/namespace/name`) of objects that went.
   */
  apply(upserted: readonly AnyConfigObject[], removed: readonly string[]): void {
    unpaced(this.applySteps(upserted, removed));
  }

  /** Like {@linkcode ServiceEntryRegistry.apply}, in steps of some milliseconds; other calls may come between steps. */
  *applySteps(upserted: readonly AnyConfigObject[], removed: readonly string[]): Generator<void, void> {
    const [touched, selecting] = [new Set<ServiceKey>(), new Set<ServiceKey>()];
    const changed = new Set<string>();
    let count = 0;
    for (const key of removed) {
      if (++count % ITEMS_A_STEP === 0) yield;
      if (this.#removeEntry(key, touched)) continue;
      if (!this.#setObject(key, undefined)) continue;
      this.#setWorkload(key, undefined, selecting);
      changed.add(key);
    }
    for (const object of upserted) {
      if (++count % ITEMS_A_STEP === 0) yield;
      if (object.kind === "ServiceEntry") this.#addEntry(convertEntry(object, this.#options), touched);
      else if (object.kind === "WorkloadEntry") {
        this.#setObject(object.key, object);
        if (this.#setWorkload(object.key, this.#convert(object), selecting)) changed.add(object.key);
      }
    }
    // A call between steps may have changed a workload again, and its report is the later one.
    const { there = [], gone = [] } = Object.groupBy(changed, (key) => this.#entryObjects.has(key) ? "there" : "gone");
    if (changed.size > 0) this.#sink?.workloads(there.map((key) => this.#workloads.get(key)!), gone);
    yield* this.#report(touched, selecting);
  }

  /**
   * Records the result of a workload's probes, for present and later entries of the workload (see the annotation
   * `proxy.mesh.io/health-checks-enabled`).
   *
   * @param report undefined: the reports ended, which counts as unhealthy
   */
  setHealth(place: ReportPlace, report: HealthReport | undefined): void {
    this.#health.set(place, report);
    const objects = this.#objectsAt(place);
    for (const object of objects) this.#health.settle(object);
    this.#lookAgain(objects);
  }

  /**
   * Present checked entries without a health in their status count as healthy until their agents report: a server that
   * starts does not know the reports to the server before.
   *
   * @returns Ends the wait: entries still without a report become unhealthy.
   */
  awaitReports(): () => void {
    const awaited = [...this.#entryObjects.values()].filter(isChecked);
    for (const object of awaited) {
      this.#health.await(object);
      this.#health.settle(object);
    }
    this.#lookAgain(awaited);
    return () => {
      const silent = awaited.filter(({ key }) => this.#health.forget(key)).map(({ key }) =>
        this.#entryObjects.get(key)
      );
      this.#lookAgain(silent.filter((object) => object !== undefined));
    };
  }

  /** Takes workloads of other registries, for selectors. The registry passes over its own reports. */
  onWorkloads(source: RegistrySource, upserted: readonly Workload[], removed: readonly string[]): void {
    if (source.provider === this.provider && source.clusterId === this.clusterId) return;
    const selecting = new Set<ServiceKey>();
    const prefix = `${source.provider}/${source.clusterId}/`;
    for (const id of removed) this.#setWorkload(prefix + id, undefined, selecting);
    for (const workload of upserted) {
      const wanted = workload.kind !== "pod" || this.#options.selectPods;
      if (wanted) this.#setWorkload(prefix + workload.id, workload, selecting);
    }
    unpaced(this.#report(new Set(), selecting));
  }

  #objectsAt(place: ReportPlace): WorkloadEntryObject[] {
    const { namespace } = place;
    const keys = "name" in place
      ? [objectKey("WorkloadEntry", namespace, place.name)]
      : this.#byAddress.get(placeKey(place));
    return [...keys].map((key) => this.#entryObjects.get(key)).filter((object) => object !== undefined);
  }

  /** Applies the health of these entries. */
  #lookAgain(objects: readonly WorkloadEntryObject[]): void {
    const selecting = new Set<ServiceKey>();
    const changed: Workload[] = [];
    for (const object of objects) {
      const workload = this.#convert(object);
      if (this.#setWorkload(object.key, workload, selecting)) changed.push(workload);
    }
    if (changed.length > 0) this.#sink?.workloads(changed, []);
    unpaced(this.#report(new Set(), selecting));
  }

  #convert(object: WorkloadEntryObject): Workload {
    const healthy = !this.#options.healthChecks || !isChecked(object) || this.#health.isHealthy(object);
    return convertWorkload(object, healthy ? "healthy" : "unhealthy", this.#options);
  }

  /** @returns whether the object was known */
  #setObject(key: string, object: WorkloadEntryObject | undefined): boolean {
    const old = this.#entryObjects.get(key);
    if (old !== undefined) this.#byAddress.delete(addressKey(old), key);
    if (object === undefined) {
      this.#entryObjects.delete(key);
      this.#health.forget(key);
    } else {
      this.#entryObjects.set(key, object);
      this.#byAddress.add(addressKey(object), key);
    }
    return old !== undefined;
  }

  #addEntry(entry: ConvertedEntry, touched: Set<ServiceKey>): void {
    this.#removeEntry(entry.key, touched);
    this.#entries.set(entry.key, entry);
    this.#addresses.write(entry.addresses);
    this.#options.standIns?.take(exactAddresses(entry));
    this.#selection.addEntry(entry);
    for (const hostname of entry.hosts) {
      const key = serviceKey({ namespace: entry.namespace, hostname });
      this.#byService.add(key, entry);
      touched.add(key);
    }
  }

  #removeEntry(key: string, touched: Set<ServiceKey>): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#entries.delete(key);
    this.#addresses.unwrite(entry.addresses);
    this.#options.standIns?.giveBack(exactAddresses(entry));
    this.#selection.removeEntry(entry);
    for (const hostname of entry.hosts) {
      const service = serviceKey({ namespace: entry.namespace, hostname });
      this.#byService.delete(service, entry);
      touched.add(service);
    }
    return true;
  }

  /** Replaces a workload; false: unchanged. */
  #setWorkload(id: string, workload: Workload | undefined, selecting: Set<ServiceKey>): boolean {
    const old = this.#workloads.get(id);
    if (old === workload || (old && workload && sameWorkload(old, workload))) return false;
    // The usual event leaves labels alone: the same entries select the new version, under the same keys.
    const alike = old !== undefined && workload !== undefined && old.namespace === workload.namespace &&
      sameLabels(old.labels, workload.labels);
    if (old !== undefined && !alike) {
      for (const entry of this.#selection.entriesOf(old)) touch(entry, selecting);
      this.#selection.removeWorkload(id, old);
    }
    if (workload !== undefined) {
      this.#workloads.set(id, workload);
      this.#selection.addWorkload(id, workload);
      for (const entry of this.#selection.entriesOf(workload)) touch(entry, selecting);
    } else this.#workloads.delete(id);
    return true;
  }

  /**
   * Makes the touched services again and reports differences: services first, so that endpoints have their services.
   *
   * @param touched Services with changed entries.
   * @param selecting Services with only changes of the selected workloads.
   */
  *#report(touched: Set<ServiceKey>, selecting: ReadonlySet<ServiceKey>): Generator<void, void> {
    let count = 0;
    for (const key of touched) {
      this.#merge(key);
      if (++count % ITEMS_A_STEP === 0) yield;
    }
    // The merge may have moved addresses of other services.
    for (const key of this.#addresses.settle()) touched.add(key);
    this.#options.standIns?.settle();
    this.#tellAssigned(touched);
    const keys = [...touched, ...[...selecting].filter((key) => !touched.has(key))];
    for (let at = 0; at < keys.length; at += ITEMS_A_STEP) {
      if (at > 0) yield;
      this.#reportSome(keys.slice(at, at + ITEMS_A_STEP), touched);
    }
  }

  #reportSome(keys: readonly ServiceKey[], touched: ReadonlySet<ServiceKey>): void {
    const upserted: Service[] = [];
    const removed: ServiceKey[] = [];
    const lists: [ServiceKey, readonly Endpoint[]][] = [];
    for (const key of keys) {
      const reported = this.#reported.get(key);
      if (!touched.has(key)) {
        if (reported) this.#listEndpoints(key, reported, lists);
        continue;
      }
      const now = reported ?? { service: undefined, endpoints: NO_ENDPOINTS };
      const service = this.#withAddresses(key);
      if (!samePlain(now.service, service)) {
        now.service = service;
        if (service) upserted.push(service);
        else removed.push(key);
      }
      if (service) this.#reported.set(key, now);
      else this.#reported.delete(key);
      this.#listEndpoints(key, now, lists);
    }
    if (upserted.length > 0 || removed.length > 0) this.#sink?.services(upserted, removed);
    for (const [key, list] of lists) this.#sink?.endpoints(key, this.shard, list);
  }

  #listEndpoints(key: ServiceKey, reported: Reported, lists: [ServiceKey, readonly Endpoint[]][]): void {
    const merged = this.#merged.get(key);
    const endpoints = merged ? this.#endpointsOf(merged) : NO_ENDPOINTS;
    if (sameEndpoints(reported.endpoints, endpoints)) return;
    reported.endpoints = endpoints;
    lists.push([key, endpoints]);
  }

  /** Merges the entries of a service, and notes whether the service wants an address. */
  #merge(key: ServiceKey): void {
    const entries = this.#byService.get(key);
    if (entries.length === 0) {
      this.#merged.delete(key);
      this.#addresses.unwant(key);
      return;
    }
    const merged = mergeEntries(key.slice(key.indexOf("/") + 1), entries);
    this.#merged.set(key, merged);
    const { service, fragments } = merged;
    const wants = this.#options.autoAllocate && service.addresses.length === 0 && isOneHost(service.hostname) &&
      takesAddresses(fragments[0]!.entry);
    if (!wants) return this.#addresses.unwant(key);
    const [assigned] = [...entries].sort(byAge).flatMap((entry) => {
      const found = takesAddresses(entry) ? entry.assigned.get(service.hostname) : undefined;
      return found === undefined ? [] : [found];
    });
    this.#addresses.want(key, service.creationTimestamp, assigned);
  }

  #tellAssigned(services: ReadonlySet<ServiceKey>): void {
    if (this.#assignedListeners.size === 0) return;
    const entries = new Set([...services].flatMap((key) => this.#byService.get(key).map((entry) => entry.key)));
    for (const listener of this.#assignedListeners) listener(entries);
  }

  #withAddresses(key: ServiceKey): Service | undefined {
    const service = this.#merged.get(key)?.service;
    const addresses = this.#addresses.addresses(key);
    return service && addresses.length > 0 ? { ...service, autoAllocatedAddresses: addresses } : service;
  }

  #endpointsOf(merged: MergedService): readonly Endpoint[] {
    const { service, fragments } = merged;
    const only = fragments.length === 1 ? fragments[0]!.entry : undefined;
    // The common case: all hosts share the entry's own list.
    if (only && only.inline.length > 0 && service.resolution !== "dnsRoundRobin") return only.inline;
    const all = fragments.flatMap((fragment) => this.#fragmentEndpoints(service, fragment));
    // The proxy resolves a single name and takes any of the addresses, so only the first endpoint of a port can be
    // used.
    const single = service.ports.filter((port) => resolutionOf(service, port) === "dnsRoundRobin");
    if (single.length === 0) return all;
    const names = new Set(single.map(({ name }) => name));
    const ports = new Set<string>();
    return all.filter(({ portName }) => !names.has(portName) || !ports.has(portName) && ports.add(portName));
  }

  #fragmentEndpoints(service: Service, fragment: ServiceFragment): Endpoint[] {
    const { entry, portNames } = fragment;
    let list: readonly Endpoint[] = entry.inline;
    if (entry.selector) list = this.#selectedEndpoints(entry);
    else if (list.length === 0 && resolvesNames(entry.resolution)) {
      list = hostEndpoints(service.hostname, entry, this.clusterId);
    }
    if (portNames === undefined) return [...list];
    return list.flatMap((endpoint) => {
      const portName = portNames.get(endpoint.portName);
      if (portName === undefined) return [];
      return portName === endpoint.portName ? [endpoint] : [{ ...endpoint, portName }];
    });
  }

  #selectedEndpoints(entry: ConvertedEntry): Endpoint[] {
    return this.#selection.workloadsOf(entry).flatMap((workload) => {
      let made = this.#made.get(workload);
      if (made === undefined) this.#made.set(workload, made = new WeakMap());
      let labels = this.#labels.get(workload);
      if (labels === undefined) this.#labels.set(workload, labels = endpointLabels(workload));
      return poolEndpoints(entry, workload, labels) ?? entry.ports.flatMap((port) => {
        const endpoint = made.get(port) ?? workloadEndpoint(workload, labels, port, entry.resolution);
        if (endpoint !== undefined) made.set(port, endpoint);
        return endpoint ?? [];
      });
    });
  }
}

function touch(entry: ConvertedEntry, touched: Set<ServiceKey>): void {
  for (const hostname of entry.hosts) touched.add(serviceKey({ namespace: entry.namespace, hostname }));
}
