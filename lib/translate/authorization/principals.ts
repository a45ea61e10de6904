/**
 * The caller in authorization rules: `from.source`, and the conditions that are about the caller.
 *
 * @module
 */
import type { AuthorizationCondition, AuthorizationSource } from "../../config/kinds/authorization_policy/types.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { cidrRange, networkRange } from "../listener/address.ts";
import { breaksLines } from "../values/wire_limits.ts";
import { claimMatcher, claimPath, requestPrincipalMatchers } from "./claims.ts";
import { type Attribute, type Condition, condition, type Connectives } from "./condition.ts";
import { withTrustDomains } from "./trust_domains.ts";
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
  matcher: (value, { mesh }) => {
    const ids = withTrustDomains(value, mesh).map((one) => authenticated(identityMatcher(one)));
    return ids.length === 1 ? ids[0] : PRINCIPALS.any(ids);
  },
};
const namespace: PrincipalAttribute = { matcher: (value) => authenticated(namespaceMatcher(value)) };
const serviceAccount: PrincipalAttribute = {
  matcher: (value, place) => authenticated(serviceAccountMatcher(value, place.namespace)),
};
const sourceIp: PrincipalAttribute = { matcher: (value) => ip("direct_remote_ip", value) };
const remoteIp: PrincipalAttribute = { matcher: (value) => ip("remote_ip", value) };
const requestPrincipal: PrincipalAttribute = {
  httpOnly: true,
  matcher: (value) => PRINCIPALS.all(requestPrincipalMatchers(value).map((metadata) => ({ metadata }))),
};

/** Attributes with one name. */
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

/** What a source says. */
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

/** The attribute of a condition; undefined: it is not about the caller. */
export function principalAttribute({ key }: Pick<AuthorizationCondition, "key">): PrincipalAttribute | undefined {
  if (Object.hasOwn(ATTRIBUTES, key)) return ATTRIBUTES[key];
  if (key.startsWith("request.headers[")) return header(key.slice("request.headers[".length, -1));
  return key.startsWith("request.auth.claims[") ? claim(claimPath(key)) : undefined;
}

function authenticated(principal_name: envoy.type.matcher.v3.StringMatcher): Principal {
  return { authenticated: { principal_name } };
}

function ip(field: "direct_remote_ip" | "remote_ip", value: string): Principal | undefined {
  const range = networkRange(value);
  return range === undefined ? undefined : { [field]: cidrRange(range) };
}

function header(name: string): PrincipalAttribute {
  const matcher = (value: string): Principal | undefined => {
    if (name === "" || breaksLines(name)) return undefined;
    return { header: value === "*" ? { name, present_match: true } : { name, string_match: textMatcher(value) } };
  };
  return { httpOnly: true, matcher };
}

/** @param path Undefined: Envoy would refuse it. */
function claim(path: readonly string[] | undefined): PrincipalAttribute {
  return { httpOnly: true, matcher: (value) => path && { metadata: claimMatcher(path, textMatcher(value)) } };
}
