/**
 * Authorization policies as the rules of Envoy's RBAC filters.
 *
 * A condition that cannot be expressed never lets traffic in. In an ALLOW policy the whole rule never matches. In any
 * other policy the rule matches without the condition, so the policy refuses more, not less.
 *
 * @module
 */
import { RBAC_Action as Action } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { AuthorizationPolicySpec, AuthorizationRule } from "../../config/kinds/authorization_policy/schema.ts";
import type { AuthorizationPolicy } from "../../mesh/authorization_policy.ts";
import { type Condition, type Conjunction, conjunction, type RuleSite } from "./condition.ts";
import { operationConditions, permissionAttribute, PERMISSIONS } from "./permissions.ts";
import { principalAttribute, PRINCIPALS, sourceConditions } from "./principals.ts";

/** The rules of an RBAC filter. */
export type RbacRules = envoy.config.rbac.v3.RBAC;
type RbacPolicy = envoy.config.rbac.v3.Policy;

/** The action of a policy on matching traffic. */
export type AuthorizationAction = AuthorizationPolicySpec["action"];

/** A rule with conditions that cannot be expressed. */
export interface InexpressibleRule {
  readonly policy: AuthorizationPolicy;
  readonly index: number;
  /** Names of the conditions, each once. */
  readonly conditions: readonly string[];
}

/** The rules of policies with the same action. */
export interface BuiltRules {
  readonly rbac: RbacRules;
  readonly inexpressible: readonly InexpressibleRule[];
}

/** Prefix in names of rules for an external authorizer. The filter of the authorizer looks for the prefix. */
export const CUSTOM_PREFIX = "istio-ext-authz";

const NEVER: RbacPolicy = {
  permissions: [{ not_rule: { any: true } }],
  principals: [{ not_id: { any: true } }],
};

const ACTIONS = { ALLOW: Action.ALLOW, DENY: Action.DENY, AUDIT: Action.LOG, CUSTOM: Action.DENY } as const;

/**
 * The rules of policies with the same action. Logs and statistics show the names, which have Istio's form:
 * `ns[shop]-policy[cart]-rule[0]`. A policy without rules matches nothing, so ALLOW without rules denies everything.
 */
export function rbacRules(
  policies: readonly AuthorizationPolicy[],
  action: AuthorizationAction,
  placeOf: (policy: AuthorizationPolicy) => RuleSite,
): BuiltRules {
  const rules: Record<string, RbacPolicy> = {};
  const inexpressible: InexpressibleRule[] = [];
  for (const policy of policies) {
    const place = placeOf(policy);
    for (const [index, rule] of (policy.spec.rules ?? []).entries()) {
      const { matcher, inexpressible: conditions } = builtRule(rule, place);
      if (conditions.length > 0) inexpressible.push({ policy, index, conditions });
      rules[ruleName(policy, action, index)] = action === "ALLOW" && conditions.length > 0 ? NEVER : matcher;
    }
    // The rule changes no decision. Readers of the configuration can see the policy.
    if (policy.spec.rules === undefined) rules[ruleName(policy, action, 0)] = NEVER;
  }
  return { rbac: { action: ACTIONS[action], policies: rules }, inexpressible };
}

function ruleName({ meta: { namespace, name } }: AuthorizationPolicy, action: AuthorizationAction, index: number) {
  return `${action === "CUSTOM" ? `${CUSTOM_PREFIX}-` : ""}ns[${namespace}]-policy[${name}]-rule[${index}]`;
}

function builtRule({ from = [], to = [], when = [] }: AuthorizationRule, place: RuleSite): Conjunction<RbacPolicy> {
  const ofCaller = conditions(when, principalAttribute);
  const ofRequest = conditions(when, permissionAttribute);
  const callers = (from.length > 0 ? from : [{}]).map(({ source = {} }) =>
    conjunction([...sourceConditions(source), ...ofCaller], place, PRINCIPALS)
  );
  const requests = (to.length > 0 ? to : [{}]).map(({ operation = {} }) =>
    conjunction([...operationConditions(operation), ...ofRequest], place, PERMISSIONS)
  );
  return {
    matcher: { permissions: requests.map((one) => one.matcher), principals: callers.map((one) => one.matcher) },
    inexpressible: [...new Set([...unknown(when), ...[...callers, ...requests].flatMap((one) => one.inexpressible)])],
  };
}

type When = NonNullable<AuthorizationRule["when"]>;

function conditions<M>(
  when: When,
  attributeOf: (one: When[number]) => Condition<M>["attribute"] | undefined,
): Condition<M>[] {
  return when.flatMap((one) => {
    const attribute = attributeOf(one);
    const { key, values = [], notValues = [] } = one;
    return attribute ? [{ name: key, attribute, values, notValues }] : [];
  });
}

/** Validation refuses unknown keys. A key that slips through must not widen an ALLOW. */
function unknown(when: When): string[] {
  return when.filter((one) => !principalAttribute(one) && !permissionAttribute(one)).map(({ key }) => key);
}
