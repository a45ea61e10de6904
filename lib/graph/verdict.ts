/**
 * What the authorization policies of a workload say about a caller.
 *
 *     DENY matches     ─> denied
 *     CUSTOM matches   ─> an authorizer decides: conditional
 *     no ALLOW policy  ─> allowed
 *     ALLOW matches    ─> allowed, else denied
 *
 * A rule about requests (paths, headers, tokens, addresses) matches some requests of a caller: the verdict is then
 * conditional, with the names of the rule's attributes. A policy on trial decides nothing.
 *
 * @module
 */
import { isDryRun } from "../config/kinds/authorization_policy/dry_run.ts";
import type { AuthorizationRule, AuthorizationSource } from "../config/kinds/authorization_policy/schema.ts";
import type { MeshTrustDomains } from "../config/mesh/trust_domains.ts";
import type { AuthorizationPolicy } from "../mesh/authorization_policy.ts";
import {
  ALWAYS,
  type CallerMatch,
  callerName,
  type CallerProperty,
  type GraphCaller,
  matchValues,
  namedCaller,
  NEVER,
  type RuleSurroundings,
  SOMETIMES,
} from "./caller.ts";

/** A judgement about all requests of a caller. */
export interface CallVerdict {
  /** `conditional`: some requests are allowed, or a condition outside the configuration decides. */
  readonly result: "allowed" | "conditional" | "denied";
  /** What decides about single requests: attributes of rules, authorizers. Sorted. */
  readonly conditions: readonly string[];
  /** Keys of the deciding policies. */
  readonly causes: readonly string[];
}

/** The surroundings of policies. */
export type PolicySurroundings = Omit<RuleSurroundings, "namespace">;

/** The properties of callers with the two fields of a source. */
const SOURCES: readonly (readonly [CallerProperty, keyof AuthorizationSource, keyof AuthorizationSource])[] = [
  ["principal", "principals", "notPrincipals"],
  ["namespace", "namespaces", "notNamespaces"],
  ["serviceAccount", "serviceAccounts", "notServiceAccounts"],
];

/** Fields of a source that depend on the request or the connection. */
const REQUEST_SOURCES = [
  ...["requestPrincipals", "notRequestPrincipals", "ipBlocks", "notIpBlocks"],
  ...["remoteIpBlocks", "notRemoteIpBlocks"],
] as const;

/** Attributes of conditions that are properties of callers. */
const CONDITIONS: Readonly<Record<string, CallerProperty>> = {
  "source.principal": "principal",
  "source.namespace": "namespace",
  "source.serviceAccount": "serviceAccount",
};

/** Judges a caller. */
export function judge(
  policies: readonly AuthorizationPolicy[],
  caller: GraphCaller,
  around: PolicySurroundings,
): CallVerdict {
  const found = enforced(policies).map((policy) => ({ policy, ...matchPolicy(policy, caller, around) }));
  const ofAction = (action: string) => found.filter(({ policy }) => policy.spec.action === action);
  const denying = ofAction("DENY").filter(({ match }) => match !== NEVER);
  const sure = denying.filter(({ match }) => match === ALWAYS);
  if (sure.length > 0) return { result: "denied", conditions: [], causes: sure.map(({ policy }) => policy.key) };
  const asking = ofAction("CUSTOM").filter(({ match }) => match !== NEVER).map((one) => ({
    ...one,
    attributes: [...one.attributes, `authorizer ${one.policy.spec.provider?.name ?? ""}`.trim()],
  }));
  const allowing = ofAction("ALLOW");
  const matching = allowing.filter(({ match }) => match !== NEVER);
  if (allowing.length > 0 && matching.length === 0) {
    return { result: "denied", conditions: [], causes: allowing.map(({ policy }) => policy.key) };
  }
  const certain = matching.filter(({ match }) => match === ALWAYS);
  const deciding = [...denying, ...asking, ...certain.length > 0 ? [] : matching];
  const causes = [...deciding, ...certain].map(({ policy }) => policy.key);
  if (deciding.length === 0) return { result: "allowed", conditions: [], causes };
  const conditions = [...new Set(deciding.flatMap(({ attributes }) => attributes))].sort();
  return { result: "conditional", conditions, causes };
}

/** The callers that the rules of policies name, each once. */
export function namedCallers(policies: readonly AuthorizationPolicy[], mesh: MeshTrustDomains): readonly GraphCaller[] {
  const found = new Map<string, GraphCaller>();
  for (const { meta: { namespace }, spec: { rules = [] } } of enforced(policies)) {
    const home: RuleSurroundings = { namespace, mesh, identity: "maybe" };
    const add = (property: CallerProperty, values: readonly string[] = []) => {
      for (const value of values) {
        const caller = namedCaller(property, value, home);
        if (caller !== undefined) found.set(`${caller.kind} ${callerName(caller)}`, caller);
      }
    };
    for (const { from = [], when = [] } of rules) {
      for (const { source = {} } of from) {
        for (const [property, wanted, refused] of SOURCES) {
          add(property, source[wanted]);
          add(property, source[refused]);
        }
      }
      for (const { key, values, notValues } of when) {
        const property = Object.hasOwn(CONDITIONS, key) ? CONDITIONS[key] : undefined;
        if (property !== undefined) add(property, [...values ?? [], ...notValues ?? []]);
      }
    }
  }
  return [...found.values()];
}

function enforced(policies: readonly AuthorizationPolicy[]): readonly AuthorizationPolicy[] {
  return policies.filter((policy) => policy.spec.action !== "AUDIT" && !isDryRun(policy));
}

interface PolicyMatch {
  readonly match: CallerMatch;
  /** The attributes that decide about single requests. */
  readonly attributes: readonly string[];
}

function matchPolicy(
  { meta: { namespace }, spec: { rules = [] } }: AuthorizationPolicy,
  caller: GraphCaller,
  around: PolicySurroundings,
): PolicyMatch {
  const matches = rules.map((rule) => matchRule(rule, caller, { ...around, namespace }));
  const match = Math.max(NEVER, ...matches.map((one) => one.match)) as CallerMatch;
  return {
    match,
    attributes: matches.filter((one) => one.match === SOMETIMES).flatMap(({ attributes }) => attributes),
  };
}

function matchRule(
  { from, to, when = [] }: AuthorizationRule,
  caller: GraphCaller,
  home: RuleSurroundings,
): PolicyMatch {
  const sources = from?.map(({ source = {} }) => matchSource(source, caller, home));
  const parts: PolicyMatch[] = [];
  if (sources !== undefined) {
    const match = Math.max(NEVER, ...sources.map((one) => one.match)) as CallerMatch;
    parts.push({ match, attributes: sources.filter((one) => one.match === match).flatMap((one) => one.attributes) });
  }
  const operations = to?.flatMap(({ operation = {} }) => Object.keys(operation)) ?? [];
  if (operations.length > 0) parts.push({ match: SOMETIMES, attributes: operations });
  for (const { key, values, notValues } of when) {
    const property = Object.hasOwn(CONDITIONS, key) ? CONDITIONS[key] : undefined;
    parts.push(
      property === undefined
        ? { match: SOMETIMES, attributes: [key] }
        : withBoth(property, values, notValues, caller, home),
    );
  }
  return allOf(parts);
}

function matchSource(source: AuthorizationSource, caller: GraphCaller, home: RuleSurroundings): PolicyMatch {
  const parts = SOURCES.map(([property, wanted, refused]) =>
    withBoth(property, source[wanted], source[refused], caller, home)
  );
  const others = REQUEST_SOURCES.filter((field) => source[field] !== undefined);
  if (others.length > 0) parts.push({ match: SOMETIMES, attributes: others });
  return allOf(parts);
}

function withBoth(
  property: CallerProperty,
  wanted: readonly string[] | undefined,
  refused: readonly string[] | undefined,
  caller: GraphCaller,
  home: RuleSurroundings,
): PolicyMatch {
  const yes = wanted === undefined ? ALWAYS : matchValues(property, wanted, caller, home);
  const no = refused === undefined ? NEVER : matchValues(property, refused, caller, home);
  const match = Math.min(yes, ALWAYS - no) as CallerMatch;
  return { match, attributes: match === SOMETIMES ? ["identity of the caller"] : [] };
}

function allOf(parts: readonly PolicyMatch[]): PolicyMatch {
  const match = Math.min(ALWAYS, ...parts.map((one) => one.match)) as CallerMatch;
  return { match, attributes: parts.filter((one) => one.match === SOMETIMES).flatMap(({ attributes }) => attributes) };
}
