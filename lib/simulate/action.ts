/**
 * The action of a route on a request: the clusters that may get the request, or an answer of the proxy.
 *
 * @module
 */
import { compileBounded } from "../config/validation/regex.ts";
import type { envoy } from "../../proto/gen/types.ts";
import { headerOf, hostAlone, type NormalizedRequest, pathAlone } from "./http_request.ts";
import { NotJudged } from "./matchers.ts";
import { shareOf } from "./share.ts";
import type { ActionStep, SimulationOutcome } from "./types.ts";

type Route = envoy.config.route.v3.Route;
type RouteAction = envoy.config.route.v3.RouteAction;

/** A cluster and its share. */
export interface ClusterShare {
  readonly name: string;
  readonly weight: number;
}

/** A cluster that gets copies of a share of the requests. */
export interface Mirror {
  readonly name: string;
  /** 0 to 1. */
  readonly share: number;
  readonly suffixed: boolean;
}

/** The action of a route: destinations, or the end. */
export interface RouteActionResult {
  readonly step: ActionStep;
  readonly destinations: readonly ClusterShare[];
  readonly mirrors: readonly Mirror[];
  /** Set where the proxy answers by itself. */
  readonly outcome?: SimulationOutcome;
  /** Status where the cluster does not exist. */
  readonly missingStatus: number;
}

const REDIRECT_CODES = [301, 302, 303, 307, 308] as const;
/** Status by value of `cluster_not_found_response_code`. */
const NOT_FOUND_CODES = [503, 404, 500] as const;

/** Performs the action of a route. */
export function act(route: Route, request: NormalizedRequest): RouteActionResult {
  if (route.redirect) {
    const status = REDIRECT_CODES[route.redirect.response_code ?? 0] ?? 301;
    const location = redirectLocation(route, request);
    return ended("redirect", { kind: "answered", status, location, why: "the route redirects" });
  }
  if (route.direct_response) {
    const status = route.direct_response.status ?? 200;
    return ended("directResponse", { kind: "answered", status, why: "the route answers itself" });
  }
  if (!route.route) throw new NotJudged("a route without destination, redirect or answer");
  const action = route.route;
  const mirrors = mirrorsOf(action, request);
  const step: ActionStep = {
    step: "action",
    action: action.weighted_clusters ? "weightedClusters" : "cluster",
    ...upstreamOf(route, action, request),
    mirrors: mirrors.map(({ name }) => name),
  };
  const missingStatus = NOT_FOUND_CODES[action.cluster_not_found_response_code ?? 0] ?? 503;
  return { step, destinations: destinations(action, request), mirrors, missingStatus };
}

function ended(action: ActionStep["action"], outcome: SimulationOutcome): RouteActionResult {
  return {
    step: { step: "action", action, rewritten: false, mirrors: [] },
    destinations: [],
    mirrors: [],
    outcome,
    missingStatus: 503,
  };
}

function mirrorsOf({ request_mirror_policies = [] }: RouteAction, request: NormalizedRequest): Mirror[] {
  return request_mirror_policies.map((policy) => ({
    name: policy.cluster || headerOf(request, policy.cluster_header ?? "") || "",
    share: shareOf(policy.runtime_fraction),
    suffixed: !policy.disable_shadow_host_suffix_append,
  })).filter(({ name, share }) => name !== "" && share > 0);
}

function destinations(action: RouteAction, request: NormalizedRequest): ClusterShare[] {
  if (action.cluster !== undefined) return [{ name: action.cluster, weight: 1 }];
  if (action.cluster_header !== undefined) {
    return [{ name: headerOf(request, action.cluster_header) ?? "", weight: 1 }];
  }
  if (!action.weighted_clusters) throw new NotJudged("a cluster specifier extension");
  return (action.weighted_clusters.clusters ?? [])
    .map((one) => ({
      name: one.name || headerOf(request, one.cluster_header ?? "") || "",
      weight: one.weight?.value ?? 0,
    }))
    .filter((one) => one.weight > 0);
}

/** Path and authority as seen by the upstream. */
function upstreamOf(
  route: Route,
  action: RouteAction,
  request: NormalizedRequest,
): Pick<ActionStep, "path" | "authority" | "rewritten"> {
  const authority = action.host_rewrite_literal ||
    (action.host_rewrite_header ? headerOf(request, action.host_rewrite_header) : undefined) || request.authority;
  const path = rewrittenPath(route, action, request.path) ?? request.path;
  return { path, authority, rewritten: path !== request.path || authority !== request.authority };
}

interface PathRewrite {
  readonly prefix_rewrite?: string;
  readonly regex_rewrite?: envoy.type.matcher.v3.RegexMatchAndSubstitute;
}

function rewrittenPath(route: Route, rewrite: PathRewrite, path: string): string | undefined {
  const alone = pathAlone(path);
  const rest = path.slice(alone.length);
  if (rewrite.prefix_rewrite) return rewrite.prefix_rewrite + alone.slice(matchedLength(route, alone)) + rest;
  if (!rewrite.regex_rewrite) return undefined;
  const { pattern, substitution = "" } = rewrite.regex_rewrite;
  // Envoy writes groups as \1, and escapes a backslash by another.
  const replacement = substitution.replaceAll("$", "\\$").replace(/\\(\d)/g, "$$$1");
  return compileBounded(pattern?.regex ?? "").matcher(alone).replaceAll(replacement) + rest;
}

/** The length of the path that the route's condition covers. A prefix rewrite replaces this part. */
function matchedLength(route: Route, path: string): number {
  const { prefix, path_separated_prefix, path: exact } = route.match ?? {};
  return (prefix ?? path_separated_prefix ?? exact ?? path).length;
}

function redirectLocation(route: Route, request: NormalizedRequest): string {
  const redirect = route.redirect ?? {};
  const scheme = redirect.scheme_redirect || (redirect.https_redirect ? "https" : request.scheme);
  const port = redirect.port_redirect ? `:${redirect.port_redirect}` : "";
  const host = redirect.host_redirect || originalHost(request, scheme, port !== "");
  const original = redirect.strip_query ? pathAlone(request.path) : request.path;
  // A new path with a query of its own keeps its own query.
  const query = redirect.path_redirect?.includes("?") ? "" : original.slice(pathAlone(original).length);
  const path = redirect.path_redirect
    ? redirect.path_redirect + query
    : rewrittenPath(route, redirect, original) ?? original;
  return `${scheme}://${host}${port}${path}`;
}

/**
 * The host in the client's spelling. The port is removed if another port replaces it, or if a new scheme changes the
 * default port.
 */
function originalHost(request: NormalizedRequest, scheme: string, newPort: boolean): string {
  const { authority } = request;
  const defaultPort = request.scheme === "https" ? ":443" : ":80";
  const changed = scheme !== request.scheme && authority.endsWith(defaultPort);
  return newPort || changed ? hostAlone(authority) : authority;
}
