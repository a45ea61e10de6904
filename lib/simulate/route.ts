/**
 * Which route of a virtual host takes a request.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { headerOf, type NormalizedRequest, pathAlone } from "./http_request.ts";
import { isFalse } from "./decode.ts";
import { matchesHeader, matchesMetadata, matchesQuery, matchesRegex, NotJudged } from "./matchers.ts";

type Route = envoy.config.route.v3.Route;
type RouteMatch = envoy.config.route.v3.RouteMatch;

/** The route that was chosen. */
export interface ChosenRoute {
  readonly route: Route;
  readonly index: number;
  /** Below 1 when only a share of the requests takes it. */
  readonly share: number;
}

/** Numerators of a whole, by the value of `denominator`. */
const DENOMINATORS = [100, 10_000, 1_000_000] as const;

/** The first route that matches. A route that takes only a share of the requests counts as taking this one. */
export function chooseRoute(routes: readonly Route[], request: NormalizedRequest): ChosenRoute | undefined {
  for (const [index, route] of routes.entries()) {
    const share = shareOf(route.match);
    if (share > 0 && matchesRoute(route.match ?? {}, request)) return { route, index, share };
  }
  return undefined;
}

/** Whether all conditions of a match hold. */
export function matchesRoute(match: RouteMatch, request: NormalizedRequest): boolean {
  if (match.tls_context) throw new NotJudged("a match on the client certificate");
  return matchesPath(match, request) &&
    (match.headers ?? []).every((matcher) => matchesHeader(matcher, request)) &&
    (match.query_parameters ?? []).every((matcher) => matchesQuery(matcher, request.path)) &&
    (match.dynamic_metadata ?? []).every((matcher) => matchesMetadata(matcher, request)) &&
    (!match.grpc || /^application\/grpc([+;]|$)/.test(headerOf(request, "content-type") ?? ""));
}

function matchesPath(match: RouteMatch, request: NormalizedRequest): boolean {
  const fold = (value: string) => isFalse(match.case_sensitive) ? value.toLowerCase() : value;
  const path = pathAlone(request.path);
  if (match.prefix !== undefined) return fold(path).startsWith(fold(match.prefix));
  if (match.path !== undefined) return fold(path) === fold(match.path);
  if (match.safe_regex) return matchesRegex(match.safe_regex.regex ?? "", path);
  if (match.path_separated_prefix !== undefined) {
    const prefix = fold(match.path_separated_prefix);
    return fold(path) === prefix || fold(path).startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`);
  }
  if (match.connect_matcher) return request.method === "CONNECT";
  throw new NotJudged(match.path_match_policy ? "a path match extension" : "a route without a path condition");
}

function shareOf(match: RouteMatch | undefined): number {
  const fraction = match?.runtime_fraction?.default_value;
  if (!fraction) return 1;
  return Math.min(1, (fraction.numerator ?? 0) / DENOMINATORS[fraction.denominator ?? 0]!);
}
