/**
 * AuthorizationPolicy objects by workload. All policies for a workload are in force together: unlike other policies,
 * they never override each other.
 *
 * @module
 */
import type { ConfigObject } from "../config/types.ts";
import { withTargets } from "./selection/gateway_target.ts";
import { SelectionIndex } from "./selection/index.ts";
import { type PolicyWorkload, RememberedPolicies } from "./selection/remembered.ts";
import { SharedLists } from "../incremental/weak_table.ts";

export type AuthorizationPolicy = ConfigObject<"AuthorizationPolicy">;

/** All AuthorizationPolicy objects of the mesh. */
export class AuthorizationPolicyIndex {
  readonly #selection: SelectionIndex<"AuthorizationPolicy">;
  readonly #lists = new SharedLists<AuthorizationPolicy>();
  readonly #remembered = new RememberedPolicies((workload) => this.#find(workload));

  constructor(rootNamespace: string) {
    this.#selection = new SelectionIndex(rootNamespace);
  }

  /**
   * Replaces objects by others. The cost grows with the change only.
   *
   * @param removed No object of the same key may stay.
   * @returns Namespaces of workloads whose policies may have changed. `*`: all.
   */
  update(removed: readonly AuthorizationPolicy[], added: readonly AuthorizationPolicy[]): Set<string> {
    if (removed.length + added.length > 0) this.#remembered.forget();
    return this.#selection.update(removed, added);
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

  #find(workload: PolicyWorkload): readonly AuthorizationPolicy[] {
    const { root, namespace, workload: own } = this.#selection.select(withTargets(workload));
    return this.#lists.of([...root, ...namespace, ...own]);
  }
}
