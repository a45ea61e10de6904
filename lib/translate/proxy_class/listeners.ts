/**
 * Outbound listeners of one class of sidecars: contributions of hosts, merged where they share an address and port.
 *
 * @module
 */
import type { EncodedResource } from "../../resource/encoded.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { ListenerConflict } from "../listener/conflict.ts";
import { compareContributions, type ListenerContribution } from "../listener/contribution.ts";
import type { BaseReader } from "../reader/read_record.ts";
import type { Unit, UnitCache } from "../reader/build_cache.ts";

type Contributions = ReadonlyMap<string, readonly ListenerContribution[]>;
type ContributionsUnit = Unit<readonly ListenerContribution[]>;

/** What merging the contributions of one key gave. */
export interface MergedListener {
  readonly listener: EncodedResource | undefined;
  readonly conflicts: readonly ListenerConflict[];
}

/** Merges contributions; shared by all classes. */
export type MergeListener = (
  key: string,
  contributions: readonly ListenerContribution[],
  reader: BaseReader,
) => Unit<MergedListener>;

/** The listeners that hosts contribute to. */
export class OutboundListeners {
  readonly #cache: UnitCache<readonly ListenerContribution[]>;
  readonly #merge: MergeListener;
  readonly #units: Map<string, ContributionsUnit>;
  /** Contributions by listener key, then by host. */
  readonly #contributions: Map<string, Map<string, readonly ListenerContribution[]>>;
  readonly #merged: Map<string, Unit<MergedListener>>;
  #set: ResourceSet;
  /** Begun as a copy, and not looked at since. */
  #copied: boolean;
  /** Keys whose merge threw: they are tried again with the next change, whatever it touches. */
  #failed: Set<string>;

  /** @param like Begins as a copy of another class's; the first update must look at all hosts of both. */
  constructor(
    cache: UnitCache<readonly ListenerContribution[]>,
    merge: MergeListener,
    empty: ResourceSet,
    like?: OutboundListeners,
  ) {
    this.#cache = cache;
    this.#merge = merge;
    this.#units = new Map(like ? like.#units : []);
    this.#contributions = new Map([...like ? like.#contributions : []].map(([key, hosts]) => [key, new Map(hosts)]));
    this.#merged = new Map(like ? like.#merged : []);
    this.#set = like?.set ?? empty;
    this.#copied = like !== undefined;
    this.#failed = new Set(like ? like.#failed : []);
  }

  /** All listeners now. The same object while none of them changed. */
  get set(): ResourceSet {
    return this.#set;
  }

  /** Contributions that lost, and to which: a list a listener, the same object in all classes that share the listener. */
  *conflicts(): Iterable<readonly ListenerConflict[]> {
    for (const { value } of this.#merged.values()) if (value.conflicts.length > 0) yield value.conflicts;
  }

  /** Looks at some hosts again; see {@linkcode HostResources.update}. */
  update(
    hosts: Iterable<string>,
    reader: BaseReader,
    exists: (host: string) => boolean,
    onUnit: (unit: Unit<unknown>) => void,
    keeps = true,
  ): void {
    const touched = this.#failed;
    this.#failed = new Set();
    for (const host of hosts) {
      const old = this.#units.get(host);
      const unit = exists(host) ? this.#cache.get(host, reader) : undefined;
      if (unit) onUnit(unit);
      if (unit === old || (keeps && old && unit?.failed)) continue;
      this.#replace(host, byKey(old?.value ?? []), byKey(unit?.value ?? []), touched);
      if (unit) {
        this.#units.set(host, unit);
      } else {
        this.#units.delete(host);
      }
    }
    // What was merged for another class may ask what this class answers differently.
    for (const [key, unit] of this.#merged) if (this.#copied && !unit.trace.holds(reader)) touched.add(key);
    if (this.#copied) { for (const unit of this.#merged.values()) onUnit(unit); }
    this.#copied = false;
    if (touched.size > 0) this.#rebuild(touched, reader, onUnit, keeps);
  }

  /** Equal contributions stay as they are: most edits of routes leave the listener alone, however many hosts share it. */
  #replace(host: string, before: Contributions, after: Contributions, touched: Set<string>): void {
    for (const key of before.keys()) if (!after.has(key)) this.#place(key, host, [], touched);
    for (const [key, contributions] of after) {
      const old = before.get(key);
      if (!old || JSON.stringify(old) !== JSON.stringify(contributions)) this.#place(key, host, contributions, touched);
    }
  }

  #place(key: string, host: string, contributions: readonly ListenerContribution[], touched: Set<string>): void {
    touched.add(key);
    let hosts = this.#contributions.get(key);
    if (!hosts) this.#contributions.set(key, hosts = new Map());
    if (contributions.length > 0) hosts.set(host, contributions);
    else hosts.delete(host);
    if (hosts.size === 0) this.#contributions.delete(key);
  }

  #rebuild(keys: Iterable<string>, reader: BaseReader, onUnit: (unit: Unit<unknown>) => void, keeps: boolean): void {
    const upserts: EncodedResource[] = [];
    const removed: string[] = [];
    for (const key of keys) {
      const old = this.#merged.get(key)?.value;
      const hosts = this.#contributions.get(key);
      const unit = hosts && this.#merge(key, [...hosts.values()].flat().sort(compareContributions), reader);
      if (unit) onUnit(unit);
      if (unit?.failed) this.#failed.add(key);
      if (keeps && old && unit?.failed) continue;
      if (old?.listener) removed.push(old.listener.name);
      if (!unit) {
        this.#merged.delete(key);
        continue;
      }
      this.#merged.set(key, unit);
      if (unit.value.listener) upserts.push(unit.value.listener);
    }
    this.#set = this.#set.with(upserts, removed);
  }
}

function byKey(contributions: readonly ListenerContribution[]): Map<string, ListenerContribution[]> {
  const groups = new Map<string, ListenerContribution[]>();
  for (const contribution of contributions) {
    const group = groups.get(contribution.key);
    if (group) group.push(contribution);
    else groups.set(contribution.key, [contribution]);
  }
  return groups;
}
