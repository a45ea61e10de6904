/**
 * Feeds one resource of the orchestrator into one source of a store. Objects are read in the same way as objects in
 * files.
 *
 * Permissions: the permissions of the client.
 *
 * @module
 */
import { type Finding, findingChanges } from "../../finding/finding.ts";
import type { ChangeSet, StoredObject, StoreSource } from "../../config/store.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { ApiJson } from "../../orch/client/answer.ts";
import type { ApiError } from "../../orch/client/api_error.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { CacheChange, KeptObject } from "../../orch/informer/cache.ts";
import { Informer } from "../../orch/informer/informer.ts";
import { type ApiResource, apiVersionOf, type ListScope } from "../../orch/informer/resource.ts";

/** The result of reading an object of the API. */
export interface ReadApiObject<O> {
  /** Undefined: the object is refused, and its last good version stays. */
  readonly object?: O;
  readonly findings: readonly Finding[];
  /** Generation of the spec of a refused object. */
  readonly generation?: number;
}

/** An API object whose present version is refused. */
export interface RefusedObject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly findings: readonly Finding[];
}

export interface FeedParts<O extends StoredObject> {
  readonly client: ApiClient;
  readonly kernel: Pick<Kernel, "log" | "metrics" | "clock">;
  /** Name of the cluster, for metrics. */
  readonly cluster: string;
  /** Kind of the objects in the store. */
  readonly kind: string;
  readonly scope: ListScope;
  readonly target: StoreSource<O>;
  /** Counts the events of the feed by kind. Default: events are counted elsewhere. */
  readonly events?: Pick<ReturnType<Metrics["counter"]>, "inc">;
  readonly read: (tree: ApiJson) => ReadApiObject<O>;
  readonly onFindings: FindingsListener;
  /** Called with each failure of a list or watch. Default: failures are only counted. */
  readonly troubled?: ((error: ApiError) => void) | undefined;
}

/** Hears of new and resolved findings. */
export type FindingsListener = (changes: ReturnType<typeof findingChanges>) => void;

/** One step of a check of the store. */
export interface CheckedStep<O> {
  /** The objects that should be in the store. */
  readonly objects: readonly O[];
  /** The number of objects that differed in the store. */
  readonly drifted: number;
}

/** Objects that are given to the store at once, which takes some hundred microseconds. */
const CHECKED_AT_ONCE = 50;

export class ApiFeed<O extends StoredObject> {
  readonly #parts: FeedParts<O>;
  readonly #first = Promise.withResolvers<void>();
  #informer: Informer<ReadApiObject<O>> | undefined;
  #resource: ApiResource | undefined;
  #scope: ListScope;
  /** Keys in the store that the present informer has not listed yet. */
  #before = new Set<string>();
  readonly #stopped: Promise<void>[] = [];

  constructor(parts: FeedParts<O>) {
    this.#parts = parts;
    this.#scope = parts.scope;
  }

  /** Resolves when a whole list is in the store, or the resource has vanished. */
  get whenSynced(): Promise<void> {
    return this.#first.promise;
  }

  /** Why nothing is heard of the API at the moment; undefined: all is well. */
  get trouble(): string | undefined {
    return this.#informer?.trouble;
  }

  /** Since when nothing is heard of the API, milliseconds since the epoch; undefined: all is well. */
  get troubledSince(): number | undefined {
    return this.#informer?.troubledSince;
  }

  /** The watched version; undefined: the resource is not watched. */
  get version(): string | undefined {
    return this.#resource?.version;
  }

  /** Watches a resource from now on, in place of another version of the resource. */
  follow(resource: ApiResource): void {
    if (this.#resource !== undefined && apiVersionOf(this.#resource) === apiVersionOf(resource)) return;
    this.#leave();
    this.#resource = resource;
    const { client, kernel, read, cluster } = this.#parts;
    const apiVersion = apiVersionOf(resource);
    const informer = new Informer<ReadApiObject<O>>(client, {
      ...this.#scope,
      resource,
      project: (object) => read({ ...object, apiVersion, kind: resource.kind }),
      log: kernel.log.scope("orch"),
      troubled: (error) => {
        kernel.metrics.counter("controller_sync_errors_total").inc({ cluster });
        this.#parts.troubled?.(error);
      },
    });
    informer.subscribe((change) => this.#take(change));
    this.#informer = informer;
    informer.start();
    void informer.whenSynced.then(() => {
      if (this.#informer !== informer) return;
      // An empty list brings no change, but shows that all earlier objects are gone.
      this.#take({ upserted: [], removed: [] });
      this.#first.resolve();
    });
  }

  /** Changes the scope of the watch. The objects in the store stay until the new scope was listed. */
  rescope(scope: ListScope): void {
    this.#scope = scope;
    const resource = this.#resource;
    if (resource === undefined) return;
    this.#resource = undefined;
    this.follow(resource);
  }

  /** The resource has vanished, and the objects are removed. */
  vanish(): void {
    if (this.#informer === undefined) return;
    this.#leave();
    this.#resource = undefined;
    this.#parts.target.apply({ upserted: [], removed: [...this.#before] });
    this.#before = new Set();
    this.#said.clear();
    this.#first.resolve();
  }

  *findings(): Generator<Finding> {
    for (const { value } of this.#informer?.values() ?? []) yield* value.findings;
  }

  /** The objects whose present version is refused. */
  *refused(): Generator<RefusedObject> {
    for (const { namespace, name, uid, value } of this.#informer?.values() ?? []) {
      const { object, findings, generation = 0 } = value;
      if (object === undefined) yield { namespace, name, uid, generation, findings };
    }
  }

  /** Whether the present version of an object is refused, so that its last good version is in the store. */
  isStale({ meta: { namespace, name }, origin }: StoredObject): boolean {
    const now = this.#informer?.get(namespace, name);
    return origin.from === "api" && now !== undefined && now.uid === origin.uid && now.value.object === undefined;
  }

  /** The API's version that an object was read in; undefined: another version of the object is known. */
  versionOf(object: O): string | undefined {
    const { namespace, name } = object.meta;
    const now = this.#informer?.get(namespace, name);
    return now?.value.object === object ? now.version : undefined;
  }

  /** Kind of the objects. */
  get kind(): string {
    return this.#parts.kind;
  }

  /** Compares with the API; see {@linkcode Informer.check}. */
  async checkApi(patience: number): Promise<number> {
    return this.#before.size > 0 ? 0 : await this.#informer?.check(patience) ?? 0;
  }

  /**
   * Gives the store all its objects again, some in each step, and removes objects that are gone.
   *
   * @returns the objects of each step, and the number of objects that differed in the store
   */
  *checkStore(): Generator<CheckedStep<O>, void> {
    const informer = this.#informer;
    if (informer === undefined || !informer.synced) return;
    const { target } = this.#parts;
    for (const kept of batches(informer.values())) {
      const upserted = kept.flatMap(({ namespace, name, value }) =>
        // Another version or a removal may have arrived since the last step.
        informer.get(namespace, name)?.value === value ? value.object ?? [] : []
      );
      yield { objects: upserted, drifted: countOf(target.apply({ upserted, removed: [] })) };
      if (this.#informer !== informer) return;
    }
    for (const objects of batches(this.#stored())) {
      const removed = objects.filter(({ meta }) => informer.get(meta.namespace, meta.name) === undefined);
      yield { objects: [], drifted: countOf(target.apply({ upserted: [], removed: removed.map(({ key }) => key) })) };
      if (this.#informer !== informer) return;
    }
  }

  *#stored(): Generator<O> {
    for (const object of this.#parts.target.objects()) if (object.kind === this.#parts.kind) yield object;
  }

  /** Ends watching; the objects in the store stay. */
  async stop(): Promise<void> {
    this.#leave();
    await Promise.all(this.#stopped);
  }

  #leave(): void {
    if (this.#informer === undefined) return;
    this.#stopped.push(this.#informer.stop());
    for (const object of this.#informer.values()) this.#before.add(this.#keyOf(object));
    this.#informer = undefined;
  }

  #take({ upserted, removed }: CacheChange<ReadApiObject<O>>): void {
    const { target, events, kind } = this.#parts;
    const gone = new Set(removed.map((object) => this.#keyOf(object)));
    const informer = this.#informer;
    for (const key of this.#before) {
      const [, namespace = "", name = ""] = key.split("/");
      if (informer?.get(namespace, name) === undefined) gone.add(key);
    }
    this.#before = new Set();
    const changes = { upserted: upserted.flatMap(({ value }) => value.object ?? []), removed: [...gone] };
    const { added, updated, removed: lost } = target.apply(changes);
    events?.inc({ type: kind, event: "add" }, added.length);
    events?.inc({ type: kind, event: "update" }, updated.length);
    events?.inc({ type: kind, event: "delete" }, lost.length);
    this.#log(upserted, removed);
  }

  /** Logged findings, by the object's key. */
  readonly #said = new Map<string, readonly Finding[]>();

  #log(upserted: readonly KeptObject<ReadApiObject<O>>[], removed: readonly KeptObject<ReadApiObject<O>>[]): void {
    const now = [
      ...upserted.map((one) => [one, one.value.findings] as const),
      ...removed.map((one) => [one, []] as const),
    ];
    for (const [object, findings] of now) {
      const key = this.#keyOf(object);
      const before = this.#said.get(key) ?? [];
      if (before.length === 0 && findings.length === 0) continue;
      if (findings.length === 0) this.#said.delete(key);
      else this.#said.set(key, findings);
      this.#parts.onFindings(findingChanges(before, findings));
    }
  }

  #keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
    return `${this.#parts.kind}/${namespace}/${name}`;
  }
}

function* batches<T>(all: Iterable<T>): Generator<T[], void> {
  let batch: T[] = [];
  for (const one of all) {
    batch.push(one);
    if (batch.length < CHECKED_AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function countOf({ added, updated, removed, refreshed }: ChangeSet<StoredObject>): number {
  return added.length + updated.length + removed.length + refreshed.length;
}
