/**
 * XBackendTrafficPolicies: their targets, and what of a policy can be in force.
 *
 * @module
 */
import type { RetryBudget } from "../../config/kinds/destination_rule/internal.ts";
import type { XBackendTrafficPolicySpec } from "../../config/kinds/kinds.ts";
import type { ConfigObject } from "../../config/types.ts";
import { isHeaderName } from "../../config/validation/values.ts";
import { policyAtTargets } from "./policy_targets.ts";
import type { AttachOptions, AttachReader, ConditionVerdict, FieldFault, PolicyAtTarget } from "./types.ts";
import { fails, faultText, holds, IN_FORCE } from "./verdicts.ts";

/** An XBackendTrafficPolicy with everything that configuration decides about it. */
export interface BackendTrafficView {
  readonly policy: ConfigObject<"XBackendTrafficPolicy">;
  readonly targets: readonly PolicyAtTarget[];
  /** Present: the policy is in force nowhere. */
  readonly fault?: FieldFault;
  /** Present: the session of the policy is not kept, and the rest is in force. */
  readonly ignored?: FieldFault;
}

/** An XBackendTrafficPolicy with everything that configuration decides about it. */
export function backendTrafficView(
  policy: ConfigObject<"XBackendTrafficPolicy">,
  read: AttachReader,
  options: AttachOptions,
): BackendTrafficView {
  const fault = sessionFault(policy.spec);
  const all = read.objects("XBackendTrafficPolicy", policy.meta.namespace);
  const ignored = fault === undefined ? ignoredSession(policy.spec, options) : undefined;
  const verdict = fault ? fails("Invalid", faultText(fault)) : ignored ? partly(ignored) : IN_FORCE;
  const targets = policyAtTargets(policy, all, verdict, read, options);
  return { policy, targets, ...(fault && { fault }), ...(ignored && { ignored }) };
}

function partly(ignored: FieldFault): ConditionVerdict {
  return holds("Accepted", `the policy is in force, but for ${faultText(ignored)}`);
}

/** The session of a policy, if proxies have no filter for sessions. */
function ignoredSession(
  { sessionPersistence }: XBackendTrafficPolicySpec,
  { keepsSessions }: AttachOptions,
): FieldFault | undefined {
  if (sessionPersistence === undefined || keepsSessions) return undefined;
  const value = sessionPersistence.type;
  return { field: "sessionPersistence", value, expected: "PILOT_ENABLE_PERSISTENT_SESSION_FILTER=true" };
}

/** Why the session of a policy cannot be kept: a proxy would write the name into headers as it is. */
export function sessionFault({ sessionPersistence }: XBackendTrafficPolicySpec): FieldFault | undefined {
  const value = sessionPersistence?.sessionName;
  if (value === undefined || isHeaderName(value)) return undefined;
  return { field: "sessionPersistence.sessionName", value, expected: "a name without blanks and separators" };
}

/** Retries a second that are allowed whatever the share is, without a `count` or an `interval`. */
const MIN_RATE = { count: 10, interval: 1000 } as const;

/**
 * The limit of retries of a policy; undefined: none. Envoy counts retries at once where the policy counts retries in a time:
 * a rate of so many retries a second is so many at once, as if a retry took a second.
 */
export function retryBudget({ retryConstraint }: XBackendTrafficPolicySpec): RetryBudget | undefined {
  if (retryConstraint === undefined) return undefined;
  const { budget, minRetryRate: { count = MIN_RATE.count, interval = MIN_RATE.interval } } = retryConstraint;
  return { percent: budget.percent, interval: budget.interval, least: Math.ceil(count * 1000 / interval) };
}
