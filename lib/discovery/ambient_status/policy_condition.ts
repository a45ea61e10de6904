/**
 * What node tunnels do with an AuthorizationPolicy, in words for its status.
 *
 * @module
 */
import type { AuthorizationPolicy } from "../../mesh/authorization_policy.ts";
import { type InexactRule, type TunnelMesh, tunnelPolicy, type UnsentReason } from "../../mesh/tunnel/authorization.ts";
import type { StatusCondition } from "../../status/conditions.ts";

/** Type of the condition. The name and the reasons are Istio's. */
export const ZTUNNEL_ACCEPTED = "ZtunnelAccepted";

/** Rules in a message. */
const MOST_RULES = 5;

/** Attributes of a rule in a message. */
const MOST_ATTRIBUTES = 8;

/** Characters of an attribute in a message. */
const MOST_NAME = 60;

const REMEDY = "A waypoint enforces the whole policy, if targetRefs name it or its services.";

/**
 * The condition of a policy. Undefined: the policy is for other proxies, by `targetRefs`.
 *
 * @param layered `ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES`: waypoints enforce the policy, too.
 */
export function policyCondition(
  policy: AuthorizationPolicy,
  mesh: TunnelMesh,
  layered = false,
): StatusCondition | undefined {
  const own = tunnelCondition(policy, mesh);
  if (!layered || own === undefined || own.status === "False") return own;
  return { ...own, message: `${own.message} ${waypointText(policy, mesh)}` };
}

function tunnelCondition(policy: AuthorizationPolicy, mesh: TunnelMesh): StatusCondition | undefined {
  const { unsent, inexact } = tunnelPolicy(policy, mesh);
  if (unsent === "target") return undefined;
  if (unsent !== undefined) return condition("False", "UnsupportedValue", unsentText(unsent));
  if (inexact.length === 0) return condition("True", "Accepted", "Node tunnels enforce the policy as written.");
  const effect = policy.spec.action === "ALLOW"
    ? "Node tunnels accept less than written, because they leave out"
    : "Node tunnels refuse more than written, because they compare only a part of";
  const text = `${effect} ${rulesText(inexact)}. Sidecars and gateways enforce the whole policy. ${REMEDY}`;
  return condition("True", "UnsupportedValue", text);
}

/** What waypoints among the workloads of a policy do with connections, beside their policies with targets. */
function waypointText(policy: AuthorizationPolicy, mesh: TunnelMesh): string {
  const { inexact = [] } = tunnelPolicy(policy, mesh, "waypoint");
  const who = "Waypoints that the policy chooses enforce it for connections, on the identity of the client itself";
  if (inexact.length === 0) return `${who}.`;
  const isAllow = policy.spec.action === "ALLOW";
  return `${who}, and ${isAllow ? "leave out" : "compare only a part of"} ${rulesText(inexact)}.`;
}

function condition(status: "True" | "False", reason: string, message: string): StatusCondition {
  return { type: ZTUNNEL_ACCEPTED, status, reason, message };
}

function unsentText(unsent: Exclude<UnsentReason, "target">): string {
  if (unsent === "dry run") return "Node tunnels try no policies: a dry run has no effect there.";
  return `Node tunnels do not know the action ${unsent}: the policy has no effect there. Sidecars and gateways enforce ` +
    `the policy. ${REMEDY}`;
}

function rulesText(inexact: readonly InexactRule[]): string {
  const more = inexact.length > MOST_RULES ? `, and ${inexact.length - MOST_RULES} more rules` : "";
  return inexact.slice(0, MOST_RULES).map(ruleText).join("; ") + more;
}

function ruleText({ index, omissions }: InexactRule): string {
  if (omissions.length === 0) return `rules[${index}] (too many values)`;
  const names = omissions.slice(0, MOST_ATTRIBUTES).map(({ attribute, why }) => {
    const name = attribute.length > MOST_NAME ? `${attribute.slice(0, MOST_NAME)}...` : attribute;
    return why === "request" ? name : `values of ${name}`;
  });
  const more = omissions.length > MOST_ATTRIBUTES ? " and more" : "";
  return `rules[${index}] (${names.join(", ")}${more})`;
}
