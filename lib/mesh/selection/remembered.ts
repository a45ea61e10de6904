/**
 * Policies of workloads, remembered until the objects change: all caches and groups of a proxy ask for the same policy.
 *
 * @module
 */
import type { StringMap } from "../../config/kinds/kinds.ts";

/** The facts that decide about a policy. */
export interface PolicyWorkload {
  readonly namespace: string;
  readonly labels: StringMap;
}

/** Policies by workload. The object of a workload must not change. */
export class RememberedPolicies<P, W extends PolicyWorkload = PolicyWorkload> {
  readonly #find: (workload: W) => P;
  #known = new WeakMap<W, P>();

  /** @param find Finds the policy of a workload. */
  constructor(find: (workload: W) => P) {
    this.#find = find;
  }

  /** The policy of a workload. */
  of(workload: W): P {
    return this.#known.getOrInsertComputed(workload, this.#find);
  }

  /** To be called when the objects changed. */
  forget(): void {
    this.#known = new WeakMap();
  }
}
