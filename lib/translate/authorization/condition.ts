/**
 * Conditions of authorization rules: the attribute, the values compared with it, and whether Envoy can express them.
 *
 * @module
 */
import type { MeshConfig } from "../../config/mesh/types.ts";

/** The place that a rule is built for. */
export interface RuleSite {
  /** Namespace of the policy. */
  readonly namespace: string;
  /** Requests; false: connections that carry bytes. */
  readonly http: boolean;
  /** A gRPC library compares: it knows the properties of a call itself, and none that other filters find out. */
  readonly library: boolean;
  /** They came by HBONE: the connection is that of an internal listener, and its client is in filter state. */
  readonly hbone: boolean;
  /** The proxy's build has the matcher of path templates. */
  readonly pathTemplates: boolean;
  readonly mesh: Pick<MeshConfig, "trustDomain" | "trustDomainAliases">;
}

/** Something that rules compare. `M`: Envoy's matcher of it, a principal or a permission. */
export interface Attribute<M> {
  /** Requests alone have it. */
  readonly httpOnly?: true;
  /** It comes from other filters, or from properties that libraries do not look at: these pass the condition over. */
  readonly proxyOnly?: true;
  /** Undefined: Envoy has no way to say it, or would refuse it. */
  readonly matcher: (value: string, place: RuleSite) => M | undefined;
}

/** One attribute with the values that it must have, and those that it must not have. */
export interface Condition<M> {
  /** As users write it: `paths`, `request.headers[name]`. */
  readonly name: string;
  readonly attribute: Attribute<M>;
  readonly values: readonly string[];
  readonly notValues: readonly string[];
}

/** How matchers of one sort are put together. */
export interface Connectives<M> {
  readonly all: (parts: M[]) => M;
  readonly any: (parts: M[]) => M;
  readonly not: (part: M) => M;
  readonly always: M;
}

/** Conditions that must all hold, as one matcher. */
export interface Conjunction<M> {
  /** Of the conditions that can be expressed. */
  readonly matcher: M;
  /** Names of those that cannot. */
  readonly inexpressible: readonly string[];
}

/** A condition of the fields that users write; undefined when both are absent. */
export function condition<M>(
  name: string,
  attribute: Attribute<M>,
  values: readonly string[] = [],
  notValues: readonly string[] = [],
): Condition<M>[] {
  return values.length + notValues.length === 0 ? [] : [{ name, attribute, values, notValues }];
}

/** Puts conditions together. */
export function conjunction<M>(
  conditions: readonly Condition<M>[],
  place: RuleSite,
  { all, any, not, always }: Connectives<M>,
): Conjunction<M> {
  const parts: M[] = [];
  const inexpressible: string[] = [];
  for (const { name, attribute, values, notValues } of conditions) {
    // Envoy refuses a listener with a text that is no UTF-8.
    const isText = [name, ...values, ...notValues].every((text) => text.isWellFormed());
    const found = [values, notValues].map((list) => isText ? matchers(attribute, list, place) : undefined);
    if (found.includes(undefined)) inexpressible.push(name);
    const [wanted = [], refused = []] = found;
    if (wanted.length > 0) parts.push(wanted.length === 1 ? wanted[0]! : any(wanted));
    if (refused.length > 0) parts.push(not(refused.length === 1 ? refused[0]! : any(refused)));
  }
  return { matcher: parts.length === 0 ? always : parts.length === 1 ? parts[0]! : all(parts), inexpressible };
}

/** Undefined: one of them cannot be expressed, so that the others alone would say something else. */
function matchers<M>(attribute: Attribute<M>, values: readonly string[], place: RuleSite): M[] | undefined {
  if (values.length > 0 && attribute.httpOnly && !place.http) return undefined;
  if (values.length > 0 && attribute.proxyOnly && place.library) return undefined;
  const found = values.map((value) => attribute.matcher(value, place)).filter((one) => one !== undefined);
  return found.length === values.length ? found : undefined;
}
