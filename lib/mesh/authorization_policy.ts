/**
 * AuthorizationPolicy objects by the workloads that they are for. All that are for a workload are in force together:
 * unlike other policies none of them overrides another.
 *
 * @module
 */
import type { ConfigObject } from "../config/types.ts";
import { withTargets } from "./selection/gateway_target.ts";
import { SelectionIndex } from "./selection/index.ts";
import { type PolicyWorkload, RememberedPolicies } from "./selection/remembered.ts";
import { SharedLists } from "./selection/shared_lists.ts";

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
   * Replaces some objects by others (no object of the same key may stay). Costs them alone.
   *
   * @returns Namespaces of workloads that other policies may be for now; `*`: all.
   */
  update(removed: readonly AuthorizationPolicy[], added: readonly AuthorizationPolicy[]): Set<string> {
    if (removed.length + added.length > 0) this.#remembered.forget();
    return this.#selection.update(removed, added);
  }

  /**
   * The policies for a workload: of the root namespace, of its namespace, of its labels or its gateway. Workloads with the
   * same policies get the same list, until one of the policies changes.
   *
   * @param workload An object that does not change; it is remembered with its policies.
   */
  of(workload: PolicyWorkload): readonly AuthorizationPolicy[] {
    return this.#remembered.of(workload);
  }

  #find(workload: PolicyWorkload): readonly AuthorizationPolicy[] {
    const { root, namespace, workload: own } = this.#selection.select(withTargets(workload));
    return this.#lists.of([...root, ...namespace, ...own]);
  }
}
