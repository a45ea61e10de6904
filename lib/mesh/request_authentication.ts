/**
 * RequestAuthentication objects, and the accepted token issuers of a workload: all rules of all objects for the
 * workload, of the root namespace and the workload's own namespace.
 *
 * @module
 */
import { EMPTY_KEY_SET, publicKeySet } from "../config/kinds/request_authentication/key_set.ts";
import type { JwtRule } from "../config/kinds/request_authentication/schema.ts";
import type { ConfigObject } from "../config/types.ts";
import type { PolicyReach } from "./selection/gateway_targets.ts";
import { MergedSelection, type Merging } from "./selection/merged.ts";
import type { PolicyWorkload } from "./selection/remembered.ts";

type RequestAuthentication = ConfigObject<"RequestAuthentication">;

/** The merged rules of a workload. */
export interface RequestTokenPolicy {
  /**
   * Sorted by issuer; rules of the same issuer in written order. Empty: tokens are not looked at. Keys in rules have
   * the form of `publicKeySet`.
   */
  readonly rules: readonly JwtRule[];
  /** Keys of the objects with rules. */
  readonly causes: readonly string[];
}

/** The policy of workloads without an object. */
export const NO_TOKEN_POLICY: RequestTokenPolicy = { rules: [], causes: [] };

/** All RequestAuthentication objects of the mesh. */
export class RequestAuthenticationIndex {
  readonly #merged: MergedSelection<"RequestAuthentication", RequestTokenPolicy>;

  constructor(rootNamespace: string, reach: PolicyReach = {}) {
    const merging: Merging<"RequestAuthentication", RequestTokenPolicy> = {
      choose: ({ root, namespace, workload }) => [...root, ...namespace, ...workload],
      merge: merged,
      nothing: NO_TOKEN_POLICY,
    };
    this.#merged = new MergedSelection(rootNamespace, merging, reach);
  }

  /**
   * Replaces objects by others.
   *
   * @param removed No object of the same key may stay.
   * @returns The namespaces of workloads whose rules may have changed. `*`: all.
   */
  update(removed: readonly RequestAuthentication[], added: readonly RequestAuthentication[]): Set<string> {
    return this.#merged.update(removed, added);
  }

  /** To be called when workloads may have other targets. */
  forget(): void {
    this.#merged.forget();
  }

  /** The rules of a workload. The same object until a version of an object behind the rules changes. */
  of(workload: PolicyWorkload): RequestTokenPolicy {
    return this.#merged.of(workload);
  }
}

/** Keys of a rule in the form for proxies. */
function withPublicKeys(rule: JwtRule): JwtRule {
  return rule.jwks === undefined ? rule : { ...rule, jwks: publicKeySet(rule.jwks) ?? EMPTY_KEY_SET };
}

function merged(objects: readonly RequestAuthentication[]): RequestTokenPolicy {
  const withRules = objects.filter(({ spec }) => (spec.jwtRules?.length ?? 0) > 0);
  if (withRules.length === 0) return NO_TOKEN_POLICY;
  const rules = withRules.flatMap(({ spec }) => spec.jwtRules ?? []).map(withPublicKeys);
  return {
    rules: rules.sort((a, b) => a.issuer < b.issuer ? -1 : a.issuer > b.issuer ? 1 : 0),
    causes: withRules.map(({ key }) => key),
  };
}
