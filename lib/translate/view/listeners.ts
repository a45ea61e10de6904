/**
 * Outbound listeners of one class of sidecars: contributions of hosts, merged where they share an address and port.
 *
 * @module
 */
import type { EncodedResource } from "../../resource/encoded.ts";
import type { ResourceSet } from "../../resource/set.ts";
import { compareParts, type ListenerConflict, type ListenerPart } from "../listener/part.ts";
import type { BaseReader } from "../trace.ts";
import type { Unit, UnitCache } from "../unit_cache.ts";

type Parts = ReadonlyMap<string, readonly ListenerPart[]>;
type PartsUnit = Unit<readonly ListenerPart[]>;

/** What merging the parts of one key gave. */
export interface MergedListener {
  readonly listener: EncodedResource | undefined;
  readonly conflicts: readonly ListenerConflict[];
}

/** Merges parts; shared by all classes. */
export type MergeListener = (key: string, parts: readonly ListenerPart[], reader: BaseReader) => Unit<MergedListener>;

/** The listeners that hosts contribute to. */
export class OutboundListeners {
  readonly #cache: UnitCache<readonly ListenerPart[]>;
  readonly #merge: MergeListener;
  readonly #units: Map<string, PartsUnit>;
  /** Parts by listener key, then by host. */
  readonly #parts: Map<string, Map<string, readonly ListenerPart[]>>;
  readonly #merged: Map<string, Unit<MergedListener>>;
  #set: ResourceSet;
  /** Begun as a copy, and not looked at since. */
  #copied: boolean;
  /** Keys whose merge threw: they are tried again with the next change, whatever it touches. */
  #failed: Set<string>;

  /** @param like Begins as a copy of another class's; the first update must look at all hosts of both. */
  constructor(
    cache: UnitCache<readonly ListenerPart[]>,
    merge: MergeListener,
    empty: ResourceSet,
    like?: OutboundListeners,
  ) {
    this.#cache = cache;
    this.#merge = merge;
    this.#units = new Map(like ? like.#units : []);
    this.#parts = new Map([...like ? like.#parts : []].map(([key, hosts]) => [key, new Map(hosts)]));
    this.#merged = new Map(like ? like.#merged : []);
    this.#set = like?.set ?? empty;
    this.#copied = like !== undefined;
    this.#failed = new Set(like ? like.#failed : []);
  }

  /** All listeners now. The same object while none of them changed. */
  get set(): ResourceSet {
    return this.#set;
  }

  /** Parts that lost, and to which: a list a listener, the same object in all classes that share the listener. */
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

  /** Equal parts stay as they are: most edits of routes leave the listener alone, however many hosts share it. */
  #replace(host: string, before: Parts, after: Parts, touched: Set<string>): void {
    for (const key of before.keys()) if (!after.has(key)) this.#place(key, host, [], touched);
    for (const [key, parts] of after) {
      const old = before.get(key);
      if (!old || JSON.stringify(old) !== JSON.stringify(parts)) this.#place(key, host, parts, touched);
    }
  }

  #place(key: string, host: string, parts: readonly ListenerPart[], touched: Set<string>): void {
    touched.add(key);
    let hosts = this.#parts.get(key);
    if (!hosts) this.#parts.set(key, hosts = new Map());
    if (parts.length > 0) hosts.set(host, parts);
    else hosts.delete(host);
    if (hosts.size === 0) this.#parts.delete(key);
  }

  #rebuild(keys: Iterable<string>, reader: BaseReader, onUnit: (unit: Unit<unknown>) => void, keeps: boolean): void {
    const upserts: EncodedResource[] = [];
    const removed: string[] = [];
    for (const key of keys) {
      const old = this.#merged.get(key)?.value;
      const hosts = this.#parts.get(key);
      const unit = hosts && this.#merge(key, [...hosts.values()].flat().sort(compareParts), reader);
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

function byKey(parts: readonly ListenerPart[]): Map<string, ListenerPart[]> {
  const groups = new Map<string, ListenerPart[]>();
  for (const part of parts) {
    const group = groups.get(part.key);
    if (group) group.push(part);
    else groups.set(part.key, [part]);
  }
  return groups;
}
