/**
 * Whether filters let a request or connection pass: those that judge by rules, and those that ask an authorizer.
 *
 * @module
 */
import { ruleText } from "./rule_name.ts";
import type { envoy } from "../../proto/gen/types.ts";
import { type ConfiguredFilter, unpack } from "./decode.ts";
import { matchesMetadata, NotJudged } from "./matchers.ts";
import { type JudgedTraffic, matchingRule } from "./rbac.ts";
import { carriesToken } from "./tokens.ts";

const RBAC_TYPES = ["envoy.extensions.filters.http.rbac.v3.RBAC", "envoy.extensions.filters.network.rbac.v3.RBAC"];
const EXT_AUTHZ_TYPES = [
  "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
  "envoy.extensions.filters.network.ext_authz.v3.ExtAuthz",
];

/** Whether a filter of that type judges. */
export function isJudging(type: string): boolean {
  return RBAC_TYPES.includes(type) || EXT_AUTHZ_TYPES.includes(type);
}

type RuleNotes = Record<string, Record<string, unknown>>;

/**
 * The reason why filters end the request or connection; undefined: they let it pass. The answer of an authorizer is not
 * judged, nor a token that the request carries, where its claims are not given as metadata. Without a token there are
 * no claims.
 */
export function refusal(filters: readonly ConfiguredFilter[], traffic: JudgedTraffic): string | undefined {
  const { connection, http } = traffic;
  if (connection.metadata === undefined && http && filters.some((one) => carriesToken(one.typed_config, http))) {
    throw new NotJudged("whether the request's token is accepted, and what it claims");
  }
  const notes: RuleNotes = {};
  for (const filter of filters) {
    const rules = unpackOne<envoy.extensions.filters.http.rbac.v3.RBAC>(filter, RBAC_TYPES);
    const why = rules && byRules(rules, traffic, notes[filter.name ?? ""] ??= {});
    if (why !== undefined) return filter.config_discovery ? `what stands in for ${filter.name} denies it` : why;
    const authorizer = unpackOne<envoy.extensions.filters.http.ext_authz.v3.ExtAuthz>(filter, EXT_AUTHZ_TYPES);
    if (authorizer && isAsked(authorizer, notes)) {
      throw new NotJudged("what the external authorizer says, which a CUSTOM policy asks");
    }
  }
  return undefined;
}

function unpackOne<T>({ typed_config }: ConfiguredFilter, types: readonly string[]): T | undefined {
  for (const type of types) {
    const found = unpack<T>(typed_config, type);
    if (found) return found;
  }
  return undefined;
}

const ALLOW = 0;
const DENY = 1;

function byRules(
  { rules, shadow_rules, shadow_rules_stat_prefix = "", matcher }: envoy.extensions.filters.http.rbac.v3.RBAC,
  traffic: JudgedTraffic,
  notes: Record<string, unknown>,
): string | undefined {
  if (matcher) throw new NotJudged("a matcher tree of rules");
  // Only what an authorizer is asked about depends on it: dry runs are not worth an unknown end.
  if (shadow_rules && shadow_rules_stat_prefix.startsWith("istio_ext_authz_")) {
    notes[`${shadow_rules_stat_prefix}shadow_effective_policy_id`] = matchingRule(shadow_rules, traffic);
  }
  if (!rules) return undefined;
  const action = rules.action ?? ALLOW;
  if (action === DENY) {
    const found = matchingRule(rules, traffic);
    return found === undefined ? undefined : `denied by ${ruleText(found)}`;
  }
  if (action !== ALLOW || matchingRule(rules, traffic) !== undefined) return undefined;
  const names = [
    ...new Set(Object.keys(rules.policies ?? {}).map((name) => ruleText(name).replace(/ rules\[\d+\]$/, ""))),
  ];
  return `not admitted by any rule of ${names.join(", ") || "an ALLOW policy"}`;
}

function isAsked(
  { filter_enabled_metadata }: envoy.extensions.filters.http.ext_authz.v3.ExtAuthz,
  notes: RuleNotes,
): boolean {
  return filter_enabled_metadata === undefined || matchesMetadata(filter_enabled_metadata, { metadata: notes });
}
