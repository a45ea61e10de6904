/**
 * A remote cluster: its services in the mesh, and the connection that they are read by.
 *
 *     access ──> connection ──has read all──> compare with the one before ──differences──> registry
 *
 * Another access is tried beside the one in use, which serves until the new one has read everything; with an access that
 * does not work nothing changes.
 *
 * @module
 */
import type { Fact, FactKind } from "../../config/facts/types.ts";
import type { LabelSelector } from "../../config/mesh/types.ts";
import type { ChangeSet, StoredObject, Updated } from "../../config/store.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { FactStore } from "../../config/facts/store.ts";
import type { Cancel, Clock } from "../../kernel/time/clock.ts";
import { REGISTRY_KINDS } from "../../registry/orch/options.ts";
import type { OrchRegistry } from "../../registry/orch/registry.ts";
import { ApiError } from "../../orch/client/api_error.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { ServicesCheck } from "../sources/fact_registry.ts";
import type { HandOver } from "../pipeline/hand_over.ts";
import type { CheckedCluster } from "../sources/self_check.ts";
import type { ClusterConnection } from "./connection.ts";
import type { WantedCluster } from "./wanted.ts";

/** How far a cluster is read, by the words that Istio's page has for it. */
export type ClusterSync = "syncing" | "synced" | "timeout" | "closed";

/** Inputs of a cluster. */
export interface RemoteClusterParts {
  readonly clock: Clock;
  /** Time after which it is not waited for, milliseconds; 0: it is waited for as long as it takes. */
  readonly timeout: number;
  /** @throws {Error} when the access is none that may be used. */
  readonly connect: (wanted: WantedCluster) => ClusterConnection;
  readonly registry: OrchRegistry;
  /** Compares the registry with the facts that it is made of. */
  readonly check: ServicesCheck;
  /** The way of changes to the registry. */
  readonly handOver: HandOver<Fact>;
  /** Called with facts of it that have changed, as they were read. */
  readonly read: (changes: ChangeSet<Fact>) => void;
  /** Workload entries of it have changed. */
  readonly readEntries: (changes: ChangeSet) => void;
  /** Takes the registry out of the mesh. */
  readonly leave: () => void;
  /** The state is another one, or the connection. */
  readonly changed: (cluster: RemoteCluster) => void;
  /** It was not read in time. */
  readonly timedOut: (cluster: RemoteCluster) => void;
}

/** A connection that is in use, or tried. */
interface UsedConnection {
  readonly wanted: WantedCluster;
  readonly connection: ClusterConnection;
}

export class RemoteCluster {
  readonly id: string;
  readonly #parts: RemoteClusterParts;
  readonly #handOver: HandOver<Fact>;
  /** Resolves when it has been read once, or is not waited for any more. */
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

  /** `namespace/name` of the secret that names it. */
  get secret(): string {
    return this.#secret;
  }

  /** The present problem, in one line; undefined: none. */
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

  /** The facts that were read of it; undefined: none yet. */
  get facts(): FactStore | undefined {
    return this.#used?.connection.facts;
  }

  /** Its API, by the connection of the moment. */
  get api(): Pick<ApiClient, "json" | "clock"> {
    const { clock } = this.#parts;
    const json: ApiClient["json"] = async (call) => {
      const { connection } = this.#used ?? this.#tried ?? {};
      // Callers are to ask again.
      if (connection === undefined) throw new ApiError(`there is no access to cluster ${this.id}`, undefined);
      return await connection.client.json(call);
    };
    return { clock, json };
  }

  /** The present objects of it, for the regular check; undefined: none yet. */
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

  /** Aborts when it is in no secret any more. */
  get ended(): AbortSignal {
    return this.#life.signal;
  }

  get registry(): OrchRegistry {
    return this.#parts.registry;
  }

  /** Takes its present access from the secrets; an access that it has, or tries, changes nothing. */
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

  /** With an access that cannot be used all goes on as before. */
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

  /** Leaves the access that is tried. */
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

  /** From now on its services are read by this connection; the mesh gets the differences. */
  #take(now: UsedConnection): void {
    this.#cancelTimer();
    const before = this.#used;
    this.#unsubscribe();
    this.#used = now;
    const take = (changes: ChangeSet<Fact>) => {
      this.#handOver.take(changes);
      this.#parts.read(changes);
    };
    const { facts, entries } = now.connection;
    take(differences<Fact>(COMPARED, before?.connection.facts, facts));
    this.#parts.readEntries(differences<ConfigObject>(["WorkloadEntry"], before?.connection.entries, entries));
    const ends = [facts.subscribe(take), entries.subscribe(this.#parts.readEntries)];
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

  /** Takes its services out of the mesh, and ends reading. */
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

/** Kinds that are compared: the inputs of services, and credentials. */
const COMPARED: readonly FactKind[] = [...REGISTRY_KINDS, "Secret", "ConfigMap"];

/** The part of a store that is compared. */
interface ComparedStore<O extends StoredObject> {
  at(key: string): O | undefined;
  list(kind: never): readonly O[];
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
      else if (old.hash !== object.hash) updated.push({ old, new: object });
    }
    for (const old of before?.list(kind) ?? []) if (now.at(old.key) === undefined) removed.push(old);
  }
  return { added, removed, updated, refreshed: [], hidden: { before: [], after: [] } };
}
