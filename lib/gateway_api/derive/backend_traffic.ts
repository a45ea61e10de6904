/**
 * Retries and sessions of backends: XBackendTrafficPolicies become a derived DestinationRule of each target's host, which the
 * mesh adds to the rule that is in force for the host (`lib/mesh/destination_rule_index.ts`).
 *
 * Of several policies for a target the oldest is in force, whole: its parts are not mixed with parts of others.
 *
 * @module
 */
import type { Derivation, DerivationInput, DerivedObject } from "../../config/derive/derivation.ts";
import type { ConfigObject } from "../../config/types.ts";
import { byPrecedence } from "../attach/precedence.ts";
import { retryBudget, sessionFault } from "../attach/traffic_policies.ts";
import type { AttachOptions } from "../attach/types.ts";
import { sessionOf } from "./limits.ts";
import { backendTrafficObjectName } from "./names.ts";
import { externalGroupOf, groupOf, targetOf } from "./policy_groups.ts";

type TrafficPolicyInput = ConfigObject<"XBackendTrafficPolicy"> & DerivationInput;

/** The derivation of all XBackendTrafficPolicies. */
export function backendTrafficDerivation(options: AttachOptions): Derivation {
  return {
    name: "backend-traffic",
    from: ["XBackendTrafficPolicy"],
    derive: () => [],
    shared: {
      groupsOf: (input) => isPolicy(input) ? groupsOf(input) : [],
      derive: (group, members, read) => {
        const [policy] = members.filter(isPolicy).sort(byPrecedence);
        if (policy === undefined) return [];
        return targetOf(group, read, options).flatMap(({ host }) => ruleOf(host, policy));
      },
    },
  };
}

function isPolicy(input: DerivationInput): input is TrafficPolicyInput {
  return input.kind === "XBackendTrafficPolicy";
}

function groupsOf(policy: TrafficPolicyInput): string[] {
  return policy.spec.targetRefs.flatMap((ref) => groupOf(policy, ref) ?? externalGroupOf(policy, ref) ?? []);
}

/** The rule of a host; none: nothing of the policy can be in force. */
function ruleOf(host: string, policy: TrafficPolicyInput): DerivedObject[] {
  const { meta: { namespace }, spec } = policy;
  if (sessionFault(spec) !== undefined) return [];
  const limit = retryBudget(spec);
  const session = spec.sessionPersistence && sessionOf(spec.sessionPersistence, host);
  if (limit === undefined && session === undefined) return [];
  return [{
    kind: "DestinationRule",
    meta: { name: backendTrafficObjectName(host), namespace },
    spec: { host, internal: { ...(limit && { retryBudget: limit }), ...(session && { session }) } },
    of: policy,
  }];
}
