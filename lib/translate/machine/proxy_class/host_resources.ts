/**
 * Clusters or load assignments of some proxies (of libraries, listeners and routes as well), kept up to date host by host.
 *
 * @module
 */
import { GroupBase, type GroupModel, type ResultGroup } from "../../../incremental/groups.ts";
import { type ResultLook, ResultTable } from "../../../incremental/result_table.ts";
import type { EncodedResource } from "../../../resource/encoded.ts";
import type { ResourceSet } from "../../../resource/set.ts";
import type { Caches, StaleResults } from "../cache/caches.ts";
import type { TranslationResult } from "../cache/translation_cache.ts";
import type { TranslationNote } from "../../message/notes.ts";
import type { MeshAnswers } from "../../reader/mesh_answers.ts";

/** Something for each kind of result that is built for each host. */
interface HostResults<T> {
  readonly clusters: T;
  readonly assignments: T;
  readonly passedClusters: T;
  readonly passedAssignments: T;
  readonly library: Readonly<Record<"clusters" | "assignments" | "listeners" | "routes", T>>;
}

/** The kind of result that is built for each host. */
export interface HostResourcesOptions {
  readonly pick: <T>(all: HostResults<T>) => T;
  /** Only hosts that the proxy's Gateway objects lead to. */
  readonly ofGateways: boolean;
}

/** A set of resources made of one result a host. */
export class HostResources extends GroupBase<MeshAnswers> implements ResultGroup<MeshAnswers, StaleResults> {
  readonly #caches: Caches;
  readonly #options: HostResourcesOptions;
  readonly #table: ResultTable<MeshAnswers, readonly EncodedResource[], TranslationNote>;
  /** Hosts that resources are made of; undefined: all. */
  #wanted: ReadonlySet<string> | undefined;
  #set: ResourceSet;

  constructor(
    source: MeshAnswers,
    caches: Caches,
    options: HostResourcesOptions,
    model: GroupModel<HostResources> | undefined,
  ) {
    super(source);
    const like = model?.like;
    this.#caches = caches;
    this.#options = options;
    this.#table = new ResultTable(options.pick<Caches["clusters"]>(caches), like ? like.#table : undefined);
    this.#wanted = like ? like.#wanted : undefined;
    this.#set = like ? like.#set : caches.empty;
    const look = this.#begin(model?.inherits);
    const hosts = model?.difference
      ? this.#table.unlike(look, model.difference)
      : [...source.hosts(), ...this.#table.results.keys()];
    this.#update(hosts, look);
  }

  /** All resources now. The same object while none of them changed. */
  get set(): ResourceSet {
    return this.#set;
  }

  /** The results in use. */
  results(): Iterable<TranslationResult<unknown>> {
    return this.#table.results.values();
  }

  update(stale: StaleResults): void {
    this.#update(this.#options.pick<ReadonlySet<string>>(stale), this.#begin());
  }

  #begin(keeps?: boolean): ResultLook<MeshAnswers> {
    const { source } = this;
    return this.look((host) => (this.#wanted?.has(host) ?? true) && source.exists(host), keeps);
  }

  #update(hosts: Iterable<string>, look: ResultLook<MeshAnswers>): void {
    const upserts: EncodedResource[] = [];
    const removed: string[] = [];
    const all = new Set(hosts);
    if (this.#options.ofGateways) { for (const host of this.#moveWanted(look)) all.add(host); }
    for (const { before = [], after = [] } of this.#table.update(all, look)) {
      for (const resource of before) removed.push(resource.name);
      upserts.push(...after);
    }
    this.#set = this.#set.with(upserts, removed);
  }

  /** Finds out which hosts are wanted now; gives those that may not have been, or are no more. */
  #moveWanted({ source, onResult }: ResultLook<MeshAnswers>): Iterable<string> {
    const wanted = this.#caches.gatewayHosts.get("", source, undefined);
    onResult(wanted);
    const before = this.#wanted;
    if (wanted.failed || wanted.value === before) return [];
    this.#wanted = wanted.value;
    return before && wanted.value ? before.symmetricDifference(wanted.value) : source.hosts();
  }
}
