/**
 * AuthorizationPolicy objects by workload. All policies for a workload are in force together: unlike other policies,
 * they never override each other.
 *
 * @module
 */
import type { ConfigObject } from "../config/types.ts";
import { type FindTargets, type PolicyReach, withLabelledTarget } from "./selection/gateway_targets.ts";
import { SelectionIndex } from "./selection/index.ts";
import { type PolicyWorkload, RememberedPolicies } from "./selection/remembered.ts";
import { SharedLists } from "../incremental/weak_table.ts";

export type AuthorizationPolicy = ConfigObject<"AuthorizationPolicy">;

/** All AuthorizationPolicy objects of the mesh. */
export class AuthorizationPolicyIndex {
  readonly #selection: SelectionIndex<"AuthorizationPolicy">;
  readonly #targets: FindTargets;
  readonly #lists = new SharedLists<AuthorizationPolicy>();
  readonly #remembered = new RememberedPolicies((workload) => this.#find(workload));
  readonly #layered = new RememberedPolicies((workload) => this.#findLayered(workload), (workload) => workload);

  constructor(rootNamespace: string, { selectsGateways, targets }: PolicyReach = {}) {
    this.#selection = new SelectionIndex(rootNamespace, selectsGateways);
    this.#targets = targets ?? withLabelledTarget;
  }

  /**
   * Replaces objects by others. The cost grows with the change only.
   *
   * @param removed No object of the same key may stay.
   * @returns Namespaces of workloads whose policies may have changed. `*`: all.
   */
  update(removed: readonly AuthorizationPolicy[], added: readonly AuthorizationPolicy[]): Set<string> {
    if (removed.length + added.length > 0) this.forget();
    return this.#selection.update(removed, added);
  }

  /** To be called when workloads may have other targets. */
  forget(): void {
    this.#remembered.forget();
    this.#layered.forget();
  }

  /**
   * The policies for a workload: of the root namespace, the workload's namespace, the labels or the gateway. Workloads
   * with the same policies get the same list, until a policy changes.
   *
   * @param workload An unchanging object, remembered with the policies.
   */
  of(workload: PolicyWorkload): readonly AuthorizationPolicy[] {
    return this.#remembered.of(workload);
  }

  /**
   * The policies without targets for the workload of a waypoint: of the root namespace, the workload's namespace and the
   * labels. Workloads with the same policies get the same list.
   *
   * @param workload An unchanging object, remembered with the policies.
   */
  layered(workload: PolicyWorkload): readonly AuthorizationPolicy[] {
    return this.#layered.of(workload);
  }

  #findLayered(workload: PolicyWorkload): readonly AuthorizationPolicy[] {
    const { root, namespace, workload: own } = this.#selection.withoutTargets(workload);
    return this.#lists.of([...root, ...namespace, ...own]);
  }

  #find(workload: PolicyWorkload): readonly AuthorizationPolicy[] {
    const { root, namespace, workload: own } = this.#selection.select(this.#targets(workload));
    return this.#lists.of([...root, ...namespace, ...own]);
  }
}
