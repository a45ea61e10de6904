/**
 * The merged policies of a kind's objects. Each distinct list of objects is merged once.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import { type FindTargets, type PolicyReach, withLabelledTarget } from "./gateway_targets.ts";
import { type Selected, SelectionIndex } from "./index.ts";
import { type PolicyWorkload, RememberedPolicies } from "./remembered.ts";
import type { SelectingKind } from "./selection.ts";

/** Kept merged policies. Clients choose their labels, so there may be any number of lists. */
const MAX_MERGED = 10_000;

/** How objects of a kind become a policy. */
export interface Merging<K extends SelectingKind, P> {
  /** The deciding objects of a workload, in the order of merging. */
  readonly choose: (selected: Selected<K>) => readonly ConfigObject<K>[];
  /** Merges a list of at least one object. Pure. */
  readonly merge: (objects: readonly ConfigObject<K>[]) => P;
  /** The policy of workloads without an object. */
  readonly nothing: P;
}

interface MergedEntry<K extends SelectingKind, P> {
  readonly objects: readonly ConfigObject<K>[];
  readonly policy: P;
}

/** All objects of a kind, and the merged policies of workloads. */
export class MergedSelection<K extends SelectingKind, P> {
  readonly #merging: Merging<K, P>;
  readonly #selection: SelectionIndex<K>;
  readonly #targets: FindTargets;
  /** By the keys of the merged objects. An entry lives until an object goes. */
  readonly #merged = new Map<string, MergedEntry<K, P>>();
  readonly #remembered = new RememberedPolicies((workload) => this.find(workload));

  constructor(rootNamespace: string, merging: Merging<K, P>, reach: PolicyReach = {}) {
    const { selectsGateways, holdsAtWaypoints, targets } = reach;
    this.#selection = new SelectionIndex(rootNamespace, selectsGateways, holdsAtWaypoints);
    this.#targets = targets ?? withLabelledTarget;
    this.#merging = merging;
  }

  /**
   * Replaces objects by others. The cost is the change, and a look at each distinct policy.
   *
   * @param removed No object of the same key may stay.
   * @returns The namespaces of workloads with a possibly changed policy. `*`: all.
   */
  update(removed: readonly ConfigObject<K>[], added: readonly ConfigObject<K>[]): Set<string> {
    if (removed.length + added.length === 0) return new Set();
    this.#remembered.forget();
    const namespaces = this.#selection.update(removed, added);
    const changed = new Set([...removed, ...added].map(({ key }) => key));
    for (const [name, { objects }] of this.#merged) {
      if (objects.some(({ key }) => changed.has(key))) this.#merged.delete(name);
    }
    return namespaces;
  }

  /** To be called when workloads may have other targets. */
  forget(): void {
    this.#remembered.forget();
  }

  /**
   * The policy of a workload. The same object until a version of a merged object changes.
   *
   * @param workload An unchanging object, remembered with the policy.
   */
  of(workload: PolicyWorkload): P {
    return this.#remembered.of(workload);
  }

  /** The objects for a workload, also those that do not decide. */
  select(workload: PolicyWorkload): Selected<K> {
    return this.#selection.select(this.#targets(workload));
  }

  /** As `of`, for a single question about a workload. */
  find(workload: PolicyWorkload): P {
    const objects = this.#merging.choose(this.select(workload));
    if (objects.length === 0) return this.#merging.nothing;
    const name = objects.map(({ key }) => key).join(" ");
    const known = this.#merged.get(name);
    if (known) return known.policy;
    const policy = this.#merging.merge(objects);
    this.#merged.set(name, { objects, policy });
    if (this.#merged.size > MAX_MERGED) this.#dropFirst();
    return policy;
  }

  #dropFirst(): void {
    for (const name of this.#merged.keys()) {
      this.#merged.delete(name);
      return;
    }
  }
}
