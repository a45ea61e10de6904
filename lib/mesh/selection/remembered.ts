/**
 * Policies of workloads, each found once while the objects that make it stay: one proxy is asked for the same policy by
 * each of its caches and groups.
 *
 * @module
 */
import type { StringMap } from "../../config/kinds/kinds.ts";

/** The facts that a policy is found by. */
export interface PolicyWorkload {
  readonly namespace: string;
  readonly labels: StringMap;
}

/** Policies by the object that stands for a workload; the object must not change. */
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
