/**
 * Conditions of authorization rules: attribute, values, and whether Envoy can express the comparison.
 *
 * @module
 */
import type { MeshTrustDomains } from "../../config/mesh/trust_domains.ts";

/** The place for which a rule is built. */
export interface RuleSite {
  /** Namespace of the policy. */
  readonly namespace: string;
  /** The chain carries requests. False: the chain carries bytes. */
  readonly http: boolean;
  /** A gRPC library compares. The library knows the call's own properties, but no result of other filters. */
  readonly library: boolean;
  /**
   * Connections arrived by HBONE: the connection is from an internal listener, and the client's identity is in filter
   * state.
   */
  readonly hbone: boolean;
  /**
   * A CONNECT is judged, not what it carries: only the client and the port of the CONNECT's address are known. With
   * `http` false.
   */
  readonly connect: boolean;
  /** The proxy's build has the matcher of path templates. */
  readonly pathTemplates: boolean;
  readonly mesh: MeshTrustDomains;
}

/** A property that rules compare. `M` is Envoy's matcher for the property: a principal or a permission. */
export interface Attribute<M> {
  /** Only requests have the attribute. */
  readonly httpOnly?: true;
  /**
   * The attribute comes from other filters, or from properties that gRPC libraries ignore. A library would skip the
   * condition. A CONNECT has the properties of the tunnel, not of the connection inside.
   */
  readonly proxyOnly?: true;
  /** Undefined: Envoy cannot express the value, or would refuse the matcher. */
  readonly matcher: (value: string, place: RuleSite) => M | undefined;
}

/** An attribute with allowed and forbidden values. */
export interface Condition<M> {
  /** The name in the policy: `paths`, `request.headers[name]`. */
  readonly name: string;
  readonly attribute: Attribute<M>;
  readonly values: readonly string[];
  readonly notValues: readonly string[];
}

/** The connectives of one sort of matcher. */
export interface Connectives<M> {
  readonly all: (parts: M[]) => M;
  readonly any: (parts: M[]) => M;
  readonly not: (part: M) => M;
  readonly always: M;
}

/** Several conditions joined by "and", as one matcher. */
export interface Conjunction<M> {
  /** Matches the expressible conditions. */
  readonly matcher: M;
  /** Names of the other conditions. */
  readonly inexpressible: readonly string[];
}

/** The condition for two fields of a rule. Empty when both fields are absent. */
export function condition<M>(
  name: string,
  attribute: Attribute<M>,
  values: readonly string[] = [],
  notValues: readonly string[] = [],
): Condition<M>[] {
  return values.length + notValues.length === 0 ? [] : [{ name, attribute, values, notValues }];
}

/** Joins conditions by "and". */
export function conjunction<M>(
  conditions: readonly Condition<M>[],
  place: RuleSite,
  { all, any, not, always }: Connectives<M>,
): Conjunction<M> {
  const parts: M[] = [];
  const inexpressible: string[] = [];
  for (const { name, attribute, values, notValues } of conditions) {
    // Envoy refuses a listener with text that is not valid UTF-8.
    const isText = [name, ...values, ...notValues].every((text) => text.isWellFormed());
    const found = [values, notValues].map((list) => isText ? matchers(attribute, list, place) : undefined);
    if (found.includes(undefined)) inexpressible.push(name);
    const [wanted = [], refused = []] = found;
    if (wanted.length > 0) parts.push(wanted.length === 1 ? wanted[0]! : any(wanted));
    if (refused.length > 0) parts.push(not(refused.length === 1 ? refused[0]! : any(refused)));
  }
  return { matcher: parts.length === 0 ? always : parts.length === 1 ? parts[0]! : all(parts), inexpressible };
}

/**
 * The matchers of all values. Undefined when a value cannot be expressed, because a list without that value has another
 * meaning.
 */
function matchers<M>(attribute: Attribute<M>, values: readonly string[], place: RuleSite): M[] | undefined {
  if (values.length > 0 && attribute.httpOnly && !place.http) return undefined;
  if (values.length > 0 && attribute.proxyOnly && (place.library || place.connect)) return undefined;
  const found = values.map((value) => attribute.matcher(value, place)).filter((one) => one !== undefined);
  return found.length === values.length ? found : undefined;
}
