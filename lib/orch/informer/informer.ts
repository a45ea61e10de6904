/**
 * Keeps the objects of one resource in the orchestrator's state: lists, watches, and recovers from failures. Any number
 * of parts share one informer.
 *
 * Permissions: the permissions of the client.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import { paced } from "../../kernel/time/paced.ts";
import type { ApiClient } from "../client/client.ts";
import { isApiJson } from "../client/answer.ts";
import { type ApiError, asApiError } from "../client/api_error.ts";
import { type ApiOutage, outageOf } from "../client/outage.ts";
import { BackOff } from "./back_off.ts";
import { type CacheChange, cacheKey, type KeptObject } from "./cache.ts";
import { addIdentity, differences, type Identities, unheard } from "./comparison.ts";
import { InformerMachine, type InformerStep, type ListAge } from "./machine.ts";
import { type Projector, readLines, readPage, type ReadParts } from "./read.ts";
import { type ApiResource, listPath, type ListScope } from "./resource.ts";

export interface InformerOptions<T> extends ListScope {
  readonly resource: ApiResource;
  readonly project: Projector<T>;
  /** Objects per page. Default: 500. */
  readonly pageSize?: number;
  /** Silence after which a watch is made anew, milliseconds. Default: 150 s, because bookmarks come once a minute. */
  readonly idle?: number;
  readonly log?: Logger;
  /** Called with each failure that is not part of a watch's normal life. */
  readonly troubled?: (error: ApiError) => void;
  /** From 0 to 1. Default: the runtime's. */
  readonly random?: () => number;
}

/** Called with changes after the informer has taken them. Must not throw. */
export type InformerListener<T> = (change: CacheChange<T>) => void;

const PAGE_SIZE = 500;
const IDLE_MS = 150_000;

/**
 * The API is asked to end a watch after one to two times this number of seconds, so that watches spread over the
 * servers behind a balancer.
 */
const WATCH_SECONDS = 300;

/** Shortest time between two watches, milliseconds: watches that end at once must not keep two machines busy. */
const SHORTEST_MS = 1000;

/** Time after which a failed watch still resets the back-off, milliseconds. */
const LONG_MS = 30_000;

/** Media type parameter of the API for metadata alone. */
const METADATA = "as=PartialObjectMetadata";

export class Informer<T> {
  /** Resolves when a whole list was taken once. */
  readonly whenSynced: Promise<void>;
  readonly options: InformerOptions<T>;
  readonly #client: ApiClient;
  readonly #machine = new InformerMachine<T>();
  readonly #listeners = new Set<InformerListener<T>>();
  readonly #backOff: BackOff;
  readonly #random: () => number;
  readonly #stop = new AbortController();
  readonly #firstSync = Promise.withResolvers<void>();
  #running: Promise<void> | undefined;
  #lastTrouble: string | undefined;
  /** Since when nothing is heard. */
  #troubledSince = 0;
  /** Whether the API has refused the resource, and has not given objects since. */
  #isRefused = false;
  /** Ends the present watch. */
  #watching: AbortController | undefined;
  /** Keys of objects with an unreadable version. */
  readonly #unread = new Set<string>();

  constructor(client: ApiClient, options: InformerOptions<T>) {
    this.#client = client;
    this.options = options;
    this.#random = options.random ?? Math.random;
    this.#backOff = new BackOff(this.#random);
    this.whenSynced = this.#firstSync.promise;
  }

  /** Whether a whole list was taken once. */
  get synced(): boolean {
    return this.#machine.synced;
  }

  /** Why nothing is heard of the API at the moment; undefined: all is well. */
  get trouble(): string | undefined {
    return this.#lastTrouble;
  }

  /** Since when nothing is heard of the API, milliseconds since the epoch; undefined: all is well. */
  get troubledSince(): number | undefined {
    return this.#lastTrouble === undefined ? undefined : this.#troubledSince;
  }

  get size(): number {
    return this.#machine.cache.size;
  }

  get(namespace: string, name: string): KeptObject<T> | undefined {
    return this.#machine.cache.get(namespace, name);
  }

  values(): IterableIterator<KeptObject<T>> {
    return this.#machine.cache.values();
  }

  /**
   * Calls `listener` on every change from now on. {@linkcode values} has the present objects.
   *
   * @returns a function that ends the calls
   */
  subscribe(listener: InformerListener<T>): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Begins; a second call changes nothing. */
  start(): void {
    this.#running ??= this.#run();
  }

  /**
   * Compares the kept objects with the API's objects, by metadata alone. After a difference, everything is listed anew.
   * Does nothing while the API is away, or is being listed.
   *
   * @param patience How long the watch may take to report a difference, milliseconds.
   * @returns The number of objects that differed without an event.
   * @throws {ApiError} when the API gives no list.
   */
  async check(patience: number): Promise<number> {
    if (this.#machine.step.ask !== "watch" || this.#lastTrouble !== undefined) return 0;
    const { signal } = this.#stop;
    const first = await paced(differences((await this.#identities()).listed, this), { signal });
    if (first.size === 0) return 0;
    await this.#client.clock.sleep(patience, signal);
    // The first list may have been older than the watch's events. The second list is not.
    if (unheard(first, this).length === 0) return 0;
    const { listed, version } = await this.#identities();
    const second = await paced(differences(listed, this), { signal });
    const drifted = unheard(first, this).filter((key) => second.has(key) && !this.#unread.has(key));
    if (drifted.length === 0 || this.#machine.step.ask !== "watch") return 0;
    this.#machine.doubted(version);
    this.#watching?.abort(new Error("the known objects are in doubt"));
    return drifted.length;
  }

  /** The objects of the API, no older than the known objects. */
  async #identities(): Promise<{ readonly listed: Identities; readonly version: string }> {
    const known = this.#machine.version;
    const path = this.#query(ageQuery({ version: known }));
    const accept = `application/json;${METADATA.replace("Metadata", "MetadataList")};g=meta.k8s.io;v=v1`;
    const listed: Identities = new Map();
    const answer = await this.#client.send({ path, signal: this.#stop.signal, accept });
    const { metadata } = await answer.list((item) => addIdentity(item, listed));
    return { listed, version: isApiJson(metadata) ? String(metadata["resourceVersion"]) : known };
  }

  /** Ends; the kept objects stay. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error("stopped"));
    this.#outage.leaves(this);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock } = this.#client;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const began = clock.monotonic();
      try {
        const { step } = this.#machine;
        if (step.ask === "page") await this.#page(step);
        else {
          await this.#watch(step);
          const lasted = clock.monotonic() - began;
          if (lasted < SHORTEST_MS) await clock.sleep(SHORTEST_MS - lasted, signal);
        }
      } catch (error) {
        if (signal.aborted) return;
        if (this.#watching?.signal.aborted) continue;
        if (clock.monotonic() - began > LONG_MS) this.#backOff.reset();
        await this.#wait(asApiError(error, `watching ${this.#path}`));
      }
    }
  }

  get #path(): string {
    return listPath(this.options.resource, this.options.namespace);
  }

  async #wait(error: ApiError): Promise<void> {
    this.#machine.failed(error.expired);
    // The connection died, or the resource is quiet and the server sends no bookmarks. The next watch will show which.
    if (error.silent) return;
    // Versions expire in the normal life of a watch. A list follows, and reports its own failure.
    if (!error.expired) this.#report(error);
    const ms = Math.max(error.retryAfter ?? 0, this.#backOff.next());
    await this.#client.clock.sleep(ms, this.#stop.signal).catch(() => {});
  }

  /**
   * An outage of the API is logged as two lines for all informers together. A lasting refusal is logged once for its
   * resource.
   */
  #report(error: ApiError): void {
    const { troubled, log, resource: { plural: resource } } = this.options;
    troubled?.(error);
    this.#troubledSince = this.troubledSince ?? this.#client.clock.now();
    this.#lastTrouble = error.message;
    if (error.transient) return this.#outage.fails(this, error, log, { resource });
    this.#outage.works(this, log, { resource });
    if (this.#isRefused) return;
    this.#isRefused = true;
    const message = "the orchestrator gives no objects; the known objects stay, and the server asks again";
    log?.warn(message, { resource, why: error.message });
  }

  #works(): void {
    if (this.#lastTrouble === undefined) return;
    this.#lastTrouble = undefined;
    const { log, resource: { plural: resource } } = this.options;
    this.#outage.works(this, log, { resource });
    if (this.#isRefused) log?.info("the orchestrator gives objects again", { resource });
    this.#isRefused = false;
  }

  get #outage(): ApiOutage {
    return outageOf(this.#client);
  }

  #query(more: Readonly<Record<string, string>>): string {
    const { labelSelector = "", fieldSelector = "" } = this.options;
    const query = new URLSearchParams(more);
    if (labelSelector !== "") query.set("labelSelector", labelSelector);
    if (fieldSelector !== "") query.set("fieldSelector", fieldSelector);
    return `${this.#path}?${query}`;
  }

  get #accept(): string {
    const as = this.options.metadataOnly ? `application/json;${METADATA};g=meta.k8s.io;v=v1` : "";
    return as === "" ? "application/json" : as;
  }

  async #page({ token, asOf }: InformerStep & { readonly ask: "page" }): Promise<void> {
    const { signal } = this.#stop;
    const limit = String(this.options.pageSize ?? PAGE_SIZE);
    const path = this.#query({ limit, ...(token === undefined ? ageQuery(asOf) : { continue: token }) });
    const accept = this.#accept.replace("Metadata;", "MetadataList;");
    const answer = await this.#client.send({ path, signal, accept });
    const page = await readPage(answer, this.#readParts);
    signal.throwIfAborted();
    const change = this.#machine.page(page);
    this.#works();
    if (change === undefined) return;
    this.#publish(change);
    this.#firstSync.resolve();
  }

  async #watch({ version }: InformerStep & { readonly ask: "watch" }): Promise<void> {
    const watching = this.#watching = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, watching.signal]);
    const path = this.#query({
      ...{ watch: "true", allowWatchBookmarks: "true", resourceVersion: version },
      timeoutSeconds: String(Math.round(WATCH_SECONDS * (1 + this.#random()))),
    });
    const answer = await this.#client.send({ path, signal, accept: this.#accept });
    this.#works();
    for await (const lines of answer.lines(this.options.idle ?? IDLE_MS)) {
      if (watching.signal.aborted) return;
      const read = readLines(lines, this.#readParts);
      if (read.events.length > 0 || read.version !== "") {
        this.#publish(this.#machine.events(read.events, read.version));
        this.#backOff.reset();
      }
      if (read.error !== undefined) throw read.error;
    }
  }

  readonly #readParts: ReadParts<T> = {
    project: (object) => this.options.project(object),
    kept: (namespace, name) => this.get(namespace, name),
    refused: ({ namespace, name }, error) => {
      this.#unread.add(cacheKey({ namespace, name }));
      this.options.log?.error("an object cannot be read; its last version stays", {
        resource: this.options.resource.plural,
        object: `${namespace}/${name}`,
        error,
      });
    },
  };

  #publish(change: CacheChange<T>): void {
    if (change.upserted.length === 0 && change.removed.length === 0) return;
    for (const listener of this.#listeners) listener(change);
  }
}

/**
 * A list as of now is read from the store, page by page. Any other list is read from the server's memory, all at once,
 * because `limit` has no effect there
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list).
 */
function ageQuery(asOf: ListAge): Readonly<Record<string, string>> {
  if (asOf === "now") return {};
  if (asOf === "any") return { resourceVersion: "0" };
  return { resourceVersion: asOf.version, resourceVersionMatch: "NotOlderThan" };
}
