/**
 * The caller in authorization rules: `from.source`, and conditions about the caller.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { AuthorizationCondition, AuthorizationSource } from "../../config/kinds/authorization_policy/schema.ts";
import { withTrustDomains } from "../../config/mesh/trust_domains.ts";
import { breaksLines } from "../../config/validation/values.ts";
import { PEER_PRINCIPAL } from "../hbone/names.ts";
import { cidrRange, networkRange } from "../listener/address.ts";
import { claimMatcher, claimPath, requestPrincipalMatchers } from "./claims.ts";
import { type Attribute, type Condition, condition, type Connectives, type RuleSite } from "./condition.ts";
import { identityMatcher, namespaceMatcher, serviceAccountMatcher, textMatcher } from "./values.ts";

type Principal = envoy.config.rbac.v3.Principal;
type PrincipalAttribute = Attribute<Principal>;

/** How principals are put together. */
export const PRINCIPALS: Connectives<Principal> = {
  all: (ids) => ({ and_ids: { ids } }),
  any: (ids) => ({ or_ids: { ids } }),
  not: (not_id) => ({ not_id }),
  always: { any: true },
};

const identity: PrincipalAttribute = {
  matcher: (value, place) => {
    const ids = withTrustDomains(value, place.mesh).map((one) => authenticated(identityMatcher(one), place));
    return ids.length === 1 ? ids[0] : PRINCIPALS.any(ids);
  },
};
const namespace: PrincipalAttribute = { matcher: (value, place) => authenticated(namespaceMatcher(value), place) };
const serviceAccount: PrincipalAttribute = {
  matcher: (value, place) => authenticated(serviceAccountMatcher(value, place.namespace), place),
};
const sourceIp: PrincipalAttribute = { matcher: (value, place) => ip(directAddress(place), value) };
const remoteIp: PrincipalAttribute = { proxyOnly: true, matcher: (value) => ip("remote_ip", value) };
const requestPrincipal: PrincipalAttribute = {
  httpOnly: true,
  proxyOnly: true,
  matcher: (value) => PRINCIPALS.all(requestPrincipalMatchers(value).map((metadata) => ({ metadata }))),
};

/** Attributes with a fixed name. */
const ATTRIBUTES: Readonly<Record<string, PrincipalAttribute>> = {
  "source.principal": identity,
  "source.namespace": namespace,
  "source.serviceAccount": serviceAccount,
  "source.ip": sourceIp,
  "remote.ip": remoteIp,
  "request.auth.principal": requestPrincipal,
  "request.auth.audiences": claim(["aud"]),
  "request.auth.presenter": claim(["azp"]),
};

/** The conditions of a source. */
export function sourceConditions(source: AuthorizationSource): Condition<Principal>[] {
  return [
    ...condition("principals", identity, source.principals, source.notPrincipals),
    ...condition("requestPrincipals", requestPrincipal, source.requestPrincipals, source.notRequestPrincipals),
    ...condition("namespaces", namespace, source.namespaces, source.notNamespaces),
    ...condition("serviceAccounts", serviceAccount, source.serviceAccounts, source.notServiceAccounts),
    ...condition("ipBlocks", sourceIp, source.ipBlocks, source.notIpBlocks),
    ...condition("remoteIpBlocks", remoteIp, source.remoteIpBlocks, source.notRemoteIpBlocks),
  ];
}

/** The attribute of a condition. Undefined when the condition is not about the caller. */
export function principalAttribute({ key }: Pick<AuthorizationCondition, "key">): PrincipalAttribute | undefined {
  if (Object.hasOwn(ATTRIBUTES, key)) return ATTRIBUTES[key];
  if (key.startsWith("request.headers[")) return header(key.slice("request.headers[".length, -1));
  return key.startsWith("request.auth.claims[") ? claim(claimPath(key)) : undefined;
}

function authenticated(principal_name: envoy.type.matcher.v3.StringMatcher, { hbone }: RuleSite): Principal {
  return hbone
    ? { filter_state: { key: PEER_PRINCIPAL, string_match: principal_name } }
    : { authenticated: { principal_name } };
}

type AddressField = "direct_remote_ip" | "remote_ip" | "source_ip";

/**
 * The field with the client's address that no header can change. On an internal listener the direct address belongs to
 * the listener, so the field with the restored address is used. Envoy calls that field deprecated, but its replacement
 * is still work in progress.
 */
function directAddress({ hbone, http }: RuleSite): AddressField {
  if (!hbone) return "direct_remote_ip";
  return http ? "source_ip" : "remote_ip";
}

function ip(field: AddressField, value: string): Principal | undefined {
  const range = networkRange(value);
  return range === undefined ? undefined : { [field]: cidrRange(range) };
}

function header(name: string): PrincipalAttribute {
  const matcher = (value: string, { library }: RuleSite): Principal | undefined => {
    if (name === "" || breaksLines(name) || library && isHidden(name)) return undefined;
    return { header: value === "*" ? { name, present_match: true } : { name, string_match: textMatcher(value) } };
  };
  return { httpOnly: true, matcher };
}

/**
 * Headers that gRPC libraries do not compare. Libraries refuse a configuration with such a header (gRFC A41), or never
 * find the header.
 */
export function isHidden(header: string): boolean {
  return /^(?:grpc-.*|:scheme|host|.*-bin)$/i.test(header);
}

/** @param path Undefined when Envoy would refuse the path. */
function claim(path: readonly string[] | undefined): PrincipalAttribute {
  return {
    httpOnly: true,
    proxyOnly: true,
    matcher: (value) => path && { metadata: claimMatcher(path, textMatcher(value)) },
  };
}
