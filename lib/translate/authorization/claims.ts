/**
 * Claims of verified tokens in authorization rules, as request metadata holds them.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { JWT_FILTER, JWT_PAYLOAD_KEY } from "../filters/http/jwt_payload.ts";
import { ANY_TEXT, textMatcher } from "./values.ts";

type MetadataMatcher = envoy.type.matcher.v3.MetadataMatcher;
type StringMatcher = envoy.type.matcher.v3.StringMatcher;

/** The claims in a key such as `request.auth.claims[a][b]`. Undefined when a claim has no name. */
export function claimPath(key: string): readonly string[] | undefined {
  const inside = key.slice(key.indexOf("[") + 1, -1);
  // A name may hold brackets that are part of the name.
  const path = /^[^[\]]*(?:\]\[[^[\]]*)*$/.test(inside) ? inside.split("][") : [inside];
  return path.includes("") ? undefined : path;
}

/** A claim that equals the text, or a list that holds the text. */
export function claimMatcher(path: readonly string[], text: StringMatcher): MetadataMatcher {
  const string_match = { string_match: text };
  return inClaims(path, { or_match: { value_matchers: [{ list_match: { one_of: string_match } }, string_match] } });
}

/**
 * Matchers of issuer and subject for `ISSUER/SUBJECT`. The issuer may hold slashes. A wildcard may stand for either
 * part.
 */
export function requestPrincipalMatchers(value: string): MetadataMatcher[] {
  const [issuer, subject] = issuerAndSubject(value);
  return [inClaims(["iss"], { string_match: issuer }), inClaims(["sub"], { string_match: subject })];
}

function issuerAndSubject(value: string): readonly [StringMatcher, StringMatcher] {
  const slash = value.lastIndexOf("/");
  if (slash < 0) {
    if (value === "*") return [ANY_TEXT, ANY_TEXT];
    if (value.startsWith("*")) return [ANY_TEXT, textMatcher(value)];
    return [textMatcher(value), value.endsWith("*") ? ANY_TEXT : { exact: "" }];
  }
  const [issuer, subject] = [value.slice(0, slash), value.slice(slash + 1)];
  // A value has at most one wildcard, at the beginning or at the end.
  if (value.startsWith("*")) return [textMatcher(issuer), { exact: subject }];
  return [{ exact: issuer }, textMatcher(subject)];
}

function inClaims(path: readonly string[], value: envoy.type.matcher.v3.ValueMatcher): MetadataMatcher {
  return { filter: JWT_FILTER, path: [JWT_PAYLOAD_KEY, ...path].map((key) => ({ key })), value };
}
