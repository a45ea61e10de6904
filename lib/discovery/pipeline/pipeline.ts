/**
 * The whole way from changes to pushes, without any I/O:
 *
 *     config changes ─┬─> service entries ─┐
 *                     │    registries ─────┼─> aggregate, endpoint index ─┐
 *                     └────────────────────┴──> waiting ── debounce ──────┴─> mesh ─> translator ─> push event
 *
 * A change only marks keys. The work is done once for all marked keys, when the debouncer releases the changes.
 *
 * @module
 */
import type { MeshConfig, MeshNetworks } from "../../config/mesh/types.ts";
import type { AnyConfigObject } from "../../config/types.ts";
import type { Finding } from "../../finding/finding.ts";
import { begun, paced, unpaced } from "../../kernel/time/paced.ts";
import { Aggregate } from "../../registry/aggregate.ts";
import { StandInAddresses } from "../../registry/allocation/stand_ins.ts";
import { EndpointIndex } from "../../registry/endpoint_index.ts";
import type { WaypointAddress } from "../../mesh/waypoints/address.ts";
import type { Labels } from "../../registry/labels.ts";
import { ServiceEntryRegistry } from "../../registry/service_entry/registry.ts";
import type { Registry, RegistrySink } from "../../registry/types.ts";
import { rolloutFindings, unstagedFindings } from "../../rollout/findings.ts";
import { ResourceTable } from "../../resource/set.ts";
import { BUILD } from "../../translate/machine/results/row.ts";
import type { Translator } from "../../translate/machine/translator.ts";
import type { Proxy } from "../../translate/proxy/node.ts";
import type { PushEvent } from "../../xds/protocol/source.ts";
import { AppliedListeners } from "./applied.ts";
import { CurrentTranslator } from "./current_translator.ts";
import { type ChangeEvent, Debouncer, type MergedChange, noChange, REAL_TIMERS, type Timers } from "./debounce.ts";
import { PushFailures } from "./failures.ts";
import { type ChangedNetworks, PipelineNetworks } from "./networks.ts";
import { PipelineObjects } from "./objects.ts";
import type { PipelineOptions } from "./options.ts";
import { WaitingChanges } from "./waiting_changes.ts";
import { pipelineWarnings } from "./warnings.ts";

/** Number of updates so far, by the values of label `type` of metric `pilot_inbound_updates`. */
interface RegistryUpdates {
  eds: number;
  svc: number;
  svcdelete: number;
}

/** The reason of a push after an update, as a value of label `type` of metric `pilot_push_triggers`. */
type RegistryTrigger = "service" | "endpoint" | "proxy";

/** The change of a registry's report, by trigger. The objects are shared, because reports may come by the thousand. */
const REPORTED: Readonly<Record<RegistryTrigger, ChangeEvent>> = {
  service: { reason: "service", objects: [], full: true },
  endpoint: { reason: "endpoint", objects: [], full: false },
  proxy: { reason: "proxy", objects: [], full: false },
};

/** Counts updates, hands them on to another sink, and announces them. */
function countedSink(
  sink: RegistrySink,
  updates: RegistryUpdates,
  handedOn: (trigger: RegistryTrigger) => void,
): RegistrySink {
  return {
    services: (upserted, removed) => {
      updates.svc += upserted.length;
      updates.svcdelete += removed.length;
      sink.services(upserted, removed);
      handedOn("service");
    },
    endpoints: (service, shard, endpoints) => {
      updates.eds++;
      sink.endpoints(service, shard, endpoints);
      handedOn("endpoint");
    },
    workloads: (upserted, removed) => {
      sink.workloads(upserted, removed);
      handedOn("proxy");
    },
    networks: (known) => sink.networks(known),
  };
}

/** The way from changes to pushes. */
export class Pipeline {
  readonly table = new ResourceTable();
  readonly endpoints = new EndpointIndex();
  readonly aggregate = new Aggregate(this.endpoints);
  readonly entries: ServiceEntryRegistry;
  /** Addresses of services without an address. The registries of a pipeline share the addresses. */
  readonly standIns = new StandInAddresses();
  /** The objects of the pipeline, and their pushes. */
  readonly known = new PipelineObjects();
  readonly #options: PipelineOptions;
  readonly #debouncer: Debouncer;
  readonly #timers: Timers;
  readonly #listeners = new Set<(push: PushEvent) => void>();
  /** Listeners for the changes of each push. */
  readonly applied = new AppliedListeners();
  /** Updates of registries so far. */
  readonly updates: RegistryUpdates = { eds: 0, svc: 0, svcdelete: 0 };
  readonly #waiting = new WaitingChanges(this.aggregate, this.endpoints);
  readonly #networks: PipelineNetworks;
  readonly #current: CurrentTranslator;
  #pushes = 0;
  readonly #failures: PushFailures;
  /** Labels of namespaces. */
  #namespaces: ReadonlyMap<string, Labels> = new Map();
  /** Addresses of waypoints. */
  #waypointAddresses: ReadonlyMap<string, WaypointAddress> = new Map();
  /** The last push failed as a whole. */
  failing = false;
  readonly #stopped = new AbortController();

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#timers = options.timers ?? REAL_TIMERS;
    const { clusterId } = options.entries;
    const networks = new PipelineNetworks(this.aggregate.networks, clusterId, options.networks, options.gatewayNames);
    this.#networks = networks;
    this.entries = new ServiceEntryRegistry({
      ...options.entries,
      standIns: this.standIns,
      networkOf: (address) => networks.networkOf(address),
    });
    this.#debouncer = new Debouncer(options.debounce, (change) => this.#push(change), this.#timers);
    this.#failures = new PushFailures(this.#timers, () => this.lookAgain("retry"));
    const { aggregate, endpoints, table, applied } = this;
    this.#current = new CurrentTranslator({
      ...{ options, networks, aggregate, endpoints, table, applied },
      ...{ waiting: this.#waiting, objects: this.known.all, namespaces: () => this.#namespaces },
      waypointAddresses: () => this.#waypointAddresses,
      failed: (resource, error) => this.#failures.add(resource, error),
    });
    this.aggregate.onWorkloads((source, upserted, removed) => this.entries.onWorkloads(source, upserted, removed));
    if (options.settings.waypoints) {
      this.aggregate.onWorkloads((source, upserted, removed) => this.#waiting.addWorkloads(source, upserted, removed));
    }
    this.aggregate.networks.onChange(() => this.networksChanged());
    this.#waiting.setEntrances(networks.entrances);
    void this.addRegistry(this.entries);
  }

  /** The translator in use. A change of the mesh configuration replaces the translator. */
  get translator(): Translator {
    return this.#current.translator;
  }

  /** The mesh configuration in force. */
  get mesh(): MeshConfig {
    return this.#current.mesh;
  }

  /** The ways into networks, by network. */
  get entrances(): PipelineNetworks["entrances"] {
    return this.#networks.entrances;
  }

  /** The ways into networks before the names of gateways are resolved. */
  get namedEntrances(): PipelineNetworks["named"] {
    return this.#networks.named;
  }

  /** Accepted settings that proxies do not get, each once: found by translation, or in the service entries. */
  warnings(): Finding[] {
    const { tokenKeys, entries: { clusterId }, settings: { multiNetwork } } = this.#options;
    const configs = this.mesh.serviceScopeConfigs ?? [];
    const scopes = { configs, multiNetwork, namespaces: this.#namespaces };
    const found = pipelineWarnings(this, tokenKeys?.findings() ?? [], clusterId, scopes);
    const unstaged = this.#options.stagesNothing ? unstagedFindings(this.objects()) : [];
    return [...found, ...rolloutFindings(this.#options.staged), ...unstaged];
  }

  /** Number of the last push. */
  get pushes(): number {
    return this.#pushes;
  }

  /** Calls a listener after every push; returns a function that ends the calls. */
  onPush(listener: (push: PushEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** All objects that are in force or wait for their push. */
  objects(): Iterable<AnyConfigObject> {
    return this.known.all.values();
  }

  /**
   * Builds the results that a first proxy shares with later proxies, in steps between which the event loop turns.
   * Resolves when adding the proxy has become cheap. Undefined: adding the proxy is cheap already.
   */
  prepare(proxy: Proxy): Promise<void> | undefined {
    return this.#current.prepare(proxy);
  }

  /** Adds a registry. Resolves when the registry has reported all its content. */
  addRegistry(registry: Registry): Promise<void> {
    return registry.start(
      countedSink(this.aggregate.sink(registry), this.updates, (trigger) => this.#handedOn(trigger)),
    );
  }

  /** Removes a registry with all its services and workloads. The registry must not report any more. */
  removeRegistry(registry: Pick<Registry, "provider" | "clusterId">): void {
    this.together(() => {
      this.aggregate.removeSource(registry);
      for (const trigger of ["service", "endpoint"] as const) this.#handedOn(trigger);
    });
  }

  /**
   * Takes changes of configuration.
   *
   * @param removed Old versions of removed or changed objects.
   * @param added New objects and new versions.
   */
  configChanged(removed: readonly AnyConfigObject[], added: readonly AnyConfigObject[]): void {
    this.#debouncer.together(() => unpaced(this.#take(removed, added)));
  }

  /**
   * Takes changes of many objects, in steps between which the event loop turns. No push begins before the last step.
   */
  async manyChanged(
    removed: readonly AnyConfigObject[],
    added: readonly AnyConfigObject[],
    signal: AbortSignal,
  ): Promise<void> {
    await this.inSteps(this.#take(removed, added), signal);
  }

  /** Runs a registry's steps, between which the event loop turns. No push begins before the last step. */
  async inSteps(steps: Generator<void, void>, signal: AbortSignal): Promise<void> {
    const release = this.#debouncer.hold();
    await paced(steps, { signal }).finally(release);
  }

  /** Runs a change of a registry. All reports of the change are one reason to push. */
  together(change: () => void): void {
    this.#debouncer.together(change);
  }

  /** Applies changes. The services of service entries are not counted as changes of their own. */
  *#take(removed: readonly AnyConfigObject[], added: readonly AnyConfigObject[]): Generator<void, void> {
    const arrived = new Set(added.map((object) => object.key));
    this.known.take(removed, added);
    this.#waiting.addConfig(removed, added);
    const gone = removed.filter(({ key }) => !arrived.has(key)).map(({ key }) => key);
    for (const _ of this.entries.applySteps(added, gone)) {
      this.#waiting.settleRegistries();
      yield;
    }
    const changed = [...removed, ...added];
    this.known.wait(changed);
    this.#debouncer.add({ reason: "config", objects: [...new Set(changed.map(({ key }) => key))], full: true });
  }

  /** The keys of a token issuer at a place, or the problems with the keys, have changed. */
  tokenKeysChanged(place: string): void {
    this.#waiting.addTokenKeys(place);
    this.lookAgain("tokenKeys");
  }

  /** Takes another mesh configuration: everything is translated anew. */
  meshChanged(mesh: MeshConfig, networks: MeshNetworks): void {
    const reason = mesh === this.mesh ? "networks" : "global";
    if (networks !== this.#networks.written) this.#takeNetworks(this.#networks.use(networks));
    this.#current.useMesh(mesh);
    this.#debouncer.add({ reason, objects: [], full: true });
  }

  /** The registries' facts about networks have changed, or the addresses of gateways' names. */
  networksChanged(): void {
    const changed = this.#networks.look();
    if (!changed.own && !changed.entrances) return;
    this.#takeNetworks(changed);
    this.#debouncer.add({ reason: "networks", objects: [], full: true });
  }

  /** Takes the labels of all namespaces. Unchanged labels are the same object. */
  namespacesChanged(all: ReadonlyMap<string, Labels>): void {
    this.#namespaces = all;
    this.#waiting.setNamespaces(all);
    this.#debouncer.add(REPORTED.service);
  }

  /** Takes the addresses of all waypoints. Unchanged addresses are the same object. */
  waypointAddressesChanged(all: ReadonlyMap<string, WaypointAddress>): void {
    this.#waypointAddresses = all;
    this.#waiting.setWaypointAddresses(all);
    this.#debouncer.add(REPORTED.service);
  }

  #takeNetworks({ own, entrances }: ChangedNetworks): void {
    if (own) this.entries.apply([...this.objects()], []);
    if (entrances) this.#waiting.setEntrances(this.#networks.entrances);
  }

  /** Makes all streams compare their sets again, for a reason other than a change of the mesh. */
  lookAgain(reason: "retry" | "global" | "debug" | "tokenKeys"): void {
    this.#debouncer.add({ reason, objects: [], full: true });
  }

  /** Other proxies have candidates of rollouts, or rollouts have ended. @param objects The objects of the rollouts. */
  rolloutsChanged(objects: readonly AnyConfigObject[]): void {
    this.known.wait(objects);
    this.#debouncer.add({ reason: "rollout", objects: objects.map(({ key }) => key), full: true });
  }

  /** What node tunnels get has changed. Like endpoints, the change need not wait (`PILOT_ENABLE_EDS_DEBOUNCE`). */
  tunnelsChanged(): void {
    this.#debouncer.add({ reason: "ambient", objects: [], full: false });
  }

  /** The first push, before any proxy connects, in steps between which the event loop turns. */
  async start(): Promise<void> {
    const release = this.#debouncer.hold();
    try {
      await paced(this.#current.fill());
    } catch {
      this.#current.invalidate(); // The push that follows fails in the same way, and reports the error.
    } finally {
      release();
    }
    this.flush();
  }

  /** Pushes the waiting changes at once, without debouncing; for tests. */
  flush(): void {
    unpaced(this.#flush(this.#debouncer.take() ?? { ...noChange(this.#timers.now()), full: true }));
  }

  /** Ends pushes. A push that is under way stops in the middle. */
  stop(): void {
    this.#stopped.abort();
    this.#failures.stop();
    this.#debouncer.stop();
  }

  #handedOn(trigger: RegistryTrigger): void {
    const { pending } = trigger === "endpoint" ? this.endpoints : this.aggregate;
    if (pending) this.#debouncer.add(REPORTED[trigger]);
  }

  #push(change: MergedChange): Promise<void> | undefined {
    const { signal } = this.#stopped;
    return begun(this.#flush(change), { ...this.#options.pace, signal })?.catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }

  *#flush(change: MergedChange): Generator<void, void> {
    const started = this.#timers.now();
    try {
      yield* this.#current.update();
      this.failing = false;
      const ended = this.#timers.now();
      this.#options.measured?.({
        debounce: (ended - change.startedAt) / 1000,
        translate: (ended - started) / 1000,
      });
    } catch (error) {
      // Nothing of the half-done change is trusted: the next push begins from the sources.
      this.#current.invalidate();
      this.failing = true;
      this.#failures.add("push", error);
      this.#options.failed(error, change);
    }
    const { full, startedAt } = change;
    const reasons = Object.fromEntries(change.reasons);
    const objects = this.known.waitingAmong(change.objects);
    const failures = this.#failures.take();
    const push: PushEvent = { id: ++this.#pushes, reasons, objects, full, startedAt, failures };
    this.known.pushed(push.id, change.objects);
    for (const listener of this.#listeners) listener(push);
  }

  /** Logs and counts a failure to build the resources of a proxy between pushes. */
  reportBuildFailure(name: string, error: unknown): void {
    this.#options.buildFailed(BUILD.base, name, error);
  }

  /** Translates everything anew and pushes the differences; returns the number of proxies. */
  pushAll(): number {
    this.#current.invalidate();
    this.lookAgain("debug");
    return this.translator.counts.proxies;
  }
}
