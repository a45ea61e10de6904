/**
 * Outbound listeners of several proxies. Contributions of hosts with the same address and port are merged.
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
import type { ListenerConflict } from "../../listener/conflict.ts";
import { compareContributions, type ListenerContribution } from "../../listener/contribution.ts";
import type { ScopeReader } from "../../reader/scope_reader.ts";
import { TYPE } from "../../encode/encode.ts";
import type { MergedListener } from "../results/outbound_results.ts";
import type { SetsByType } from "../results/row.ts";
import type { SharedGroup } from "./group.ts";

type Contributions = readonly ListenerContribution[];

/** The listeners with contributions of hosts. */
export class OutboundListeners extends GroupBase<ScopeReader> implements SharedGroup {
  readonly #cache: TranslationCache<MergedListener, Contributions>;
  readonly #table: ResultTable<ScopeReader, Contributions, TranslationNote>;
  /** Contributions by listener, then by host. */
  readonly #contributions: Map<string, Map<string, Contributions>>;
  readonly #merged: Map<string, TranslationResult<MergedListener>>;
  #set: ResourceSet;

  constructor(source: ScopeReader, caches: Caches, model: GroupModel<OutboundListeners> | undefined) {
    super(source);
    const like = model?.like;
    this.#cache = caches.of.listeners;
    this.#table = new ResultTable(caches.of.contributions, like ? like.#table : undefined);
    const contributions = like ? [...like.#contributions] : [];
    this.#contributions = new Map(contributions.map(([name, hosts]) => [name, new Map(hosts)]));
    this.#merged = new Map(like ? like.#merged : []);
    this.#set = like ? like.#set : caches.empty;
    const look = this.#begin(model?.inherits);
    const hosts = model?.difference
      ? this.#table.unlike(look, model.difference)
      : [...source.hosts(), ...this.#table.results.keys()];
    const listeners = [...this.#merged].filter(([, result]) => !model?.difference || !this.#holds(result, look));
    this.#update(new Set(hosts), listeners.map(([name]) => name), look);
  }

  get sets(): SetsByType {
    return { [TYPE.listener]: this.#set };
  }

  /**
   * Contributions without effect: a list for each listener. All classes with the same listener have the same list
   * object.
   */
  *conflicts(): Iterable<readonly ListenerConflict[]> {
    for (const { value } of this.#merged.values()) if (value.conflicts.length > 0) yield value.conflicts;
  }

  /** The results in use. */
  *results(): Iterable<TranslationResult<unknown>> {
    yield* this.#table.results.values();
    yield* this.#merged.values();
  }

  update(stale: StaleResults): void {
    this.#update(stale.get("contributions") ?? [], stale.get("listeners") ?? [], this.#begin());
  }

  #begin(keeps?: boolean): ResultLook<ScopeReader> {
    return this.look((host) => this.source.exists(host), keeps);
  }

  /** A listener merged for another group may depend on another answer. */
  #holds(result: TranslationResult<MergedListener>, { source, onResult }: ResultLook<ScopeReader>): boolean {
    const holds = this.#cache.enabled && result.record.holds(source);
    if (holds) onResult(result);
    return holds;
  }

  /** @param stale Listeners to merge again even with equal contributions. */
  #update(hosts: Iterable<string>, stale: Iterable<string>, look: ResultLook<ScopeReader>): void {
    const affected = new Set<string>();
    for (const name of stale) if (this.#merged.has(name)) affected.add(name);
    for (const { name, before = [], after = [] } of this.#table.update(hosts, look)) {
      this.#replace(name, byListener(before), byListener(after), affected);
    }
    this.#merge(affected, look);
  }

  /** Equal contributions stay as they are. Most edits of routes leave the listener alone, for any number of hosts. */
  #replace(
    host: string,
    before: ReadonlyMap<string, Contributions>,
    after: ReadonlyMap<string, Contributions>,
    affected: Set<string>,
  ): void {
    for (const name of before.keys()) if (!after.has(name)) this.#place(name, host, [], affected);
    for (const [name, contributions] of after) {
      const old = before.get(name);
      if (!old || JSON.stringify(old) !== JSON.stringify(contributions)) {
        this.#place(name, host, contributions, affected);
      }
    }
  }

  #place(name: string, host: string, contributions: Contributions, affected: Set<string>): void {
    affected.add(name);
    let hosts = this.#contributions.get(name);
    if (!hosts) this.#contributions.set(name, hosts = new Map());
    if (contributions.length > 0) hosts.set(host, contributions);
    else hosts.delete(host);
    if (hosts.size === 0) this.#contributions.delete(name);
  }

  #merge(names: Iterable<string>, { source, onResult, keeps }: ResultLook<ScopeReader>): void {
    const upserts: EncodedResource[] = [];
    const removed: string[] = [];
    for (const name of names) {
      const old = this.#merged.get(name)?.value;
      const hosts = this.#contributions.get(name);
      const result = hosts && this.#cache.get(name, source, [...hosts.values()].flat().sort(compareContributions));
      if (result) onResult(result);
      if (keeps && old && result?.failed) continue;
      if (old?.listener) removed.push(old.listener.name);
      if (!result) {
        this.#merged.delete(name);
        continue;
      }
      this.#merged.set(name, result);
      if (result.value.listener) upserts.push(result.value.listener);
    }
    this.#set = this.#set.with(upserts, removed);
  }
}

function byListener(contributions: Contributions): Map<string, ListenerContribution[]> {
  const groups = new Map<string, ListenerContribution[]>();
  for (const contribution of contributions) {
    const group = groups.get(contribution.key);
    if (group) group.push(contribution);
    else groups.set(contribution.key, [contribution]);
  }
  return groups;
}

/** Ports of hosts with a lost conflict, and the winner. Each conflict comes once, for any number of groups. */
export function distinctConflicts(groups: Iterable<OutboundListeners>): ListenerConflict[] {
  const lists = new Set<readonly ListenerConflict[]>();
  for (const group of groups) for (const list of group.conflicts()) lists.add(list);
  const found = new Map<string, ListenerConflict>();
  for (const list of lists) for (const conflict of list) found.set(JSON.stringify(conflict), conflict);
  return [...found.values()];
}
