/**
 * Callers of services, as far as policies tell them apart, and the comparison of a rule's values with a caller.
 *
 * A policy names identities, namespaces and patterns. Each named caller is judged alone. All callers without a name are
 * judged together, as the other callers: no name of a rule matches them.
 *
 * @module
 */
import { type MeshTrustDomains, withTrustDomains } from "../config/mesh/trust_domains.ts";

/** A caller, or all callers of a sort. */
export type GraphCaller =
  /** The callers of the mesh that no policy names. */
  | { readonly kind: "anyone" }
  /** The callers of a namespace that no policy names more exactly. */
  | { readonly kind: "namespace"; readonly namespace: string }
  | { readonly kind: "identity"; readonly namespace: string; readonly account: string }
  /** A pattern of a rule for identities or namespaces, as written. */
  | { readonly kind: "pattern"; readonly of: "principal" | "namespace"; readonly text: string };

/** How surely something matches, ordered: a conjunction is as sure as its least part. */
export const NEVER = 0;
/** Depends on the request or the connection. */
export const SOMETIMES = 1;
export const ALWAYS = 2;
export type CallerMatch = 0 | 1 | 2;

/** The properties of a caller that rules compare. */
export type CallerProperty = "principal" | "namespace" | "serviceAccount";

/** The surroundings of a rule, as far as the meaning of its values depends on them. */
export interface RuleSurroundings {
  /** Namespace of the policy, for service accounts without a namespace. */
  readonly namespace: string;
  readonly mesh: MeshTrustDomains;
  /** `never`: no caller shows an identity. `maybe`: unnamed callers may come without an identity. */
  readonly identity: "always" | "maybe" | "never";
}

/** A name of a caller, for people and as a key. */
export function callerName(caller: GraphCaller): string {
  switch (caller.kind) {
    case "anyone":
      return "any workload";
    case "namespace":
      return caller.namespace;
    case "identity":
      return `${caller.namespace}/${caller.account}`;
    case "pattern":
      return caller.of === "namespace" ? `namespace ${caller.text}` : caller.text;
  }
}

/** The caller named by a value of a rule. Undefined: the value names all callers with an identity. */
export function namedCaller(property: CallerProperty, value: string, home: RuleSurroundings): GraphCaller | undefined {
  if (value === "*") return undefined;
  if (property === "serviceAccount") {
    const [first = "", second] = value.split("/");
    return second === undefined
      ? { kind: "identity", namespace: home.namespace, account: first }
      : { kind: "identity", namespace: first, account: second };
  }
  if (property === "namespace") {
    return value.includes("*")
      ? { kind: "pattern", of: "namespace", text: value }
      : { kind: "namespace", namespace: value };
  }
  for (const text of withTrustDomains(value, home.mesh)) {
    const [domain, ns, namespace = "", sa, account = "", ...rest] = text.split("/");
    if (domain !== home.mesh.trustDomain || ns !== "ns" || namespace.includes("*") || rest.length > 0) continue;
    if (sa === "sa" && account === "*" || sa === "*" && account === "") return { kind: "namespace", namespace };
    if (sa === "sa" && !account.includes("*")) return { kind: "identity", namespace, account };
  }
  return { kind: "pattern", of: "principal", text: value };
}

/** How surely one of the values matches a property of a caller. */
export function matchValues(
  property: CallerProperty,
  values: readonly string[],
  caller: GraphCaller,
  home: RuleSurroundings,
): CallerMatch {
  if (home.identity === "never") return NEVER;
  let best: CallerMatch = NEVER;
  for (const value of values) best = Math.max(best, matchValue(property, value, caller, home)) as CallerMatch;
  return best;
}

function matchValue(property: CallerProperty, value: string, caller: GraphCaller, home: RuleSurroundings): CallerMatch {
  if (caller.kind === "anyone") return value !== "*" ? NEVER : home.identity === "always" ? ALWAYS : SOMETIMES;
  if (property !== "serviceAccount" && value === "*") return ALWAYS;
  // Some callers under a pattern may also have another property that a rule wants.
  if (caller.kind === "pattern") return caller.of === property ? patternIn(caller.text, value) : SOMETIMES;
  if (property === "namespace") return matchesText(value, caller.namespace) ? ALWAYS : NEVER;
  const named = namedCaller(property, value, home);
  if (named?.kind !== "pattern") {
    return named?.kind === "namespace" && named.namespace === caller.namespace || sameIdentity(named, caller)
      ? ALWAYS
      : NEVER;
  }
  return matchesCaller(named.text, caller, home) ? ALWAYS : NEVER;
}

function sameIdentity(named: GraphCaller | undefined, caller: GraphCaller): boolean {
  return named?.kind === "identity" && caller.kind === "identity" && named.namespace === caller.namespace &&
    named.account === caller.account;
}

/** Whether a pattern of identities matches a caller; for a namespace: all its identities. */
function matchesCaller(
  pattern: string,
  caller: Extract<GraphCaller, { readonly kind: "identity" | "namespace" }>,
  { mesh: { trustDomain } }: RuleSurroundings,
): boolean {
  const start = `${trustDomain}/ns/${caller.namespace}/sa/`;
  if (caller.kind === "identity") return matchesText(pattern, start + caller.account);
  return pattern.endsWith("*") && start.startsWith(pattern.slice(0, -1));
}

/** The wildcards of rules: `*text` is a suffix, `text*` a prefix. */
function matchesText(pattern: string, text: string): boolean {
  if (pattern === "*") return true;
  if (pattern.startsWith("*")) return text.endsWith(pattern.slice(1));
  return pattern.endsWith("*") ? text.startsWith(pattern.slice(0, -1)) : text === pattern;
}

/** How surely a value matches everything under a pattern. */
function patternIn(pattern: string, value: string): CallerMatch {
  if (pattern === value) return ALWAYS;
  const isCovered = value.endsWith("*")
    ? !pattern.startsWith("*") && pattern.startsWith(value.slice(0, -1))
    : value.startsWith("*") && pattern.endsWith(value.slice(1));
  return isCovered ? ALWAYS : NEVER;
}
