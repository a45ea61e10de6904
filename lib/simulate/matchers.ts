/**
 * Matchers of strings, headers, query parameters and request metadata.
 *
 * @module
 */
import { compileBounded } from "../config/validation/regex.ts";
import type { envoy } from "../../proto/gen/types.ts";
import { MANAGED_HEADERS } from "./header_values.ts";
import { type NormalizedRequest, valuesOf } from "./http_request.ts";

type StringMatcher = envoy.type.matcher.v3.StringMatcher;
type ValueMatcher = envoy.type.matcher.v3.ValueMatcher;

/** The configuration needs a judgement that the simulator does not make. Ends a simulation as unknown. */
export class NotJudged extends Error {}

/** Whether the whole text matches an RE2 expression. */
export function matchesRegex(regex: string, text: string): boolean {
  try {
    return compileBounded(regex).matches(text);
  } catch (error) {
    throw new NotJudged(
      `the regular expression ${JSON.stringify(regex)} does not compile: ${(error as Error).message}`,
    );
  }
}

/** Whether a text matches. */
export function matchesString(matcher: StringMatcher, text: string): boolean {
  if (matcher.safe_regex) return matchesRegex(matcher.safe_regex.regex ?? "", text);
  const fold = (value: string) => matcher.ignore_case ? value.toLowerCase() : value;
  const value = fold(text);
  if (matcher.exact !== undefined) return value === fold(matcher.exact);
  if (matcher.prefix !== undefined) return value.startsWith(fold(matcher.prefix));
  if (matcher.suffix !== undefined) return value.endsWith(fold(matcher.suffix));
  if (matcher.contains !== undefined) return value.includes(fold(matcher.contains));
  throw new NotJudged("a custom string matcher");
}

/**
 * Whether a request's header matches. Each value of a repeated header is compared. A single matching value is enough;
 * an inverted matcher needs no value to match. A missing header matches only a condition on absence, unless the matcher
 * treats missing as empty. So "another value" does not match a missing header.
 */
export function matchesHeader(matcher: envoy.config.route.v3.HeaderMatcher, request: NormalizedRequest): boolean {
  const found = valuesOf(request, matcher.name ?? "");
  if (found.length > 0 && MANAGED_HEADERS.has(matcher.name?.toLowerCase() ?? "")) {
    throw new NotJudged(`what the connection manager leaves of the header ${matcher.name}, which a condition asks`);
  }
  const values = found.length === 0 && matcher.treat_missing_header_as_empty ? [""] : found;
  const inverted = matcher.invert_match === true;
  const isThere = values.length > 0;
  if (matcher.present_match !== undefined) return (isThere === matcher.present_match) !== inverted;
  const compare = comparison(matcher);
  if (compare === undefined) return isThere !== inverted;
  return isThere && values.some(compare) !== inverted;
}

function comparison(matcher: envoy.config.route.v3.HeaderMatcher): ((value: string) => boolean) | undefined {
  const { string_match, exact_match, prefix_match, suffix_match, contains_match, safe_regex_match, range_match } =
    matcher;
  if (string_match) return (value) => matchesString(string_match, value);
  if (exact_match !== undefined) return (value) => value === exact_match;
  if (prefix_match !== undefined) return (value) => value.startsWith(prefix_match);
  if (suffix_match !== undefined) return (value) => value.endsWith(suffix_match);
  if (contains_match !== undefined) return (value) => value.includes(contains_match);
  if (safe_regex_match) return (value) => matchesRegex(safe_regex_match.regex ?? "", value);
  if (range_match) {
    const { start = 0, end = 0 } = range_match;
    return (value) => /^-?\d+$/.test(value) && Number(value) >= start && Number(value) < end;
  }
  return undefined;
}

/** Whether a request's query matches. Values are compared as written, without decoding. */
export function matchesQuery(matcher: envoy.config.route.v3.QueryParameterMatcher, path: string): boolean {
  const value = queryOf(path).get(matcher.name ?? "");
  if (matcher.string_match) return value !== undefined && matchesString(matcher.string_match, value);
  return (value !== undefined) === (matcher.present_match ?? true);
}

/** The first value of each parameter of a path's query. */
export function queryOf(path: string): Map<string, string> {
  const out = new Map<string, string>();
  const start = path.indexOf("?");
  if (start < 0) return out;
  for (const pair of path.slice(start + 1).split("#")[0]!.split("&")) {
    const equals = pair.indexOf("=");
    const name = equals < 0 ? pair : pair.slice(0, equals);
    if (name !== "" && !out.has(name)) out.set(name, equals < 0 ? "" : pair.slice(equals + 1));
  }
  return out;
}

/** Whether a value in the request's metadata matches. */
export function matchesMetadata(
  matcher: envoy.type.matcher.v3.MetadataMatcher,
  request: Pick<NormalizedRequest, "metadata">,
): boolean {
  let value: unknown = request.metadata[matcher.filter ?? ""];
  for (const { key } of matcher.path ?? []) {
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key ?? ""] : undefined;
  }
  return matchesValue(matcher.value ?? {}, value) !== (matcher.invert === true);
}

function matchesValue(matcher: ValueMatcher, value: unknown): boolean {
  const { string_match, bool_match, present_match, list_match, or_match, null_match } = matcher;
  if (string_match) return typeof value === "string" && matchesString(string_match, value);
  if (bool_match !== undefined) return value === bool_match;
  if (present_match !== undefined) return (value !== undefined) === present_match;
  if (null_match) return value === null;
  if (or_match) return (or_match.value_matchers ?? []).some((one) => matchesValue(one, value));
  if (list_match) {
    const { one_of } = list_match;
    return Array.isArray(value) && one_of !== undefined && value.some((item) => matchesValue(one_of, item));
  }
  throw new NotJudged("a numeric metadata matcher");
}
