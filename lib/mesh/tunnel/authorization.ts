/**
 * AuthorizationPolicies as policies of node tunnels. A tunnel sees connections, not requests, so it knows the client's
 * identity and address, and the address and port of the workload.
 *
 * What a tunnel cannot compare never lets traffic in: in an ALLOW policy the whole rule is left out, and in a DENY
 * policy the rule refuses without the condition.
 *
 * @module
 */
import { Action, Scope } from "../../../proto/gen/enums.ts";
import type { istio } from "../../../proto/gen/types.ts";
import type { MeshTrustDomains } from "../../config/mesh/trust_domains.ts";
import { isDryRun } from "../../config/kinds/authorization_policy/dry_run.ts";
import type { AuthorizationPolicy } from "../authorization_policy.ts";
import { selectionOf } from "../selection/selection.ts";
import type { RuleHome } from "./attributes.ts";
import { everyConnection, type Omission, tunnelRule } from "./rules.ts";

/** A policy as a tunnel gets it. */
export type TunnelAuthorization = istio.security.Authorization;

/** What tunnels take from the mesh configuration. */
export interface TunnelMesh extends MeshTrustDomains {
  readonly rootNamespace: string;
}

/** Why a policy is not for tunnels. `target`: a named object, such as a Gateway, has a proxy that enforces the policy. */
export type UnsentReason = "target" | "dry run" | "AUDIT" | "CUSTOM";

/** A rule with another effect at a tunnel than written. */
export interface InexactRule {
  /** Position in `spec.rules`. */
  readonly index: number;
  /** The omitted conditions. Empty: the policy has too many values, see {@linkcode MAX_VALUES}. */
  readonly omissions: readonly Omission[];
}

/** An AuthorizationPolicy for tunnels. */
export type TunnelPolicy =
  | { readonly unsent: UnsentReason; readonly authorization?: never; readonly inexact?: never }
  | {
    readonly unsent?: never;
    readonly authorization: TunnelAuthorization;
    readonly inexact: readonly InexactRule[];
  };

/**
 * The number of compared values in a policy, with the names of all trust domains. A tunnel compares values one by one
 * for each connection. A rule above the number counts as a rule that cannot be compared.
 */
export const MAX_VALUES = 10_000;

/** Why a policy is not for tunnels. Undefined: it is. */
export function unsentReason(policy: AuthorizationPolicy): UnsentReason | undefined {
  const { action } = policy.spec;
  if (selectionOf(policy).targets.length > 0) return "target";
  if (isDryRun(policy)) return "dry run";
  return action === "AUDIT" || action === "CUSTOM" ? action : undefined;
}

/**
 * The policy for tunnels, named `<namespace>/<name>` like the object.
 *
 * @param place `waypoint`: as a waypoint enforces the policy in front of its services. Default: as a tunnel does.
 */
export function tunnelPolicy(
  policy: AuthorizationPolicy,
  mesh: TunnelMesh,
  place: RuleHome["place"] = "tunnel",
): TunnelPolicy {
  const unsent = unsentReason(policy);
  if (unsent !== undefined) return { unsent };
  const { action, rules = [] } = policy.spec;
  const { labels } = selectionOf(policy);
  const { namespace, name } = policy.meta;
  const groups: istio.security.Group[] = [];
  const inexact: InexactRule[] = [];
  let values = 0;
  for (const [index, rule] of rules.entries()) {
    const built = tunnelRule(rule, { namespace, mesh, place });
    values += built.values;
    const fits = values <= MAX_VALUES;
    if (!fits) values -= built.values;
    const isExact = fits && built.omissions.length === 0;
    if (!isExact) inexact.push({ index, omissions: fits ? built.omissions : [] });
    if (isExact || action === "DENY") groups.push(fits ? built.group : { rules: [{ matches: [everyConnection()] }] });
  }
  const scope = Object.keys(labels).length > 0
    ? Scope.WORKLOAD_SELECTOR
    : namespace === mesh.rootNamespace
    ? Scope.GLOBAL
    : Scope.NAMESPACE;
  return {
    authorization: { name, namespace, scope, action: action === "DENY" ? Action.DENY : Action.ALLOW, groups },
    inexact,
  };
}
