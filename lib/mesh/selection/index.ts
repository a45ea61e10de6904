/**
 * Objects of a kind by workload: objects of the workload's namespace and the root namespace, found by labels or by a
 * named object.
 *
 *     root namespace ──┐
 *     own namespace  ──┼─> index.select(workload) ─> objects, the oldest first
 *     labels, targets ─┘
 *
 * A look-up costs the labels of the workload and the possible objects, for any number of other workloads.
 *
 * @module
 */
import { carriesLabels } from "../../config/schema/labels.ts";
import type { PolicyTargetReference, StringMap } from "../../config/kinds/kinds.ts";
import { GATEWAY_NAME_LABEL } from "../../config/spelling/spelling.ts";
import type { ConfigObject } from "../../config/types.ts";
import { rootReach, type SelectingKind, type Selection, selectionOf } from "./selection.ts";

/** The facts about a workload for selectors. */
export interface SelectableWorkload {
  readonly namespace: string;
  readonly labels: StringMap;
  /**
   * Objects of the workload's namespace that stand for the workload, such as a Gateway. Policies may name these
   * objects. Absent: none.
   */
  readonly targets?: readonly TargetName[];
  /**
   * Of a waypoint: the objects whose policies hold, in place of labels and namespaces. Absent: the workload is no
   * waypoint.
   */
  readonly ofWaypoint?: readonly PlacedTarget[];
}

/** A target of a policy. */
export type TargetName = Pick<PolicyTargetReference, "group" | "kind" | "name">;

/** A target with its namespace, which is the namespace of its policies. */
export type PlacedTarget = TargetName & { readonly namespace: string };

/** The objects for a workload, each list with the oldest first. */
export interface Selected<K extends SelectingKind> {
  /** Of the root namespace. Empty for workloads of the root namespace. */
  readonly root: readonly ConfigObject<K>[];
  /** Of the workload's own namespace, for all workloads of the namespace. */
  readonly namespace: readonly ConfigObject<K>[];
  /** Of the workload's own namespace, by labels or target. */
  readonly workload: readonly ConfigObject<K>[];
}

/** Objects with the oldest first. Sorted on demand, so that many changes in a row cost a single sort. */
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

/** Objects of a namespace, by labels or targets. */
class NamespaceSelections<K extends SelectingKind> {
  /** `""`: for all; `l/<name>=<value>`: the first wanted label; `t/<target>`: a named object. */
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

  /** The objects that name a target. */
  naming(targets: readonly TargetName[]): readonly ConfigObject<K>[] {
    const found = new Set(targets.flatMap((target) => this.#found.get(targetKey(target))?.list() ?? NONE));
    return found.size < 2 ? [...found] : [...found].sort(oldest);
  }

  /** The objects for chosen workloads, among them the given workload. */
  choosing({ labels, targets = [] }: SelectableWorkload): readonly ConfigObject<K>[] {
    if (this.#found.size === 1 && this.#found.has("")) return NONE;
    const found = new Set<ConfigObject<K>>();
    for (const [name, value] of Object.entries(labels)) {
      for (const object of this.#found.get(labelKey(name, value))?.list() ?? []) {
        if (carriesLabels(labels, selectionOf(object).labels)) found.add(object);
      }
    }
    for (const target of targets) {
      for (const object of this.#found.get(targetKey(target))?.list() ?? []) found.add(object);
    }
    return found.size < 2 ? [...found] : [...found].sort(oldest);
  }
}

const NONE: readonly never[] = [];

/** All objects of a kind. */
export class SelectionIndex<K extends SelectingKind> {
  readonly #rootNamespace: string;
  readonly #selectsGateways: boolean;
  readonly #holdsAtWaypoints: boolean;
  readonly #byNamespace = new Map<string, NamespaceSelections<K>>();

  /**
   * @param selectsGateways Whether objects without targets are also for workloads with the label of a Gateway: see
   * `selectsGateways` of `./selection.ts`. Workloads that serve a Gateway without the label are always selected: an
   * object of the namespace that names them in `spec.addresses` must not take away their policies.
   * @param holdsAtWaypoints As in `PolicyReach`.
   */
  constructor(rootNamespace: string, selectsGateways = true, holdsAtWaypoints = false) {
    this.#rootNamespace = rootNamespace;
    this.#selectsGateways = selectsGateways;
    this.#holdsAtWaypoints = holdsAtWaypoints;
  }

  /**
   * Replaces objects by others.
   *
   * @param removed No object of the same key may stay.
   * @returns The namespaces of workloads whose objects may have changed. `*`: all.
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

  /** The objects for a workload. */
  select(workload: SelectableWorkload): Selected<K> {
    if (workload.ofWaypoint !== undefined) return this.#ofWaypoint(workload.namespace, workload.ofWaypoint);
    const { namespace, labels, targets = [] } = workload;
    if (!this.#selectsGateways && labels[GATEWAY_NAME_LABEL] !== undefined) {
      return { root: NONE, namespace: NONE, workload: this.#byNamespace.get(namespace)?.naming(targets) ?? NONE };
    }
    return this.#reaching(workload);
  }

  /** The objects without targets for a workload, whatever the workload serves. */
  withoutTargets({ namespace, labels }: Pick<SelectableWorkload, "namespace" | "labels">): Selected<K> {
    return this.#reaching({ namespace, labels });
  }

  #reaching(workload: SelectableWorkload): Selected<K> {
    const own = this.#byNamespace.get(workload.namespace);
    return {
      root: this.#ofRoot(workload),
      namespace: own?.forAll() ?? NONE,
      workload: own?.choosing(workload) ?? NONE,
    };
  }

  /** Policies name what is behind a waypoint. Labels of the waypoint's own workload choose nothing. */
  #ofWaypoint(namespace: string, targets: readonly PlacedTarget[]): Selected<K> {
    const named = Map.groupBy(targets, (target) => target.namespace);
    const found = [...named].flatMap(([of, there]) => this.#byNamespace.get(of)?.naming(there) ?? NONE);
    const workload = [...new Set(found)].sort(oldest);
    if (!this.#holdsAtWaypoints) return { root: NONE, namespace: NONE, workload };
    return {
      root: namespace === this.#rootNamespace ? NONE : this.#byNamespace.get(this.#rootNamespace)?.forAll() ?? NONE,
      namespace: this.#byNamespace.get(namespace)?.forAll() ?? NONE,
      workload,
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
   * The number of workloads for each object, by key of the object. Objects without a workload are left out. The cost is
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

/** The order of creation; of the same moment by key. */
export function oldest(a: ConfigObject, b: ConfigObject): number {
  return a.meta.creationTimestamp - b.meta.creationTimestamp || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}
