/**
 * AuthorizationPolicies for node tunnels, by name and by workload.
 *
 * @module
 */
import { Scope } from "../../../proto/gen/enums.ts";
import type { AuthorizationPolicy } from "../authorization_policy.ts";
import { SelectionIndex } from "../selection/index.ts";
import type { PolicyWorkload } from "../selection/remembered.ts";
import { selectionOf } from "../selection/selection.ts";
import { type TunnelAuthorization, type TunnelMesh, tunnelPolicy } from "./authorization.ts";
import { type TunnelPolicyChange, tunnelPolicyName } from "./change.ts";

/** All AuthorizationPolicies of the mesh. Each version of an object is converted once. */
export class TunnelAuthorizations {
  readonly #mesh: TunnelMesh;
  readonly #selection: SelectionIndex<"AuthorizationPolicy">;
  readonly #sent = new Map<string, TunnelAuthorization>();

  constructor(mesh: TunnelMesh) {
    this.#mesh = mesh;
    this.#selection = new SelectionIndex(mesh.rootNamespace);
  }

  /** Names of all policies. */
  names(): Iterable<string> {
    return this.#sent.keys();
  }

  /** The policy of a name. The same object until a version of the object behind the policy changes. */
  get(name: string): TunnelAuthorization | undefined {
    return this.#sent.get(name);
  }

  /** Names of the policies that choose a workload by labels, in alphabetical order. */
  listed({ namespace, labels }: PolicyWorkload): string[] {
    const { root, workload } = this.#selection.select({ namespace, labels });
    return [...root, ...workload].map(nameOf).filter((name) => this.#isListed(name)).sort();
  }

  /**
   * Replaces objects by others. The cost grows with the change only.
   *
   * @param removed No object of the same key may stay.
   */
  update(removed: readonly AuthorizationPolicy[], added: readonly AuthorizationPolicy[]): TunnelPolicyChange {
    const names = new Set([...removed, ...added].map(nameOf));
    const chosenBefore = new Map(removed.map((object) => [nameOf(object), this.#chosenBy(object)]));
    this.#selection.update(removed, added);
    for (const object of removed) this.#sent.delete(nameOf(object));
    for (const object of added) {
      const { authorization } = tunnelPolicy(object, this.#mesh);
      if (authorization) this.#sent.set(nameOf(object), authorization);
    }
    const chosenAfter = new Map(added.map((object) => [nameOf(object), this.#chosenBy(object)]));
    const namespaces = new Set<string>();
    for (const { meta } of [...removed, ...added]) {
      const name = tunnelPolicyName(meta);
      if (chosenBefore.get(name) === chosenAfter.get(name)) continue;
      namespaces.add(meta.namespace === this.#mesh.rootNamespace ? "*" : meta.namespace);
    }
    return { names, namespaces };
  }

  #isListed(name: string): boolean {
    return this.#sent.get(name)?.scope === Scope.WORKLOAD_SELECTOR;
  }

  /** The chosen labels as text. Undefined: the policy is listed nowhere. */
  #chosenBy(object: AuthorizationPolicy): string | undefined {
    return this.#isListed(nameOf(object)) ? JSON.stringify(selectionOf(object).labels) : undefined;
  }
}

function nameOf({ meta }: AuthorizationPolicy): string {
  return tunnelPolicyName(meta);
}
