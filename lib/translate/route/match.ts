/**
 * Match conditions of an http rule as a route match.
 *
 * @module
 */
import type { HttpMatchRequest, StringMatch } from "../../config/kinds/kinds.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { JWT_FILTER, JWT_PAYLOAD_KEY } from "../filters/http/jwt_payload.ts";
import { regexMatcher } from "../values/regex.ts";
import { stringMatcher } from "../values/string_matcher.ts";

type RouteMatch = envoy.config.route.v3.RouteMatch;
type HeaderMatcher = envoy.config.route.v3.HeaderMatcher;
type QueryMatcher = envoy.config.route.v3.QueryParameterMatcher;
type MetadataMatcher = envoy.type.matcher.v3.MetadataMatcher;

const CLAIMS = "@request.auth.claims";

/**
 * The route match of a `match` entry. Conditions on source, port and gateway are not included, because they are decided
 * while the route is built.
 *
 * @param match Absent: everything.
 * @param segmentPrefixes Whether path prefixes end at a segment. Default: anywhere.
 */
export function routeMatch(match?: HttpMatchRequest, segmentPrefixes = false): RouteMatch {
  const out: RouteMatch = segmentPrefixes ? segments(match?.uri) ?? path(match?.uri) : path(match?.uri);
  if (!match) return out;
  if (match.ignoreUriCase) out.case_sensitive = { value: false };
  const headers: HeaderMatcher[] = [];
  const claims: MetadataMatcher[] = [];
  for (const [name, value] of byName(match.headers)) {
    const claim = claimPath(name);
    if (claim) claims.push(claimMatcher(claim, value));
    else headers.push(headerMatcher(name, value));
  }
  for (const [name, value] of byName(match.withoutHeaders)) {
    const claim = claimPath(name);
    if (claim) claims.push({ ...claimMatcher(claim, value), invert: true });
    else headers.push(absentMatcher(name, value));
  }
  headers.sort((a, b) => a.name! < b.name! ? -1 : a.name! > b.name! ? 1 : 0);
  for (const field of ["method", "authority", "scheme"] as const) {
    const value = match[field];
    if (value) headers.push(headerMatcher(`:${field}`, value));
  }
  if (headers.length) out.headers = headers;
  if (claims.length) out.dynamic_metadata = claims;
  const query = byName(match.queryParams).map(([name, value]) => queryMatcher(name, value));
  if (query.length) out.query_parameters = query;
  return out;
}

/** Whether a match takes every request, so later routes are never reached. */
export function matchesAll(match: RouteMatch): boolean {
  const anyPath = match.prefix === "/" || match.path_separated_prefix === "/" || match.safe_regex?.regex === ".*";
  return anyPath && !match.headers?.length && !match.query_parameters?.length && !match.dynamic_metadata?.length;
}

function path(uri: StringMatch | undefined): RouteMatch {
  if (uri?.exact !== undefined) return { path: uri.exact };
  if (uri?.regex !== undefined) return { safe_regex: regexMatcher(uri.regex) };
  return { prefix: uri?.prefix ?? "/" };
}

/** A prefix of whole segments that Envoy accepts. Envoy refuses a whole configuration with any other form. */
const SEGMENTS = /^([^?#]+[^?#/])\/*$/;

/** Undefined without a prefix, or for a prefix that Envoy does not accept as segments. */
function segments(uri: StringMatch | undefined): RouteMatch | undefined {
  const prefix = SEGMENTS.exec(uri?.prefix ?? "")?.[1];
  return prefix === undefined ? undefined : { path_separated_prefix: prefix };
}

function headerMatcher(name: string, match: StringMatch): HeaderMatcher {
  const string_match = stringMatcher(match);
  return string_match ? { name, string_match } : { name, present_match: true };
}

/** A missing header counts like a header with another value. */
function absentMatcher(name: string, match: StringMatch): HeaderMatcher {
  const matcher = headerMatcher(name, match);
  return { ...matcher, invert_match: true, ...(matcher.string_match ? { treat_missing_header_as_empty: true } : {}) };
}

function queryMatcher(name: string, match: StringMatch): QueryMatcher {
  const string_match = stringMatcher(match);
  return string_match ? { name, string_match } : { name, present_match: true };
}

/** `@request.auth.claims.a.b` and `@request.auth.claims[a][b]` name the claim a.b of a verified token. */
function claimPath(name: string): string[] | undefined {
  if (!name.toLowerCase().startsWith(CLAIMS)) return undefined;
  const rest = name.slice(CLAIMS.length);
  if (rest.startsWith(".") && rest.length > 1) return rest.slice(1).split(".");
  if (rest.startsWith("[") && rest.endsWith("]") && rest.length > 2) return rest.slice(1, -1).split("][");
  return undefined;
}

/** A claim is a string or a list of strings. The string, or an item of the list, must match. */
function claimMatcher(claim: readonly string[], match: StringMatch): MetadataMatcher {
  const string = stringMatcher(match);
  const one = string ? { string_match: string } : { present_match: true };
  return {
    filter: JWT_FILTER,
    path: [JWT_PAYLOAD_KEY, ...claim].map((key) => ({ key })),
    value: string ? { or_match: { value_matchers: [one, { list_match: { one_of: one } }] } } : one,
  };
}

function byName(map: Readonly<Record<string, StringMatch>> | undefined): [string, StringMatch][] {
  return Object.entries(map ?? {}).sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
}
