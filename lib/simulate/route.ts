/**
 * Chooses the route of a virtual host for a request.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { headerOf, type NormalizedRequest, pathAlone } from "./http_request.ts";
import { isFalse } from "./decode.ts";
import { headerMismatch, headerText, queryMismatch, queryText } from "./matcher_text.ts";
import { matchesMetadata, matchesRegex, NotJudged } from "./matchers.ts";
import { shareOf } from "./share.ts";
import type { PassedRoute } from "./types.ts";
import { causeOf } from "./decode.ts";

type Route = envoy.config.route.v3.Route;
type RouteMatch = envoy.config.route.v3.RouteMatch;

/** The chosen route, if any, and the routes before it. */
export interface RouteChoice {
  readonly chosen: ChosenRoute | undefined;
  readonly passed: readonly PassedRoute[];
}

/** The chosen route. */
export interface ChosenRoute {
  readonly route: Route;
  readonly index: number;
  /** Below 1 if the route takes only a share of the requests. */
  readonly share: number;
}

/** The first matching route. A route for a share of the requests counts as a match. */
export function chooseRoute(routes: readonly Route[], request: NormalizedRequest): RouteChoice {
  const passed: PassedRoute[] = [];
  for (const [index, route] of routes.entries()) {
    const share = shareOf(route.match?.runtime_fraction);
    const why = share > 0 ? mismatch(route.match ?? {}, request) : "takes 0 % of the requests";
    if (why === undefined) return { chosen: { route, index, share }, passed };
    passed.push({ name: route.name ?? "", index, why, ...causeOf(route.metadata) });
  }
  return { chosen: undefined, passed };
}

/** The first failing condition of a match, in words; undefined: all conditions hold. */
export function mismatch(match: RouteMatch, request: NormalizedRequest): string | undefined {
  if (match.tls_context) throw new NotJudged("a match on the client certificate");
  if (!matchesPath(match, request)) return `path ${pathAlone(request.path)} is not ${pathText(match)}`;
  for (const matcher of match.headers ?? []) {
    const why = headerMismatch(matcher, request);
    if (why !== undefined) return why;
  }
  for (const matcher of match.query_parameters ?? []) {
    const why = queryMismatch(matcher, request.path);
    if (why !== undefined) return why;
  }
  if (!(match.dynamic_metadata ?? []).every((matcher) => matchesMetadata(matcher, request))) {
    return "the claims of the request's token do not match";
  }
  const isGrpc = /^application\/grpc([+;]|$)/.test(headerOf(request, "content-type") ?? "");
  return match.grpc && !isGrpc ? "the request is not gRPC" : undefined;
}

/** The conditions of a match, in words. */
export function matchText(match: RouteMatch): string {
  return [
    pathText(match),
    ...(match.headers ?? []).map(headerText),
    ...(match.query_parameters ?? []).map(queryText),
    ...(match.dynamic_metadata?.length ? ["claims of the token"] : []),
    ...(match.grpc ? ["gRPC"] : []),
  ].join(", ");
}

function pathText(match: RouteMatch): string {
  if (match.prefix !== undefined) return `prefix ${match.prefix}`;
  if (match.path !== undefined) return `path ${match.path}`;
  if (match.safe_regex) return `regex ${match.safe_regex.regex ?? ""}`;
  if (match.path_separated_prefix !== undefined) return `prefix ${match.path_separated_prefix} of whole segments`;
  return match.connect_matcher ? "method CONNECT" : "another path condition";
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
