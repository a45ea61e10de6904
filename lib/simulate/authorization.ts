/**
 * Whether filters let a request or connection pass: filters with rules, and filters that ask an authorizer.
 *
 * @module
 */
import type { envoy, google } from "../../proto/gen/types.ts";
import { type ConfiguredFilter, unpack } from "./decode.ts";
import { type NormalizedRequest, valuesOf } from "./http_request.ts";
import { matchesMetadata, NotJudged } from "./matchers.ts";
import { type JudgedTraffic, matchingRule } from "./rbac.ts";

type JwtProvider = envoy.extensions.filters.http.jwt_authn.v3.JwtProvider;

const TYPE = "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication";

/**
 * Whether the request has anything in the places where the filter of this configuration looks for a token. False for
 * other filters.
 */
function carriesToken(config: google.protobuf.Any | undefined, request: NormalizedRequest): boolean {
  const filter = unpack<envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication>(config, TYPE);
  return Object.values(filter?.providers ?? {}).some((provider) => hasToken(provider, request));
}

/** The places for a provider without places of its own. */
const USUAL = { headers: [{ name: "authorization", value_prefix: "Bearer " }], params: ["access_token"], cookies: [] };

function hasToken({ from_headers, from_params, from_cookies }: JwtProvider, request: NormalizedRequest): boolean {
  const own = { headers: from_headers ?? [], params: from_params ?? [], cookies: from_cookies ?? [] };
  const named = own.headers.length + own.params.length + own.cookies.length > 0;
  const { headers, params, cookies } = named ? own : USUAL;
  const given = new URLSearchParams(request.path.split("?")[1] ?? "");
  const baked = valuesOf(request, "cookie").flatMap((one) => one.split(";").map((pair) => pair.split("=")[0]!.trim()));
  const carries = (name: string, prefix: string) => valuesOf(request, name).some((value) => value.includes(prefix));
  return headers.some(({ name = "", value_prefix = "" }) => carries(name, value_prefix)) ||
    params.some((name) => given.has(name)) || cookies.some((name) => baked.includes(name));
}

/** `ns[shop]-policy[cart]-rule[0]`, with the texts before and after it for external authorizers. */
const RULE = /^ns\[([^\]]*)\]-policy\[([^\]]*)\]-rule\[(\d+)\]$/;
const BEFORE = "istio-ext-authz-";
const BEHIND = "-deny-due-to-bad-CUSTOM-action";

/**
 * A rule in the words of configuration: `AuthorizationPolicy shop/cart rules[0]`. A name of another form stays
 * unchanged.
 */
function ruleText(name: string): string {
  const from = name.startsWith(BEFORE) ? BEFORE.length : 0;
  const found = RULE.exec(name.slice(from, name.endsWith(BEHIND) ? -BEHIND.length : undefined));
  return found ? `AuthorizationPolicy ${found[1]}/${found[2]} rules[${found[3]}]` : `rule ${JSON.stringify(name)}`;
}

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
 * The reason why filters end the request or connection; undefined: the request or connection may pass.
 *
 * The answer of an authorizer is not judged. A token in the request is not judged either, unless its claims are given
 * as metadata. Without a token there are no claims.
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

/**
 * What policies on trial would do if they were in force: `would refuse: denied by AuthorizationPolicy shop/cart
 * rules[0]`; empty: they would let the request or connection pass. Only for traffic that passes without these policies.
 */
export function refusalsOnTrial(filters: readonly ConfiguredFilter[], traffic: JudgedTraffic): string[] {
  return filters.flatMap((filter) => {
    const rules = unpackOne<envoy.extensions.filters.http.rbac.v3.RBAC>(filter, RBAC_TYPES);
    const { shadow_rules: tried, shadow_rules_stat_prefix = "" } = rules ?? {};
    if (tried === undefined || shadow_rules_stat_prefix.startsWith(AUTHORIZER_NOTES)) return [];
    // The traffic matches a rule of the ALLOW policies in force, and one such rule is enough.
    if (rules?.rules !== undefined && (tried.action ?? ALLOW) === ALLOW) return [];
    try {
      const why = refusalBy(tried, traffic);
      return why === undefined ? [] : [`would refuse: ${why}`];
    } catch (error) {
      if (!(error instanceof NotJudged)) throw error;
      return [`not judged: ${error.message}`];
    }
  });
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
/** Beginning of the names of notes that only an external authorizer's filter reads. */
const AUTHORIZER_NOTES = "istio_ext_authz_";

function byRules(
  { rules, shadow_rules, shadow_rules_stat_prefix = "", matcher }: envoy.extensions.filters.http.rbac.v3.RBAC,
  traffic: JudgedTraffic,
  notes: Record<string, unknown>,
): string | undefined {
  if (matcher) throw new NotJudged("a matcher tree of rules");
  // Only the question to an authorizer depends on this result. An error in a dry run is not worth an unknown outcome.
  if (shadow_rules && shadow_rules_stat_prefix.startsWith(AUTHORIZER_NOTES)) {
    notes[`${shadow_rules_stat_prefix}shadow_effective_policy_id`] = matchingRule(shadow_rules, traffic);
  }
  return rules && refusalBy(rules, traffic);
}

/** The reason why rules refuse; undefined: the rules let the request or connection pass. */
function refusalBy(rules: envoy.config.rbac.v3.RBAC, traffic: JudgedTraffic): string | undefined {
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
