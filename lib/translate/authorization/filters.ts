/**
 * The filters that enforce a workload's authorization policies, for requests and for connections that carry bytes.
 *
 *     CUSTOM   a rule notes matching traffic ─> the authorizer is asked
 *     AUDIT    a rule marks matching traffic for access logs
 *     DENY     matching traffic is refused
 *     ALLOW    traffic without a matching rule is refused
 *
 * @module
 */
import { RBAC_Action as Action } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { isDryRun } from "../../config/kinds/authorization_policy/dry_run.ts";
import type { AuthorizationPolicy } from "../../mesh/authorization_policy.ts";
import { type Authorizer, authorizer } from "../filters/http/ext_authz/authorizer.ts";
import { hasExtension } from "../filters/extension.ts";
import type { RuleSite } from "./condition.ts";
import { URI_TEMPLATE } from "./permissions.ts";
import { type AuthorizationAction, CUSTOM_PREFIX, type InexpressibleRule, type RbacRules, rbacRules } from "./rules.ts";
import type { Reader } from "../reader/reader.ts";

/** How filters are written for one sort of chain. */
export interface Carrier<F> {
  /** The chain carries requests. False: the chain carries bytes. */
  readonly http: boolean;
  /** The filters are for a gRPC library. */
  readonly library?: true;
  /** Connections arrived by HBONE. */
  readonly hbone: boolean;
  /** The filters judge CONNECTs. */
  readonly connect?: true;
  readonly rbac: (
    config: Pick<
      envoy.extensions.filters.network.rbac.v3.RBAC,
      "rules" | "shadow_rules" | "shadow_rules_stat_prefix"
    >,
  ) => F;
  /** The filter whose metadata holds the notes of rules. */
  readonly rbacName: string;
  /**
   * Makes the filter that asks the authorizer. Undefined when the authorizer cannot be asked about this sort of
   * traffic.
   */
  readonly ask: (authorizer: Authorizer, asked: envoy.type.matcher.v3.MetadataMatcher) => F | undefined;
}

/** A CUSTOM policy whose authorizer cannot be asked. Traffic that matches the policy is refused. */
export interface UnaskedPolicy {
  readonly policy: AuthorizationPolicy;
  readonly provider: string;
  readonly why: string;
  /** The authorizer can be asked, but only about requests. */
  readonly requestsOnly: boolean;
}

/** The filters of policies, and the parts of policies that are not in force as written. */
export interface AuthorizationFilters<F> {
  /** Run before end users are authenticated. */
  readonly external: readonly F[];
  readonly own: readonly F[];
  readonly inexpressible: readonly InexpressibleRule[];
  readonly unasked: readonly UnaskedPolicy[];
}

/** Prefixes of the notes of rules. Users find notes in statistics and metadata by prefix. */
const DRY_RUN: Readonly<Partial<Record<AuthorizationAction, string>>> = {
  ALLOW: "istio_dry_run_allow_",
  DENY: "istio_dry_run_deny_",
};
const CUSTOM_NOTES = "istio_ext_authz_";

/** Suffix in names of rules that refuse because the authorizer cannot be asked. */
const UNASKED_SUFFIX = "-deny-due-to-bad-CUSTOM-action";

interface BuildingFilters<F> {
  readonly read: Reader;
  readonly carrier: Carrier<F>;
  readonly placeOf: (policy: AuthorizationPolicy) => RuleSite;
  readonly inexpressible: InexpressibleRule[];
  readonly unasked: UnaskedPolicy[];
}

/** The filters for the policies. */
export function authorizationFilters<F>(
  read: Reader,
  policies: readonly AuthorizationPolicy[],
  carrier: Carrier<F>,
): AuthorizationFilters<F> {
  const placeOf = ({ meta: { namespace } }: AuthorizationPolicy): RuleSite => ({
    namespace,
    http: carrier.http,
    library: carrier.library === true,
    pathTemplates: !carrier.library && hasExtension(read, URI_TEMPLATE),
    hbone: carrier.hbone,
    connect: carrier.connect === true,
    mesh: read.mesh(),
  });
  const building: BuildingFilters<F> = { read, carrier, placeOf, inexpressible: [], unasked: [] };
  const of = (action: AuthorizationAction) => policies.filter(({ spec }) => spec.action === action);
  const external = customFilters(building, of("CUSTOM"));
  const own = (["AUDIT", "DENY", "ALLOW"] as const).flatMap((action) => ruleFilter(building, of(action), action));
  return { external, own, inexpressible: building.inexpressible, unasked: building.unasked };
}

function ruleFilter<F>(
  building: BuildingFilters<F>,
  policies: readonly AuthorizationPolicy[],
  action: AuthorizationAction,
): F[] {
  if (policies.length === 0) return [];
  const rulesOf = (some: readonly AuthorizationPolicy[]) =>
    some.length > 0 ? builtRules(building, some, action) : undefined;
  const rules = rulesOf(policies.filter((one) => !isDryRun(one)));
  const tried = rulesOf(policies.filter(isDryRun));
  return [building.carrier.rbac({
    ...(rules ? { rules } : {}),
    ...(tried ? { shadow_rules: tried, shadow_rules_stat_prefix: DRY_RUN[action] ?? "" } : {}),
  })];
}

function builtRules<F>(
  { placeOf, inexpressible }: BuildingFilters<F>,
  policies: readonly AuthorizationPolicy[],
  action: AuthorizationAction,
): RbacRules {
  const built = rbacRules(policies, action, placeOf);
  inexpressible.push(...built.inexpressible);
  return built.rbac;
}

/** Two filters for each authorizer: rules that note matching traffic, and a filter that asks about noted traffic. */
function customFilters<F>(building: BuildingFilters<F>, policies: readonly AuthorizationPolicy[]): F[] {
  const byProvider = Map.groupBy(policies, ({ spec }) => spec.provider?.name ?? "");
  return [...byProvider].flatMap(([provider, own]) => {
    const rules = builtRules(building, own, "CUSTOM");
    const found = authorizer(building.read, provider);
    // A single authorizer keeps the prefix that users know from Istio.
    const prefix = byProvider.size === 1 ? CUSTOM_NOTES : `${CUSTOM_NOTES}${provider}_`;
    const asking = "why" in found ? undefined : building.carrier.ask(found, noted(building.carrier.rbacName, prefix));
    if (asking) {
      return [building.carrier.rbac({ shadow_rules: rules, shadow_rules_stat_prefix: prefix }), asking];
    }
    const why = "why" in found ? found.why : unaskable(building.carrier);
    const requestsOnly = !("why" in found) && !building.carrier.http;
    building.unasked.push(...own.map((policy) => ({ policy, provider, why, requestsOnly })));
    return [building.carrier.rbac({ rules: refusing(rules) })];
  });
}

function unaskable<F>({ http }: Carrier<F>): string {
  return http ? "needs a filter that the proxy's build lacks" : "can only be asked about requests";
}

/** Matches the note that a rule of a CUSTOM policy leaves. */
function noted(rbacName: string, prefix: string): envoy.type.matcher.v3.MetadataMatcher {
  return {
    filter: rbacName,
    path: [{ key: `${prefix}shadow_effective_policy_id` }],
    value: { string_match: { prefix: CUSTOM_PREFIX } },
  };
}

function refusing({ policies = {} }: RbacRules): RbacRules {
  const named = Object.entries(policies).map(([name, policy]) => [`${name}${UNASKED_SUFFIX}`, policy]);
  return { action: Action.DENY, policies: Object.fromEntries(named) };
}
