/**
 * Policies of workloads, remembered until the objects change: all caches and groups of a proxy ask for the same policy.
 *
 * @module
 */
import type { StringMap } from "../../config/kinds/kinds.ts";
import type { PlacedTarget } from "./index.ts";

/** The facts that decide about a policy. */
export interface PolicyWorkload {
  readonly namespace: string;
  readonly labels: StringMap;
  /** As in `SelectableWorkload`. */
  readonly ofWaypoint?: readonly PlacedTarget[];
}

/** Policies by workload. The object of a workload must not change. */
export class RememberedPolicies<P, W extends PolicyWorkload = PolicyWorkload> {
  readonly #find: (workload: W) => P;
  #known = new WeakMap<WeakKey, P>();

  readonly #keyOf: (workload: W) => WeakKey;

  /**
   * @param find Finds the policy of a workload.
   * @param keyOf The object that decides. Default: the targets of a waypoint, because its labels say nothing about its
   * policies and replicas share what is found; the object of any other workload. Waypoints of all namespaces share the
   * empty list of targets, which decides nothing.
   */
  constructor(
    find: (workload: W) => P,
    keyOf: (workload: W) => WeakKey = (workload) => workload.ofWaypoint?.length ? workload.ofWaypoint : workload,
  ) {
    this.#find = find;
    this.#keyOf = keyOf;
  }

  /** The policy of a workload. */
  of(workload: W): P {
    return this.#known.getOrInsertComputed(this.#keyOf(workload), () => this.#find(workload));
  }

  /** To be called when the objects changed. */
  forget(): void {
    this.#known = new WeakMap();
  }
}
