/**
 * Resources of one type of some proxies, kept up to date host by host.
 *
 * @module
 */
import { GroupBase, type GroupModel } from "../../../incremental/groups.ts";
import { type ResultLook, ResultTable } from "../../../incremental/result_table.ts";
import type { EncodedResource } from "../../../resource/encoded.ts";
import type { ResourceSet } from "../../../resource/set.ts";
import type { Caches, StaleResults } from "../cache/caches.ts";
import type { TranslationCache, TranslationResult } from "../cache/translation_cache.ts";
import type { TranslationNote } from "../../message/notes.ts";
import type { MeshAnswers } from "../../reader/mesh_answers.ts";
import type { SetsByType } from "../results/row.ts";
import type { SharedGroup } from "./group.ts";

/** The kind of result that a set is made of. */
export interface HostResourcesOptions {
  readonly kind: string;
  readonly cache: TranslationCache<readonly EncodedResource[]>;
  /** Type URL of the resources. */
  readonly type: string;
  /** Only hosts that the proxy's Gateway objects lead to. */
  readonly ofGateways: boolean;
}

/** A set of resources made of one result a host. */
export class HostResources extends GroupBase<MeshAnswers> implements SharedGroup {
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
    this.#table = new ResultTable(options.cache, like ? like.#table : undefined);
    this.#wanted = like ? like.#wanted : undefined;
    this.#set = like ? like.#set : caches.empty;
    const look = this.#begin(model?.inherits);
    const hosts = model?.difference
      ? this.#table.unlike(look, model.difference)
      : [...source.hosts(), ...this.#table.results.keys()];
    this.#update(hosts, look);
  }

  get sets(): SetsByType {
    return { [this.#options.type]: this.#set };
  }

  /** The results in use. */
  results(): Iterable<TranslationResult<unknown>> {
    return this.#table.results.values();
  }

  update(stale: StaleResults): void {
    this.#update(stale.names.get(this.#options.kind) ?? [], this.#begin());
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
    const wanted = this.#caches.of.gatewayHosts.get("", source, undefined);
    onResult(wanted);
    const before = this.#wanted;
    if (wanted.failed || wanted.value === before) return [];
    this.#wanted = wanted.value;
    return before && wanted.value ? before.symmetricDifference(wanted.value) : source.hosts();
  }
}
