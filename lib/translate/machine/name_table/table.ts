/**
 * A DNS table for the agents of several proxies, kept up to date host by host.
 *
 * @module
 */
import { GroupBase, type GroupModel, type ResultGroup } from "../../../incremental/groups.ts";
import { type ResultLook, ResultTable } from "../../../incremental/result_table.ts";
import type { ResourceSet } from "../../../resource/set.ts";
import type { Caches, StaleResults } from "../cache/caches.ts";
import type { TranslationResult } from "../cache/translation_cache.ts";
import type { TranslationNote } from "../../message/notes.ts";
import type { ScopeReader } from "../../reader/scope_reader.ts";
import { type EncodedName, encodeNameTable } from "../../name_table/encode.ts";

export class SharedNameTable extends GroupBase<ScopeReader> implements ResultGroup<ScopeReader, StaleResults> {
  readonly #table: ResultTable<ScopeReader, readonly EncodedName[], TranslationNote>;
  #set: ResourceSet;
  /** Some entries differ from the set. */
  #changed: boolean;

  constructor(source: ScopeReader, caches: Caches, model: GroupModel<SharedNameTable> | undefined) {
    super(source);
    const like = model?.like;
    this.#table = new ResultTable(caches.of.names, like ? like.#table : undefined);
    this.#set = like ? like.#set : caches.empty;
    this.#changed = like === undefined || like.#changed;
    const look = this.#begin(model?.inherits);
    this.#update(
      model?.difference
        ? this.#table.unlike(look, model.difference)
        : [...source.hosts(), ...this.#table.results.keys()],
      look,
    );
  }

  /**
   * The set with just the table: the same object until an entry changes. Changed entries are put together on demand.
   */
  get set(): ResourceSet {
    if (this.#changed) this.#set = this.#set.with([encodeNameTable(this.#names())]);
    this.#changed = false;
    return this.#set;
  }

  /** Each name once. A service's own name comes before the name of another service's pod. */
  #names(): Iterable<EncodedName> {
    const names = new Map<string, EncodedName>();
    const services: EncodedName[] = [];
    for (const host of [...this.#table.results.keys()].sort()) {
      for (const name of this.#table.results.get(host)!.value) {
        if (name.host === host) services.push(name);
        else names.set(name.host, name);
      }
    }
    for (const name of services) names.set(name.host, name);
    return names.values();
  }

  /** The results in use. */
  results(): Iterable<TranslationResult<unknown>> {
    return this.#table.results.values();
  }

  update(stale: StaleResults): void {
    this.#update(stale.get("names") ?? [], this.#begin());
  }

  #begin(keeps?: boolean): ResultLook<ScopeReader> {
    return this.look((host) => this.source.scope.service(host) !== undefined, keeps);
  }

  #update(hosts: Iterable<string>, look: ResultLook<ScopeReader>): void {
    for (const { before = [], after = [] } of this.#table.update(hosts, look)) {
      if (!sameNames(before, after)) this.#changed = true;
    }
  }
}

function sameNames(a: readonly EncodedName[], b: readonly EncodedName[]): boolean {
  return a.length === b.length && a.every(({ bytes }, i) => {
    const other = b[i]!.bytes;
    return bytes.length === other.length && bytes.every((byte, at) => byte === other[at]);
  });
}
