/**
 * ProxyFilter objects by workload, in the order of application.
 *
 * @module
 */
import type { ConfigObject } from "../config/types.ts";
import { type FindTargets, type PolicyReach, withLabelledTarget } from "./selection/gateway_targets.ts";
import { SelectionIndex } from "./selection/index.ts";
import type { PolicyWorkload } from "./selection/remembered.ts";
import { SharedLists } from "../incremental/weak_table.ts";

/** A ProxyFilter. */
export type ProxyFilter = ConfigObject<"ProxyFilter">;

/** All ProxyFilter objects of the mesh. */
export class ProxyFilterIndex {
  readonly #rootNamespace: string;
  readonly #selection: SelectionIndex<"ProxyFilter">;
  readonly #targets: FindTargets;
  readonly #lists = new SharedLists<ProxyFilter>();
  readonly #all = new Map<string, ProxyFilter>();

  constructor(rootNamespace: string, { selectsGateways, targets }: PolicyReach = {}) {
    this.#rootNamespace = rootNamespace;
    this.#selection = new SelectionIndex(rootNamespace, selectsGateways);
    this.#targets = targets ?? withLabelledTarget;
  }

  /** The number of filters. */
  get size(): number {
    return this.#all.size;
  }

  /** The object of a key. */
  get(key: string): ProxyFilter | undefined {
    return this.#all.get(key);
  }

  /** All objects. */
  [Symbol.iterator](): Iterator<ProxyFilter> {
    return this.#all.values();
  }

  /**
   * Replaces objects by others. The cost grows with the change only.
   *
   * @param removed No object of the same key may stay.
   * @returns Namespaces of workloads whose filters may have changed. `*`: all.
   */
  update(removed: readonly ProxyFilter[], added: readonly ProxyFilter[]): Set<string> {
    for (const { key } of removed) this.#all.delete(key);
    for (const filter of added) this.#all.set(filter.key, filter);
    return this.#selection.update(removed, added);
  }

  /**
   * The filters for a workload: the lowest priority first, then filters of the root namespace, then the oldest, then by
   * name. Workloads with the same filters get the same list, until a filter changes.
   */
  of(workload: PolicyWorkload): readonly ProxyFilter[] {
    if (this.#all.size === 0) return NONE;
    const { root, namespace, workload: own } = this.#selection.select(this.#targets(workload));
    return this.#lists.of([...root, ...namespace, ...own].sort((a, b) => this.#compare(a, b)));
  }

  #compare(a: ProxyFilter, b: ProxyFilter): number {
    return (a.spec.priority ?? 0) - (b.spec.priority ?? 0) || this.#place(a) - this.#place(b) ||
      a.meta.creationTimestamp - b.meta.creationTimestamp || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
  }

  #place({ meta }: ProxyFilter): number {
    return meta.namespace === this.#rootNamespace ? 0 : 1;
  }
}

const NONE: readonly never[] = [];
