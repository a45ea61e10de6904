/**
 * AuthorizationPolicies whose effect at node tunnels differs from the text. Only policies for workloads in ambient mode
 * are judged.
 *
 * @module
 */
import { type InexactRule, tunnelPolicy, type UnsentReason } from "../../mesh/tunnel/authorization.ts";
import type { Omission } from "../../mesh/tunnel/rules.ts";
import type { Analyzer } from "../analyzer.ts";
import { firstTunnelled } from "./tunnelled.ts";

export const BEYOND_TUNNELS: Analyzer<"AuthorizationPolicy"> = {
  kind: "AuthorizationPolicy",
  reports: ["beyond-tunnel", "action-beyond-tunnel"],
  analyze: (policy, read, report) => {
    const { unsent, inexact = [] } = tunnelPolicy(policy, read.meshConfig);
    if (!isAction(unsent) && inexact.length === 0) return;
    const cause = firstTunnelled(policy, read);
    if (cause === undefined) return;
    const { key, meta: { namespace, name } } = cause;
    const where = `${cause.kind === "Namespace" ? "" : `${namespace}/`}${name}`;
    if (isAction(unsent)) {
      // Without the authorizer's answer, everything is accepted.
      report(unsent === "CUSTOM" ? "error" : "warning", "action-beyond-tunnel", {
        field: "spec.action",
        value: unsent,
        expected: `ALLOW or DENY (in ambient mode is ${cause.kind} ${where})`,
        others: [key],
      });
    }
    const isAllow = policy.spec.action === "ALLOW";
    for (const { index, omissions } of inexact) {
      report("warning", "beyond-tunnel", {
        field: `spec.rules[${index}]`,
        value: valueOf({ index, omissions }),
        expected: `conditions that a node tunnel compares (in ambient mode is ${cause.kind} ${where})`,
        effect: isAllow
          ? "Node tunnels leave the rule out, so it accepts no connection."
          : "Node tunnels refuse each connection that the rest of the rule matches.",
        others: [key],
      });
    }
  },
};

/** Whether a policy is not for tunnels because of its action. */
function isAction(unsent: UnsentReason | undefined): unsent is "AUDIT" | "CUSTOM" {
  return unsent === "AUDIT" || unsent === "CUSTOM";
}

function valueOf({ omissions }: InexactRule): string {
  if (omissions.length === 0) return "too many values";
  return omissions.map(({ attribute, why }: Omission) => why === "request" ? attribute : `values of ${attribute}`)
    .join(", ");
}
