/**
 * The resources of all node tunnels, kept up to date from the stores of facts and configuration.
 *
 *     stores ──changes──> index, policies ──settle──> sets ──revision──> views of tunnels
 *                           └── changed() ──> push
 *
 * @module
 */
import { AddressSet } from "../../ambient/address_set.ts";
import { AddressDirectory } from "../../ambient/directory.ts";
import { ADDRESS_TYPE_URL, WORKLOAD_TYPE_URL } from "../../ambient/encode.ts";
import type { AmbientIndex } from "../../ambient/index.ts";
import { AmbientClusters, tunnelIndex } from "../../ambient/networks/clusters.ts";
import type { AmbientSettings } from "../../ambient/parts.ts";
import { AUTHORIZATION_TYPE_URL, PolicySet } from "../../ambient/policy_set.ts";
import { WorkloadSet } from "../../ambient/workload_set.ts";
import type { AnyFact, Fact } from "../../config/facts/types.ts";
import type { ChangeSet, StoredObject, StoreListener, Updated } from "../../config/store.ts";
import type { AnyConfigObject, ConfigObject } from "../../config/types.ts";
import type { TunnelMesh } from "../../mesh/tunnel/authorization.ts";
import { paced, unpaced } from "../../kernel/time/paced.ts";
import { DiffTable } from "../../resource/diff.ts";
import type { ResourceSet, ResourceTable } from "../../resource/set.ts";

/** Most parts that are made at once. More parts are made in steps, between which the event loop turns. */
const MANY = 500;

/** An object of a store. */
type AmbientSource = Fact | ConfigObject;

/** A store of objects. */
interface FollowedStore<O extends AmbientSource> {
  list(kind: O["kind"] & string): readonly O[];
  subscribe(listener: StoreListener<O>): () => void;
}

/** What tunnels get. Policies and addresses are published together. */
export class TunnelResources {
  /** The cluster of the pods. */
  readonly clusterId: string;
  /** Without a ready waypoint, connections go to the workloads even if policies need the waypoint. */
  readonly opensWithoutWaypoint: boolean;
  readonly #index: AmbientIndex | AmbientClusters;
  readonly #addresses: AddressSet;
  readonly #changed: () => void;
  readonly #failed: (error: unknown) => void;
  readonly #stopped = new AbortController();
  readonly #diffs = new DiffTable();
  #directory: AddressDirectory | undefined;
  /** Undefined: nobody has asked for bare workloads. */
  #workloads: WorkloadSet | undefined;
  /** The last list of the set of bare workloads. */
  #workloadSets: readonly ResourceSet[] = [];
  readonly #policies: PolicySet;
  readonly #ends: (() => void)[] = [];
  #sets: Readonly<Record<string, readonly ResourceSet[]>>;
  #revision = 0;
  /** Parts are made in steps. */
  #isBusy = false;

  /**
   * @param table the table of the sets of the server
   * @param changed called when sets may differ: a push is due
   * @param failed called with an exception while resources are made
   */
  constructor(
    settings: Omit<AmbientSettings, "policies">,
    { mesh, table, changed, failed }: {
      readonly mesh: TunnelMesh;
      readonly table: ResourceTable;
      readonly changed: () => void;
      readonly failed: (error: unknown) => void;
    },
  ) {
    this.clusterId = settings.clusterId;
    this.opensWithoutWaypoint = settings.opensWithoutWaypoint;
    const relisted = (namespace: string | undefined) => this.#index.policiesChanged(namespace);
    const policies = new PolicySet(mesh, table, relisted, settings.admitsWaypoints);
    this.#policies = policies;
    this.#index = tunnelIndex({
      ...settings,
      policies: (namespace, labels) => policies.listed(namespace, labels),
    });
    this.#addresses = new AddressSet(this.#index, table);
    this.#changed = changed;
    this.#failed = failed;
    this.#sets = this.#newSets();
  }

  /** The addresses that are assigned to the hosts of service entries may have changed. @param entries their keys */
  reassigned(entries: Iterable<string>): void {
    for (const entry of entries) this.#index.reassigned(entry);
    this.#changes();
  }

  /** Takes another mesh configuration: everything is made again. */
  useMesh(mesh: TunnelMesh): void {
    this.#policies.useMesh(mesh);
    this.#index.touchAll();
    this.#changes();
  }

  /** Increases when sets differ. A few changes are taken into account when this is asked. */
  get revision(): number {
    if (!this.#isBusy && this.#isStale && this.#index.dirty <= MANY) this.#settleNow();
    return this.#revision;
  }

  /**
   * The addresses for a tunnel that asks for single addresses: of names or aliases, of the workloads of asked services,
   * and of the workloads of the tunnel's own node. With the type of bare workloads, the workloads among them.
   */
  chosen(typeUrl: string, names: Iterable<string>, node: string): ResourceSet {
    const { set } = this.#addresses;
    // Most servers have no such tunnel.
    this.#directory ??= new AddressDirectory(set.table.empty, (from, to) => this.#diffs.between(from, to));
    this.#directory.update(set);
    const found = this.#directory.chosen(names, node);
    if (typeUrl === ADDRESS_TYPE_URL) return set.table.from(found);
    const [workloads] = this.#bareWorkloads();
    return set.table.from([...found].flatMap(({ name }) => workloads?.get(name) ?? []));
  }

  /** All resources of a type; the same list until the content changes. Undefined: the type is not served. */
  sets(typeUrl: string): readonly ResourceSet[] | undefined {
    if (typeUrl === WORKLOAD_TYPE_URL) return this.#bareWorkloads();
    return Object.hasOwn(this.#sets, typeUrl) ? this.#sets[typeUrl] : undefined;
  }

  #bareWorkloads(): readonly ResourceSet[] {
    const [set] = this.#sets[ADDRESS_TYPE_URL] as readonly [ResourceSet];
    this.#workloads ??= new WorkloadSet(set.table.empty, (from, to) => this.#diffs.between(from, to));
    const workloads = this.#workloads.of(set);
    if (this.#workloadSets[0] !== workloads) this.#workloadSets = [workloads];
    return this.#workloadSets;
  }

  /** Reads everything of a store, and follows the store. @param isOurs whether an object counts */
  follow<O extends AmbientSource>(
    store: FollowedStore<O>,
    kinds: readonly (O["kind"] & string)[],
    isOurs: (object: O) => boolean = () => true,
  ): void {
    for (const kind of kinds) for (const object of store.list(kind)) if (isOurs(object)) this.#put(object);
    this.#ends.push(store.subscribe((changes) => {
      for (const { key } of changes.removed) this.#remove(key);
      for (const object of presentIn(changes)) {
        if (isOurs(object)) this.#put(object);
        else this.#remove(object.key);
      }
      this.#changes();
    }));
  }

  /** Takes changes of a remote cluster. With one network they make no difference. */
  remoteChanged(cluster: string, changes: ChangeSet<AmbientSource>): void {
    if (!(this.#index instanceof AmbientClusters)) return;
    for (const { key } of changes.removed) this.#index.remove(key, cluster);
    for (const object of presentIn(changes)) this.#index.put(object as AnyFact | AnyConfigObject, cluster);
    this.#changes();
  }

  /** A remote cluster is not part of the mesh any more. */
  remoteGone(cluster: string): void {
    if (!(this.#index instanceof AmbientClusters)) return;
    this.#index.drop(cluster);
    this.#changes();
  }

  #put(object: AmbientSource): void {
    // The stores' lists are of Fact and of ConfigObject; the unions by kind are the same objects.
    this.#index.put(object as AnyFact | AnyConfigObject);
    this.#policies.put(object as AnyFact | AnyConfigObject);
  }

  #remove(key: string): void {
    this.#index.remove(key);
    this.#policies.remove(key);
  }

  get #isStale(): boolean {
    return this.#index.dirty > 0 || this.#policies.isStale;
  }

  /** Resources may be stale: they are made, and a push is due. */
  #changes(): void {
    if (!this.#isStale) return;
    // The steps that are under way make these parts too.
    if (this.#isBusy) return;
    if (this.#index.dirty <= MANY) return this.#changed();
    this.settle().catch((error: unknown) => {
      if (!this.#stopped.signal.aborted) this.#failed(error);
    });
  }

  /** Makes all dirty parts in steps, until none is left. */
  async settle(): Promise<void> {
    this.#isBusy = true;
    try {
      while (this.#isStale) {
        this.#note(await paced(this.#steps(), { signal: this.#stopped.signal }));
      }
    } finally {
      this.#isBusy = false;
    }
    this.#changed();
  }

  /** Ends the following of stores and the making of parts. */
  stop(): void {
    for (const end of this.#ends) end();
    this.#stopped.abort();
  }

  #settleNow(): void {
    try {
      this.#note(unpaced(this.#steps()));
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Policies come last: a workload may list a policy that came between the steps. */
  *#steps(): Generator<void, boolean> {
    const hasAddresses = yield* this.#addresses.settle();
    return this.#policies.settle() || hasAddresses;
  }

  #note(isOther: boolean): void {
    if (!isOther) return;
    this.#sets = this.#newSets();
    this.#revision++;
  }

  #newSets(): Readonly<Record<string, readonly ResourceSet[]>> {
    return { [ADDRESS_TYPE_URL]: [this.#addresses.set], [AUTHORIZATION_TYPE_URL]: [this.#policies.set] };
  }
}

/** The objects of a change that are there after it. */
function presentIn<O extends AmbientSource>({ added, updated, refreshed }: ChangeSet<O>): O[] {
  return [...added, ...[...updated, ...refreshed.filter(isStatus)].map((one) => one.new)];
}

/** The status of a Gateway, which names its addresses, is not part of the object's hash. */
function isStatus({ new: { kind } }: Updated<StoredObject>): boolean {
  return kind === "ApiGateway";
}
