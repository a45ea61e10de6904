/**
 * The action of a rule that sends requests on: clusters and weights, rewrite, timeout, retries, mirrors, hashing.
 *
 * Permissions: none.
 *
 * @module
 */
import type { Destination, HttpRoute, HttpRouteDestination } from "../../config/kinds/mod.ts";
import { duration, wrap } from "../../pb/wellknown.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { Reader } from "../reader.ts";
import { type Hashing, hashing, type RouteTarget, routeTarget } from "./destination.ts";
import { fractionOf } from "./fraction.ts";
import { headerChanges, type HeaderFields, joinHeaders } from "./headers.ts";
import { retryPolicy } from "./retry.ts";

type RouteAction = envoy.config.route.v3.RouteAction;

/** A built action, with what belongs on the route beside it. */
export interface ForwardAction {
  readonly action: RouteAction;
  /** Header operations of the rule, and of its destination when there is only one. */
  readonly headers: HeaderFields;
  /** Where it leads, in order. */
  readonly targets: readonly RouteTarget[];
  /** Keys of the destination rules by which requests are hashed. */
  readonly causes: readonly string[];
}

/**
 * Builds the action.
 *
 * @param port Port of the listener that the route is for.
 * @returns Undefined when the rule leaves no destination with a share of the requests.
 */
export function forwardAction(read: Reader, rule: HttpRoute, port: number): ForwardAction | undefined {
  const own = headerChanges(rule.headers);
  const authority = rule.rewrite?.authority || own.authority;
  const action: RouteAction = {};
  const routes = rule.route ?? [];
  const [only] = routes;
  const chosen = only && routes.length === 1
    ? single(read, only, port, own.fields, action, authority)
    : weighted(read, routes, port, own.fields, action);
  if (!chosen) return undefined;
  if (authority) action.host_rewrite_literal = authority;
  rewritePath(rule, action);
  // Without a word Envoy would give up after 15 s.
  action.timeout = duration(rule.timeout ?? 0);
  const retry = retryPolicy(rule.retries ?? read.mesh().defaultHttpRetryPolicy, chosen.sticky);
  if (retry) action.retry_policy = retry;
  const mirrors = mirrorPolicies(read, rule, port);
  if (mirrors.length) action.request_mirror_policies = mirrors;
  const { headers, targets, causes } = chosen;
  return { action, headers, targets, causes };
}

interface Chosen {
  readonly headers: HeaderFields;
  readonly targets: RouteTarget[];
  readonly causes: readonly string[];
  readonly sticky: boolean;
}

function single(
  read: Reader,
  route: HttpRouteDestination,
  port: number,
  own: HeaderFields,
  action: RouteAction,
  authority: string | undefined,
): Chosen {
  const target = routeTarget(read, route.destination, port);
  const changes = headerChanges(route.headers);
  const hash = hashing(read, target);
  action.cluster = target.cluster;
  if (hash) action.hash_policy = [hash.policy];
  // The rule's own authority wins over the destination's, as it does with several destinations.
  if (changes.authority && !authority) action.host_rewrite_literal = changes.authority;
  const headers = joinHeaders(own, changes.fields);
  return { headers, targets: [target], causes: hash?.causes ?? [], sticky: hash !== undefined };
}

function weighted(
  read: Reader,
  routes: readonly HttpRouteDestination[],
  port: number,
  own: HeaderFields,
  action: RouteAction,
): Chosen | undefined {
  const targets: RouteTarget[] = [];
  const clusters: envoy.config.route.v3.WeightedCluster.ClusterWeight[] = [];
  const hashes: Hashing[] = [];
  for (const { destination, weight, headers } of routes) {
    if (!weight) continue;
    const target = routeTarget(read, destination, port);
    const changes = headerChanges(headers);
    const hash = hashing(read, target);
    targets.push(target);
    if (hash) hashes.push(hash);
    clusters.push({
      name: target.cluster,
      weight: wrap(weight),
      ...changes.fields,
      ...(changes.authority ? { host_rewrite_literal: changes.authority } : {}),
    });
  }
  if (!clusters.length) return undefined;
  action.weighted_clusters = { clusters };
  if (hashes.length) action.hash_policy = hashes.map(({ policy }) => policy);
  return { headers: own, targets, causes: hashes.flatMap(({ causes }) => causes), sticky: false };
}

function rewritePath(rule: HttpRoute, action: RouteAction): void {
  const { uri, uriRegexRewrite } = rule.rewrite ?? {};
  if (uriRegexRewrite) {
    action.regex_rewrite = {
      pattern: { regex: uriRegexRewrite.match },
      substitution: uriRegexRewrite.rewrite ?? "",
    };
  } else if (uri) {
    action.prefix_rewrite = uri;
  }
}

function mirrorPolicies(
  read: Reader,
  rule: HttpRoute,
  port: number,
): envoy.config.route.v3.RouteAction.RequestMirrorPolicy[] {
  const all: { destination: Destination; percent: number }[] = (rule.mirrors ?? []).map((mirror) => ({
    destination: mirror.destination,
    percent: mirror.percentage?.value ?? (mirror.percentage ? 0 : 100),
  }));
  if (rule.mirror) {
    const percent = rule.mirrorPercentage ? rule.mirrorPercentage.value ?? 0 : rule.mirrorPercent ?? 100;
    all.unshift({ destination: rule.mirror, percent });
  }
  return all.filter(({ percent }) => percent > 0).map(({ destination, percent }) => ({
    cluster: routeTarget(read, destination, port).cluster,
    runtime_fraction: { default_value: fractionOf(percent) },
    trace_sampled: wrap(false),
  }));
}
