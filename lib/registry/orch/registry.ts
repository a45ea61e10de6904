/**
 * The registry of the orchestrator's objects: services, endpoints and pods, wherever the objects come from.
 *
 *     a folder, an API ──apply──> objects ──affected──> services, pods, lists of endpoints ──what differs──> sink
 *     workload entries ──onWorkloads──────────────────────┘
 *
 * The cost of an event depends on its object: a list of endpoints costs its endpoints, a pod costs the lists that name
 * the pod, a service costs its lists and its selected pods.
 *
 * @module
 */
import type { AnyFact } from "../../config/facts/types.ts";
import { unpaced } from "../../kernel/time/paced.ts";
import type { RegistrySource } from "../aggregate.ts";
import { sameEndpoints, samePlain, sameWorkload } from "../content.ts";
import { type Labels, withPlace } from "../labels.ts";
import { WorkloadSelection } from "../selection.ts";
import { StandInAddresses } from "../allocation/stand_ins.ts";
import { SmallMultimap } from "../small_multimap.ts";
import {
  type Endpoint,
  type Registry,
  type RegistrySink,
  type Service,
  type ServiceKey,
  serviceKey,
  type Workload,
} from "../types.ts";
import {
  buildEndpoints,
  type BuiltEndpoints,
  type EndpointSurroundings,
  entryEndpoints,
  onceEach,
} from "./endpoints.ts";
import { RegistryCounts } from "./counts.ts";
import { KnownNetworks } from "./networks.ts";
import { type AffectedObjects, RegistryObjects } from "./objects.ts";
import { isRegistryFact, type OrchRegistryOptions, type RegistryKind } from "./options.ts";
import { nodeLocality, type OrchPod, withServed, withServesOf } from "./pod.ts";
import { importedService, type OrchService, sharedKey } from "./service.ts";
import { type SharedService, sharedService } from "./shared_service.ts";

/** Objects, services and pods handled in a single step. */
const ITEMS_A_STEP = 200;

/**
 * Workloads in a report. A service entry that selects many workloads is made again for each report, so a report is not
 * as small as a step.
 */
const WORKLOADS_A_REPORT = 1000;

const NO_ENDPOINTS: readonly Endpoint[] = Object.freeze([]);
const NOTHING_BUILT: BuiltEndpoints = Object.freeze({ endpoints: NO_ENDPOINTS, waiting: [] });

/** Services to report, each by its present state: a call between steps may have changed a service again. */
type DifferingServices = Map<ServiceKey, () => Service | undefined>;

/** All calls are synchronous. */
export class OrchRegistry implements Registry {
  readonly provider = "Orch";
  readonly clusterId: string;
  /** Shard of the reported endpoints. */
  readonly shard: string;
  /** Events and missing pods so far. */
  readonly counts = new RegistryCounts();
  readonly #options: OrchRegistryOptions;
  readonly #objects: RegistryObjects;
  readonly #standIns: StandInAddresses;
  readonly #services = new Map<string, OrchService>();
  /** Services under their host of all clusters, by `namespace/name`. */
  readonly #imports = new Map<string, Service>();
  readonly #pods = new Map<string, OrchPod>();
  readonly #podsAt = new SmallMultimap<string, string>();
  readonly #reported = new Map<string, Workload>();
  /** Workload entries of other registries, by source and id. */
  readonly #entries = new Map<string, Workload>();
  /** Labels of the entries and of their places. */
  readonly #entryLabels = new WeakMap<Workload, Labels>();
  readonly #selection = new WorkloadSelection<OrchService>();
  readonly #built = new Map<string, BuiltEndpoints>();
  readonly #endpoints = new Map<ServiceKey, readonly Endpoint[]>();
  readonly #networks: KnownNetworks;
  readonly #around: EndpointSurroundings;
  #sink: RegistrySink | undefined;
  /** Count of reported changes and of drifted objects, so far. */
  #differences = 0;

  constructor(options: OrchRegistryOptions) {
    this.#options = options;
    this.clusterId = options.clusterId;
    this.shard = `${this.provider}/${this.clusterId}`;
    this.#standIns = options.standIns ?? new StandInAddresses();
    this.#standIns.onMoved((ids) => this.#moved(ids));
    this.#objects = new RegistryObjects(options, this.#standIns);
    this.#networks = new KnownNetworks(this.#objects);
    this.#around = {
      options,
      pod: (id) => this.#pods.get(id),
      podAt: (namespace, address) => this.#podAt(namespace, address),
      locality: (node) => nodeLocality(this.#objects.node(node)),
      network: (address) => this.#objects.network || options.networkOf(address),
    };
  }

  /** Network of an address of the registry's cluster, if nothing else decides the network. */
  readonly networkOf = (address: string): string => this.#around.network(address);

  start(sink: RegistrySink): Promise<void> {
    this.#sink = sink;
    sink.services([...[...this.#services.values()].map(({ service }) => service), ...this.#imports.values()], []);
    sink.workloads([...this.#reported.values()], []);
    for (const [key, list] of this.#endpoints) sink.endpoints(key, this.shard, list);
    sink.networks(this.#networks.known);
    return Promise.resolve();
  }

  stop(): Promise<void> {
    this.#sink = undefined;
    return Promise.resolve();
  }

  /**
   * Takes changes of objects. Objects of other kinds are passed over.
   *
   * @param upserted Objects that appeared or changed.
   * @param removed Keys (`kind/namespace/name`) of objects that went.
   */
  apply(upserted: readonly AnyFact[], removed: readonly string[]): void {
    unpaced(this.applySteps(upserted, removed));
  }

  /** Like {@linkcode OrchRegistry.apply}, in steps of some milliseconds; other calls may come between steps. */
  *applySteps(upserted: readonly AnyFact[], removed: readonly string[]): Generator<void, void> {
    const affected = nothing();
    let count = 0;
    for (const key of removed) {
      const kind = this.#objects.remove(key, affected);
      if (kind !== undefined) this.counts.event(kind, "delete");
      if (++count % ITEMS_A_STEP === 0) yield;
    }
    for (const fact of upserted) {
      if (isRegistryFact(fact)) this.counts.event(fact.kind, this.#objects.put(fact, affected) ? "update" : "add");
      if (++count % ITEMS_A_STEP === 0) yield;
    }
    yield* this.#report(affected);
  }

  /**
   * Makes the reports of some objects again, and reports differences from earlier reports. There are differences only
   * if the registry has drifted.
   *
   * @param facts Objects that the registry should have.
   * @param gone Keys of objects that the registry should not have.
   * @returns The number of objects, services, lists of endpoints and workloads that differed.
   */
  check(facts: readonly AnyFact[], gone: readonly string[]): number {
    const before = this.#differences;
    const affected = nothing();
    for (const key of gone) if (this.#objects.remove(key, affected) !== undefined) this.#differences++;
    for (const fact of facts) {
      if (!isRegistryFact(fact)) continue;
      const isKnown = this.#objects.has(fact);
      if (!isKnown) this.#differences++;
      // The results of namespaces and nodes are services and pods, and services and pods are checked too.
      if (isKnown && (fact.kind === "Namespace" || fact.kind === "Node")) continue;
      this.#objects.put(fact, affected);
    }
    unpaced(this.#report(affected));
    return this.#differences - before;
  }

  /** Keys of all known objects of a kind. */
  keys(kind: RegistryKind): IterableIterator<string> {
    return this.#objects.keys(kind);
  }

  /** The services exported from the registry's cluster, or imported into the cluster, by name. */
  sharedServices(): SharedService[] {
    const known = [...this.#objects.shared()].sort();
    if (this.#options.shared === undefined) return [];
    return known.map((id) =>
      sharedService(id, this.#options, {
        ...{ service: this.#services.get(id)?.service, served: this.#imports.get(id) },
        ...{ isExported: this.#objects.exported(id), isImported: this.#objects.imported(id) !== undefined },
      })
    );
  }

  /** Makes everything again: settings outside of the objects, such as networks, have changed. */
  again(): void {
    const affected = nothing();
    this.#objects.touchAll(affected);
    unpaced(this.#report(affected));
  }

  /**
   * Takes workload entries of other registries, for selectors. The registry passes over its own reports and the reports
   * of other clusters. Services of another cluster select their entries there.
   */
  onWorkloads(source: RegistrySource, upserted: readonly Workload[], removed: readonly string[]): void {
    if (!this.#options.selectWorkloadEntries || source.provider === this.provider) return;
    if (source.clusterId !== this.clusterId) return;
    const prefix = `${source.provider}/${source.clusterId}/`;
    const concerned = new Set<string>();
    for (const id of removed) this.#setEntry(prefix + id, undefined, concerned);
    for (const workload of upserted) {
      if (workload.kind === "workloadEntry") this.#setEntry(prefix + workload.id, workload, concerned);
    }
    for (const id of concerned) this.#reportEndpoints(id);
  }

  #setEntry(id: string, workload: Workload | undefined, concerned: Set<string>): void {
    const old = this.#entries.get(id);
    const concern = (one: Workload) => {
      for (const service of this.#selection.entriesOf(one)) concerned.add(service.id);
    };
    if (old !== undefined) {
      concern(old);
      this.#selection.removeWorkload(id, old);
    }
    if (workload === undefined) return void this.#entries.delete(id);
    this.#entries.set(id, workload);
    this.#entryLabels.set(workload, withPlace(workload.labels, workload));
    this.#selection.addWorkload(id, workload);
    concern(workload);
  }

  /** Other addresses stand in for services. Services of other registries are passed over. */
  #moved(ids: ReadonlySet<string>): void {
    const affected = nothing();
    for (const id of ids) if (this.#services.has(id)) affected.services.add(id);
    if (affected.services.size > 0) unpaced(this.#report(affected));
  }

  /** Builds affected objects again, pods first, and reports differences, services first. */
  *#report(affected: AffectedObjects): Generator<void, void> {
    this.#standIns.settle(affected.services);
    const workloads = new Set<string>();
    let count = 0;
    for (const id of affected.pods) {
      this.#makePod(id, affected);
      workloads.add(id);
      if (++count % ITEMS_A_STEP === 0) yield;
    }
    if (this.#networks.look(affected.entrances)) this.#sink?.networks(this.#networks.known);
    const differing: DifferingServices = new Map();
    for (const id of affected.services) {
      this.#makeService(id, { differing, workloads, lists: affected.lists });
      this.#makeImport(id, differing);
      if (++count % ITEMS_A_STEP === 0) yield;
    }
    const services = new Set(affected.services);
    for (const key of affected.lists) {
      const service = this.#makeList(key);
      if (service !== undefined) services.add(service);
      if (++count % ITEMS_A_STEP === 0) yield;
    }
    const changed = [...differing.values()].flatMap((present) => present() ?? []);
    const gone = [...differing].flatMap(([key, present]) => present() === undefined ? key : []);
    this.#differences += differing.size;
    if (changed.length > 0 || gone.length > 0) this.#sink?.services(changed, gone);
    for (const key of gone) this.#setEndpoints(key, NO_ENDPOINTS);
    for (const id of services) {
      this.#reportEndpoints(id);
      if (++count % ITEMS_A_STEP === 0) yield;
    }
    yield* this.#reportWorkloads(workloads);
  }

  #makePod(id: string, { lists }: AffectedObjects): void {
    const old = this.#pods.get(id);
    const now = withServesOf(old, this.#objects.pod(id));
    if (samePlain(old, now)) return;
    if (old !== undefined) {
      for (const address of old.workload.addresses) this.#podsAt.delete(address, id);
      this.#selection.removeWorkload(old.workload.id, old.workload);
    }
    if (now === undefined) this.#pods.delete(id);
    else {
      this.#pods.set(id, now);
      for (const address of now.workload.addresses) this.#podsAt.add(address, id);
      this.#selection.addWorkload(now.workload.id, now.workload);
    }
    for (const key of this.#objects.listsWith(id)) lists.add(key);
    for (const address of [...old?.workload.addresses ?? [], ...now?.workload.addresses ?? []]) {
      for (const key of this.#objects.listsAt(address)) lists.add(key);
    }
  }

  #makeService(id: string, into: {
    readonly differing: DifferingServices;
    readonly workloads: Set<string>;
    readonly lists: Set<string>;
  }): void {
    const old = this.#services.get(id);
    const now = this.#objects.service(id);
    if (samePlain(old, now)) return;
    for (const one of [old, now]) {
      const selected = one === undefined ? [] : this.#selection.workloadsOf(one);
      for (const { kind, id } of selected) if (kind === "pod") into.workloads.add(id.slice("pod/".length));
    }
    if (old !== undefined) this.#selection.removeEntry(old);
    if (now === undefined) {
      this.#services.delete(id);
      into.differing.set(old!.key, () => this.#services.get(id)?.service);
    } else {
      this.#services.set(id, now);
      this.#selection.addEntry(now);
      if (!samePlain(old?.service, now.service)) into.differing.set(now.key, () => this.#services.get(id)?.service);
    }
    for (const key of this.#objects.listKeysOf(id)) into.lists.add(key);
  }

  #makeImport(id: string, differing: DifferingServices): void {
    const { shared } = this.#options;
    if (!shared?.host) return;
    const old = this.#imports.get(id);
    const fact = this.#objects.imported(id);
    const now = fact && importedService(fact, this.#options);
    if (samePlain(old, now)) return;
    if (now === undefined) this.#imports.delete(id);
    else this.#imports.set(id, now);
    differing.set(serviceKey((now ?? old)!), () => this.#imports.get(id));
  }

  /** @returns `namespace/name` of the list's service, now or before */
  #makeList(key: string): string | undefined {
    const list = this.#objects.list(key);
    const of = list && this.#services.get(list.service);
    if (list === undefined || of === undefined) {
      this.#built.delete(key);
      return list?.service;
    }
    const parts = list.subsets.map((subset) => buildEndpoints(subset, list.family, of, this.#around));
    const [only] = parts;
    const built = parts.length === 1 ? only! : {
      endpoints: parts.flatMap(({ endpoints }) => endpoints),
      waiting: parts.flatMap(({ waiting }) => waiting),
    };
    this.#built.set(key, built);
    return list.service;
  }

  #reportEndpoints(id: string): void {
    const of = this.#services.get(id);
    if (of === undefined) {
      this.counts.waits(id, []);
      return this.#share(id, undefined, NO_ENDPOINTS);
    }
    const built = this.#objects.listsOf(id).map(({ key }) => this.#built.get(key) ?? NOTHING_BUILT);
    this.counts.waits(id, built.flatMap(({ waiting }) => waiting));
    const lists = built.map(({ endpoints }) => endpoints);
    const entries = this.#selectedEntries(of);
    const [only = NO_ENDPOINTS] = lists;
    const all = lists.length < 2 && entries.length === 0 ? only : onceEach(lists, entries);
    this.#share(id, of.key, all);
  }

  /** Reports the endpoints of a service under each of its hosts, to the clients that may use the host. */
  #share(id: string, key: ServiceKey | undefined, all: readonly Endpoint[]): void {
    const { shared } = this.#options;
    const isExported = shared === undefined || this.#objects.exported(id);
    const kept = !isExported || shared?.clusterLocal
      ? all.map((one) => ({ ...one, ownClusterOnly: true as const }))
      : all;
    if (key !== undefined) this.#setEndpoints(key, kept);
    if (shared?.host) this.#setEndpoints(sharedKey(id), isExported ? all : kept);
  }

  #selectedEntries(of: OrchService): readonly Endpoint[] {
    const { headless, externalName } = of.service;
    if (headless || externalName !== undefined || this.#entries.size === 0) return NO_ENDPOINTS;
    return this.#selection.workloadsOf(of).flatMap((workload) =>
      workload.kind === "workloadEntry"
        ? entryEndpoints(workload, this.#entryLabels.get(workload) ?? workload.labels, of)
        : []
    );
  }

  #setEndpoints(key: ServiceKey, list: readonly Endpoint[]): void {
    if (sameEndpoints(this.#endpoints.get(key) ?? NO_ENDPOINTS, list)) return;
    if (list.length === 0) this.#endpoints.delete(key);
    else this.#endpoints.set(key, list);
    this.#differences++;
    this.#sink?.endpoints(key, this.shard, list);
  }

  /** In several reports: each report also makes the results that other registries select. */
  *#reportWorkloads(ids: ReadonlySet<string>): Generator<void, void> {
    let some: string[] = [];
    for (const id of ids) {
      some.push(id);
      if (some.length < WORKLOADS_A_REPORT) continue;
      this.#reportSome(some);
      some = [];
      yield;
    }
    this.#reportSome(some);
  }

  #reportSome(ids: readonly string[]): void {
    const upserted: Workload[] = [];
    const removed: string[] = [];
    for (const id of ids) {
      const pod = this.#pods.get(id);
      const old = this.#reported.get(id);
      // A pod without an address is not there yet.
      const now = pod === undefined || pod.workload.addresses.length === 0
        ? undefined
        : withServed(pod, this.#selection.entriesOf(pod.workload));
      if (now === undefined) {
        if (old === undefined) continue;
        this.#reported.delete(id);
        removed.push(old.id);
      } else if (old === undefined || !sameWorkload(old, now)) {
        this.#reported.set(id, now);
        this.#keep(id, pod!, now);
        upserted.push(now);
      }
    }
    this.#differences += upserted.length + removed.length;
    if (upserted.length > 0 || removed.length > 0) this.#sink?.workloads(upserted, removed);
  }

  /** The pod has the reported workload itself: a copy for each pod would be kept beside the report. */
  #keep(id: string, pod: OrchPod, workload: Workload): void {
    if (pod.workload === workload) return;
    this.#pods.set(id, { ...pod, workload });
    this.#selection.addWorkload(workload.id, workload);
  }

  /** Several pods share the address of their node: the first pod by name stands for all. */
  #podAt(namespace: string, address: string): OrchPod | undefined {
    const all = this.#podsAt.get(address);
    // Most addresses without the name of a pod have no pod.
    if (all.length === 0) return undefined;
    const [id] = all.filter((one) => one.startsWith(`${namespace}/`)).toSorted();
    return id === undefined ? undefined : this.#pods.get(id);
  }
}

function nothing(): AffectedObjects {
  return { services: new Set(), pods: new Set(), lists: new Set(), entrances: new Set() };
}
