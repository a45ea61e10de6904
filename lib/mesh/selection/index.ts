/**
 * Objects of one kind by the workloads that they are for: of the workload's namespace and of the root namespace, by
 * labels or by an object that they name.
 *
 *     root namespace ──┐
 *     own namespace  ──┼─> index.select(workload) ─> objects, the oldest first
 *     labels, targets ─┘
 *
 * Looking one workload up costs its labels and the objects that may be for it, independent of the number of others.
 *
 * @module
 */
import type { PolicyTargetReference, StringMap } from "../../config/kinds/kinds.ts";
import type { ConfigObject } from "../../config/types.ts";
import { rootReach, type SelectingKind, type Selection, selectionOf } from "./selection.ts";

/** The facts about a workload that selectors compare with. */
export interface SelectableWorkload {
  readonly namespace: string;
  readonly labels: StringMap;
  /** Objects of its namespace that stand for it and that policies may name, such as its Gateway. Absent: none. */
  readonly targets?: readonly TargetName[];
}

/** An object that a policy may name. */
export type TargetName = Pick<PolicyTargetReference, "group" | "kind" | "name">;

/** The objects that are for one workload, each list with the oldest first. */
export interface Selected<K extends SelectingKind> {
  /** Of the root namespace, where that is not the workload's own. */
  readonly root: readonly ConfigObject<K>[];
  /** Of its own namespace, for all workloads there. */
  readonly namespace: readonly ConfigObject<K>[];
  /** Of its own namespace, by labels or target. */
  readonly workload: readonly ConfigObject<K>[];
}

/** Objects with the oldest first; sorted when they are asked for, so that many changes in a row cost one sort. */
class SortedObjects<K extends SelectingKind> {
  readonly #byKey = new Map<string, ConfigObject<K>>();
  #sorted: readonly ConfigObject<K>[] | undefined;

  get size(): number {
    return this.#byKey.size;
  }

  change(object: ConfigObject<K>, put: boolean): void {
    if (put) this.#byKey.set(object.key, object);
    else this.#byKey.delete(object.key);
    this.#sorted = undefined;
  }

  list(): readonly ConfigObject<K>[] {
    return this.#sorted ??= [...this.#byKey.values()].sort(oldest);
  }
}

/** Objects of one namespace, by the labels or targets that find them. */
class NamespaceSelections<K extends SelectingKind> {
  /** `""`: for all; `l/<name>=<value>`: the first label that it wants; `t/<target>`: an object that it names. */
  readonly #found = new Map<string, SortedObjects<K>>();

  get empty(): boolean {
    return this.#found.size === 0;
  }

  change(object: ConfigObject<K>, put: boolean): void {
    for (const key of keysOf(selectionOf(object))) {
      const there = this.#found.get(key) ?? new SortedObjects();
      there.change(object, put);
      if (there.size > 0) this.#found.set(key, there);
      else this.#found.delete(key);
    }
  }

  forAll(): readonly ConfigObject<K>[] {
    return this.#found.get("")?.list() ?? NONE;
  }

  /** Those that choose the workload among others. */
  choosing({ labels, targets = [] }: SelectableWorkload): readonly ConfigObject<K>[] {
    if (this.#found.size === 1 && this.#found.has("")) return NONE;
    const found = new Set<ConfigObject<K>>();
    for (const [name, value] of Object.entries(labels)) {
      for (const object of this.#found.get(labelKey(name, value))?.list() ?? []) {
        if (carries(labels, selectionOf(object).labels)) found.add(object);
      }
    }
    for (const target of targets) {
      for (const object of this.#found.get(targetKey(target))?.list() ?? []) found.add(object);
    }
    return found.size < 2 ? [...found] : [...found].sort(oldest);
  }
}

const NONE: readonly never[] = [];

/** All objects of one kind. */
export class SelectionIndex<K extends SelectingKind> {
  readonly #rootNamespace: string;
  readonly #byNamespace = new Map<string, NamespaceSelections<K>>();

  constructor(rootNamespace: string) {
    this.#rootNamespace = rootNamespace;
  }

  /**
   * Replaces some objects by others (no object of the same key may stay).
   *
   * @returns The namespaces in which other objects may now be for a workload; `*` stands for all namespaces.
   */
  update(removed: Iterable<ConfigObject<K>>, added: Iterable<ConfigObject<K>>): Set<string> {
    const affected = new Set<string>();
    const change = (object: ConfigObject<K>, put: boolean) => {
      const { namespace } = object.meta;
      let own = this.#byNamespace.get(namespace);
      if (!own) this.#byNamespace.set(namespace, own = new NamespaceSelections());
      own.change(object, put);
      if (own.empty) this.#byNamespace.delete(namespace);
      affected.add(namespace === this.#rootNamespace ? "*" : namespace);
    };
    for (const object of removed) change(object, false);
    for (const object of added) change(object, true);
    return affected;
  }

  /** The objects that are for a workload. */
  select(workload: SelectableWorkload): Selected<K> {
    const own = this.#byNamespace.get(workload.namespace);
    return {
      root: this.#ofRoot(workload),
      namespace: own?.forAll() ?? NONE,
      workload: own?.choosing(workload) ?? NONE,
    };
  }

  #ofRoot(workload: SelectableWorkload): readonly ConfigObject<K>[] {
    if (workload.namespace === this.#rootNamespace) return NONE;
    const root = this.#byNamespace.get(this.#rootNamespace);
    if (!root) return NONE;
    const all = root.forAll();
    // A target is an object of the policy's own namespace.
    const { namespace, labels } = workload;
    const chosen = root.choosing({ namespace, labels }).filter(({ kind }) => rootReach(kind) === "any");
    return chosen.length === 0 ? all : [...all, ...chosen].sort(oldest);
  }

  /**
   * How many of some workloads each object is for, by key of the object; objects that are for none are left out. Costs
   * a look-up for each workload.
   */
  counts(workloads: Iterable<SelectableWorkload>): Map<string, number> {
    const counts = new Map<string, number>();
    for (const workload of workloads) {
      for (const list of Object.values(this.select(workload))) {
        for (const { key } of list) counts.set(key, (counts.get(key) ?? 0) + 1);
      }
    }
    return counts;
  }
}

function keysOf({ labels, targets }: Selection): readonly string[] {
  if (targets.length > 0) return [...new Set(targets.map(targetKey))];
  const [first] = Object.entries(labels);
  return [first === undefined ? "" : labelKey(...first)];
}

function labelKey(name: string, value: string): string {
  return `l/${name}=${value}`;
}

function targetKey({ group = "", kind, name }: TargetName): string {
  return `t/${group}/${kind}/${name}`;
}

function carries(labels: StringMap, wanted: StringMap): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}

/** The order of creation; of the same moment by key. */
export function oldest(a: ConfigObject, b: ConfigObject): number {
  return a.meta.creationTimestamp - b.meta.creationTimestamp || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}
