/**
 * Conditions on headers and query parameters in words, and the reason why a request does not meet one.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { type NormalizedRequest, valuesOf } from "./http_request.ts";
import { matchesHeader, matchesQuery, queryOf } from "./matchers.ts";

type HeaderMatcher = envoy.config.route.v3.HeaderMatcher;
type QueryParameterMatcher = envoy.config.route.v3.QueryParameterMatcher;
type StringMatcher = envoy.type.matcher.v3.StringMatcher;

/** Longest quoted value of a request, in characters. */
const SHOWN = 60;

/** Quoted values of a header. */
const MAX_VALUES = 3;

/** Why a request's header does not match; undefined: the header matches. */
export function headerMismatch(matcher: HeaderMatcher, request: NormalizedRequest): string | undefined {
  if (matchesHeader(matcher, request)) return undefined;
  const values = valuesOf(request, matcher.name ?? "");
  const name = shownName(matcher.name ?? "");
  if (values.length === 0) return `${name} missing`;
  const shown = values.slice(0, MAX_VALUES).map(quoted).join(" and ");
  const more = values.length > MAX_VALUES ? ` and ${values.length - MAX_VALUES} more` : "";
  return `${name} is ${shown}${more}, expected ${expectation(matcher)}`;
}

/** A condition on a header, in words. */
export function headerText(matcher: HeaderMatcher): string {
  return `${shownName(matcher.name ?? "")} ${expectation(matcher)}`;
}

/** Why a request's query does not match; undefined: the query matches. */
export function queryMismatch(matcher: QueryParameterMatcher, path: string): string | undefined {
  if (matchesQuery(matcher, path)) return undefined;
  const value = queryOf(path).get(matcher.name ?? "");
  if (value === undefined) return `query ${matcher.name} missing`;
  return `query ${matcher.name} is ${quoted(value)}, expected ${queryExpectation(matcher)}`;
}

/** A condition on a query parameter, in words. */
export function queryText(matcher: QueryParameterMatcher): string {
  return `query ${matcher.name} ${queryExpectation(matcher)}`;
}

/** People do not think of `:method` as a header. */
function shownName(name: string): string {
  return name.startsWith(":") ? name.slice(1) : `header ${name}`;
}

function queryExpectation({ string_match, present_match = true }: QueryParameterMatcher): string {
  if (string_match) return stringText(string_match);
  return present_match ? "any value" : "none";
}

function expectation(matcher: HeaderMatcher): string {
  const inverted = matcher.invert_match === true;
  if (matcher.present_match !== undefined) return matcher.present_match !== inverted ? "any value" : "none";
  const text = valueText(matcher);
  if (text === undefined) return inverted ? "none" : "any value";
  return inverted ? `not ${text}` : text;
}

function valueText(matcher: HeaderMatcher): string | undefined {
  const { string_match, exact_match, prefix_match, suffix_match, contains_match, safe_regex_match, range_match } =
    matcher;
  if (string_match) return stringText(string_match);
  if (exact_match !== undefined) return quoted(exact_match);
  if (prefix_match !== undefined) return `prefix ${quoted(prefix_match)}`;
  if (suffix_match !== undefined) return `suffix ${quoted(suffix_match)}`;
  if (contains_match !== undefined) return `a part ${quoted(contains_match)}`;
  if (safe_regex_match) return `regex ${quoted(safe_regex_match.regex ?? "")}`;
  return range_match && `${range_match.start ?? 0} to below ${range_match.end ?? 0}`;
}

function stringText(matcher: StringMatcher): string {
  if (matcher.exact !== undefined) return quoted(matcher.exact);
  if (matcher.prefix !== undefined) return `prefix ${quoted(matcher.prefix)}`;
  if (matcher.suffix !== undefined) return `suffix ${quoted(matcher.suffix)}`;
  if (matcher.contains !== undefined) return `a part ${quoted(matcher.contains)}`;
  return matcher.safe_regex ? `regex ${quoted(matcher.safe_regex.regex ?? "")}` : "another condition";
}

function quoted(text: string): string {
  return JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text);
}
