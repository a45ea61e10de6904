/**
 * RequestAuthentication objects, and the issuers whose tokens a workload accepts: all rules of all objects that are for
 * it, of the root namespace and of its own.
 *
 * @module
 */
import { EMPTY_KEY_SET, publicKeySet } from "../config/kinds/request_authentication/key_set.ts";
import type { JwtRule } from "../config/kinds/request_authentication/schema.ts";
import type { ConfigObject } from "../config/types.ts";
import { MergedSelection } from "./selection/merged.ts";
import type { PolicyWorkload } from "./selection/remembered.ts";

type RequestAuthentication = ConfigObject<"RequestAuthentication">;

/** The merged rules of a workload. */
export interface RequestTokenPolicy {
  /**
   * Sorted by issuer; those of one issuer in the order in which they were written. None: tokens are not looked at. Keys
   * in them are as `publicKeySet` gives them.
   */
  readonly rules: readonly JwtRule[];
  /** Keys of the objects that have rules. */
  readonly causes: readonly string[];
}

/** The policy of workloads that no object is for. */
export const NO_TOKEN_POLICY: RequestTokenPolicy = { rules: [], causes: [] };

/** All RequestAuthentication objects of the mesh. */
export class RequestAuthenticationIndex {
  readonly #merged: MergedSelection<"RequestAuthentication", RequestTokenPolicy>;

  constructor(rootNamespace: string) {
    this.#merged = new MergedSelection(rootNamespace, {
      choose: ({ root, namespace, workload }) => [...root, ...namespace, ...workload],
      merge: merged,
      nothing: NO_TOKEN_POLICY,
    });
  }

  /**
   * Replaces some objects by others (no object of the same key may stay).
   *
   * @returns The namespaces of workloads whose rules may change; `*`: all.
   */
  update(removed: readonly RequestAuthentication[], added: readonly RequestAuthentication[]): Set<string> {
    return this.#merged.update(removed, added);
  }

  /** The rules of a workload; the same object while the same versions of objects make it. */
  of(workload: PolicyWorkload): RequestTokenPolicy {
    return this.#merged.of(workload);
  }
}

/** Keys of a rule as proxies get them. */
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
