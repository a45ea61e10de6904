/**
 * Resources of a type for several proxies, kept up to date host by host.
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
import type { ScopeReader } from "../../reader/scope_reader.ts";
import type { SetsByType } from "../results/row.ts";
import type { SharedGroup } from "./group.ts";

/** The kind of result behind a set. */
export interface HostResourcesOptions {
  readonly kind: string;
  readonly cache: TranslationCache<readonly EncodedResource[]>;
  /** Type URL of the resources. */
  readonly type: string;
  /** Only for destinations of the proxy's Gateway objects. */
  readonly ofGateways: boolean;
}

/** A set of resources, made of a result for each host. */
export class HostResources extends GroupBase<ScopeReader> implements SharedGroup {
  readonly #caches: Caches;
  readonly #options: HostResourcesOptions;
  readonly #table: ResultTable<ScopeReader, readonly EncodedResource[], TranslationNote>;
  /** Hosts with resources in the set. Undefined: all hosts. */
  #wanted: ReadonlySet<string> | undefined;
  #set: ResourceSet;

  constructor(
    source: ScopeReader,
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
    this.#update(stale.get(this.#options.kind) ?? [], this.#begin());
  }

  #begin(keeps?: boolean): ResultLook<ScopeReader> {
    const { source } = this;
    return this.look((host) => (this.#wanted?.has(host) ?? true) && source.exists(host), keeps);
  }

  #update(hosts: Iterable<string>, look: ResultLook<ScopeReader>): void {
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

  /** Finds the wanted hosts. Returns the hosts that became wanted or unwanted. */
  #moveWanted({ source, onResult }: ResultLook<ScopeReader>): Iterable<string> {
    const wanted = this.#caches.of.gatewayHosts.get("", source, undefined);
    onResult(wanted);
    const before = this.#wanted;
    if (wanted.failed || wanted.value === before) return [];
    this.#wanted = wanted.value;
    return before && wanted.value ? before.symmetricDifference(wanted.value) : source.hosts();
  }
}
