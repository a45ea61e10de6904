/**
 * A remote cluster: its services in the mesh, and the connection over which the server reads the services.
 *
 *     access ──> connection ──has read all──> compare with the connection before ──differences──> registry
 *
 * A new access is tried beside the access in use. The old connection serves until the new connection has read
 * everything. An access that does not work changes nothing.
 *
 * @module
 */
import type { Fact, FactKind } from "../../config/facts/types.ts";
import type { LabelSelector } from "../../config/mesh/types.ts";
import type { ChangeSet, StoredObject, Updated } from "../../config/store.ts";
import type { Kind } from "../../config/kinds/kinds.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { FactStore } from "../../config/facts/store.ts";
import type { Cancel, Clock } from "../../kernel/time/clock.ts";
import { samePlain } from "../../registry/content.ts";
import { REGISTRY_KINDS } from "../../registry/orch/options.ts";
import type { OrchRegistry } from "../../registry/orch/registry.ts";
import { ApiError } from "../../orch/client/api_error.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { ServicesCheck } from "../sources/fact_registry.ts";
import type { HandOver } from "../pipeline/hand_over.ts";
import type { CheckedCluster } from "../sources/self_check.ts";
import type { ClusterConnection } from "./connection.ts";
import type { WantedCluster } from "./wanted.ts";

/** How far a cluster is read, in the words of Istio's debug page. */
export type ClusterSync = "syncing" | "synced" | "timeout" | "closed";

export interface RemoteClusterParts {
  readonly clock: Clock;
  /** Milliseconds for which the server waits for the cluster. 0: the server waits without a limit. */
  readonly timeout: number;
  /** @throws {Error} when the access may not be used. */
  readonly connect: (wanted: WantedCluster) => ClusterConnection;
  readonly registry: OrchRegistry;
  /** Compares the registry with its inputs, the facts. */
  readonly check: ServicesCheck;
  /** The way of changes to the registry. */
  readonly handOver: HandOver<Fact>;
  /** Called with changed facts of the cluster, as they were read. */
  readonly read: (changes: ChangeSet<Fact>) => void;
  /** Called with changed workload entries and Gateways of the cluster. */
  readonly readObjects: (changes: ChangeSet) => void;
  /** Takes the registry out of the mesh. */
  readonly leave: () => void;
  /** The state of the cluster or its connection has changed. */
  readonly changed: (cluster: RemoteCluster) => void;
  /** The cluster was not read in time. */
  readonly timedOut: (cluster: RemoteCluster) => void;
}

interface UsedConnection {
  readonly wanted: WantedCluster;
  readonly connection: ClusterConnection;
}

export class RemoteCluster {
  readonly id: string;
  readonly #parts: RemoteClusterParts;
  readonly #handOver: HandOver<Fact>;
  /** Resolves when the cluster has been read once, or when the server stops waiting for the cluster. */
  readonly settled: Promise<void>;
  readonly #settle = Promise.withResolvers<void>();
  #used: UsedConnection | undefined;
  #unsubscribe = () => {};
  #tried: UsedConnection | undefined;
  #cancelTimer: Cancel = () => {};
  #isLate = false;
  #secret: string;
  /** Why the access of the moment cannot be used. */
  #fault: { readonly access: string; readonly why: string } | undefined;
  readonly #ending = new Set<Promise<void>>();
  readonly #life = new AbortController();

  constructor(wanted: WantedCluster, parts: RemoteClusterParts) {
    this.id = wanted.id;
    this.#secret = wanted.secret;
    this.#parts = parts;
    this.#handOver = parts.handOver;
    this.settled = this.#settle.promise;
  }

  get sync(): ClusterSync {
    if (this.#used !== undefined) return "synced";
    if (this.#tried === undefined) return "closed";
    return this.#isLate ? "timeout" : "syncing";
  }

  /** `namespace/name` of the secret that names the cluster. */
  get secret(): string {
    return this.#secret;
  }

  /** The present problem, in one line; undefined: there is no problem. */
  get problem(): string | undefined {
    if (this.#fault !== undefined) return this.#fault.why;
    const trouble = this.#tried?.connection.trouble;
    if (this.#used === undefined) return trouble;
    return trouble === undefined ? this.#used.connection.trouble : `the new access does not work yet: ${trouble}`;
  }

  /** The connection in use; undefined: there is none yet. */
  get connection(): ClusterConnection | undefined {
    return this.#used?.connection;
  }

  /** The facts of the cluster; undefined: nothing has been read yet. */
  get facts(): FactStore | undefined {
    return this.#used?.connection.facts;
  }

  /** The API of the cluster, over the connection of the moment. */
  get api(): Pick<ApiClient, "json" | "clock"> {
    const { clock } = this.#parts;
    const json: ApiClient["json"] = async (call) => {
      const { connection } = this.#used ?? this.#tried ?? {};
      // Callers ask again.
      if (connection === undefined) throw new ApiError(`there is no access to cluster ${this.id}`, undefined);
      return await connection.client.json(call);
    };
    return { clock, json };
  }

  /** The present objects of the cluster, for the regular check; undefined: nothing has been read yet. */
  checked(): CheckedCluster | undefined {
    const used = this.#used;
    if (used === undefined) return undefined;
    const { connection } = used;
    return {
      ...{ cluster: this.id, services: this.#parts.check, feeds: () => connection.feeds() },
      fact: (key) => connection.facts.at(key),
      handedOver: () => this.#handOver.done(),
      isOver: () => this.#used !== used,
    };
  }

  /** Aborts when no secret names the cluster any more. */
  get ended(): AbortSignal {
    return this.#life.signal;
  }

  get registry(): OrchRegistry {
    return this.#parts.registry;
  }

  /** Takes the present access from the secrets. An access that is already in use or being tried changes nothing. */
  use(wanted: WantedCluster): void {
    this.#secret = wanted.secret;
    const { access } = wanted;
    if (access === this.#used?.wanted.access) this.#giveUp();
    else if (access !== this.#tried?.wanted.access) {
      return access === this.#fault?.access ? undefined : this.#try(wanted);
    }
    if (this.#fault === undefined) return;
    this.#fault = undefined;
    this.#parts.changed(this);
  }

  /** An access that cannot be used leaves the connection in use untouched. */
  #try(wanted: WantedCluster): void {
    try {
      const connection = this.#parts.connect(wanted);
      this.#fault = undefined;
      this.#giveUp();
      this.#begin({ wanted, connection });
    } catch (error) {
      this.#fault = { access: wanted.access, why: (error as Error).message };
      if (this.#tried === undefined) this.#settle.resolve();
    }
    this.#parts.changed(this);
  }

  #begin(tried: UsedConnection): void {
    this.#tried = tried;
    this.#wait();
    void tried.connection.start().then((hasRead) => {
      if (hasRead && this.#tried === tried) this.#take(tried);
    });
  }

  /** Ends the connection that is being tried. */
  #giveUp(): void {
    this.#cancelTimer();
    if (this.#tried !== undefined) this.#end(this.#tried.connection);
    this.#tried = undefined;
  }

  #wait(): void {
    const { clock, timeout, timedOut, changed } = this.#parts;
    if (timeout === 0) return;
    this.#cancelTimer = clock.after(timeout, () => {
      this.#isLate = true;
      this.#settle.resolve();
      timedOut(this);
      changed(this);
    });
  }

  /** From now on this connection reads the services. The mesh gets the differences. */
  #take(now: UsedConnection): void {
    this.#cancelTimer();
    const before = this.#used;
    this.#unsubscribe();
    this.#used = now;
    const take = (changes: ChangeSet<Fact>) => {
      this.#handOver.take(changes);
      this.#parts.read(changes);
    };
    const { facts, objects } = now.connection;
    take(differences<Fact>(COMPARED, before?.connection.facts, facts));
    this.#parts.readObjects(differences<ConfigObject>(READ_OBJECTS, before?.connection.objects, objects));
    const ends = [facts.subscribe(take), objects.subscribe(this.#parts.readObjects)];
    this.#unsubscribe = () => ends.forEach((end) => end());
    this.#tried = undefined;
    this.#isLate = false;
    if (before !== undefined) this.#end(before.connection);
    void this.#handOver.done().then(() => this.#settle.resolve(), () => this.#settle.resolve());
    this.#parts.changed(this);
  }

  /** Takes other selectors of namespaces. */
  discover(selectors: readonly LabelSelector[]): void {
    for (const one of [this.#used, this.#tried]) one?.connection.discovered.use(selectors);
  }

  /** Takes the services of the cluster out of the mesh, and ends reading. */
  async stop(): Promise<void> {
    this.#life.abort(new Error("stopped"));
    this.#giveUp();
    this.#unsubscribe();
    this.#handOver.end();
    // At once, because a cluster of the same name may be there at the next turn.
    this.#parts.leave();
    if (this.#used !== undefined) this.#end(this.#used.connection);
    this.#used = undefined;
    this.#settle.resolve();
    await this.#handOver.done().catch(() => {});
    await Promise.all(this.#ending);
  }

  #end(connection: ClusterConnection): void {
    const ending = connection.stop().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

/** Kinds that are compared: the inputs of services, and the objects with credentials. */
const COMPARED: readonly FactKind[] = [...REGISTRY_KINDS, "Secret", "ConfigMap"];

/** Kinds of configuration that are read in a remote cluster. */
export const READ_OBJECTS: readonly Kind[] = ["WorkloadEntry", "ApiGateway", "GatewayClass"];

interface ComparedStore<O extends StoredObject> {
  at(key: string): O | undefined;
  list(kind: never): readonly O[];
}

/** The status of a Gateway, which names its addresses, is not part of the object's hash. */
function isSame(old: StoredObject, now: StoredObject): boolean {
  return old.hash === now.hash && samePlain(statusOf(old), statusOf(now));
}

function statusOf(object: StoredObject & { readonly status?: unknown }): unknown {
  return object.status;
}

/** The differences between two stores, as a change. */
function differences<O extends StoredObject>(
  kinds: readonly string[],
  before: ComparedStore<O> | undefined,
  now: ComparedStore<O>,
): ChangeSet<O> {
  const added: O[] = [];
  const removed: O[] = [];
  const updated: Updated<O>[] = [];
  for (const kind of kinds as readonly never[]) {
    for (const object of now.list(kind)) {
      const old = before?.at(object.key);
      if (old === undefined) added.push(object);
      else if (!isSame(old, object)) updated.push({ old, new: object });
    }
    for (const old of before?.list(kind) ?? []) if (now.at(old.key) === undefined) removed.push(old);
  }
  return { added, removed, updated, refreshed: [], hidden: { before: [], after: [] } };
}
