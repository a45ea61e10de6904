/**
 * The action of a rule that forwards requests: clusters and weights, rewrite, timeout, retries, mirrors, hashing.
 *
 * @module
 */
import type { Destination, HttpRoute, HttpRouteDestination } from "../../config/kinds/kinds.ts";
import { UNRESOLVED_HOST } from "../../config/kinds/virtual_service/internal.ts";
import { dialledServer } from "../../mesh/dialled_server.ts";
import { wrap } from "../../pb/wellknown.ts";
import { RouteAction_ClusterNotFoundResponseCode as NotFoundCode } from "../../../proto/gen/enums.ts";
import type { envoy, google } from "../../../proto/gen/types.ts";
import type { Reader } from "../reader/reader.ts";
import { hashing, type RouteTarget, routeTarget } from "./destination.ts";
import { dialledByName } from "./dialled_by_name.ts";
import { fractionOf } from "../values/fraction.ts";
import { endpointPicker } from "../filters/http/ext_proc/per_route.ts";
import { headerChanges, type HeaderFields, joinHeaders } from "./headers.ts";
import { regexMatcher } from "../values/regex.ts";
import { retryPolicy } from "./retry.ts";
import { boundedDuration, boundedWeights } from "../values/wire_limits.ts";

type RouteAction = envoy.config.route.v3.RouteAction;

/** A built action, with fields for the route itself. */
export interface ForwardAction {
  readonly action: RouteAction;
  /** Header operations of the rule, and of a single destination. */
  readonly headers: HeaderFields;
  /** Destinations in order. */
  readonly targets: readonly RouteTarget[];
  /** Filter settings of a single destination. Several destinations have separate settings. */
  readonly perFilter: Readonly<Record<string, google.protobuf.Any>>;
  /** Keys of the destination rules with hash settings for requests. */
  readonly causes: readonly string[];
}

/** The inputs of the parts of an action. */
interface ActionInput {
  readonly read: Reader;
  readonly port: number;
  readonly warnings: string[];
  readonly action: RouteAction;
}

/**
 * Builds the action.
 *
 * @param port Port of the route's listener.
 * @param warnings Receives the settings that are not in force.
 * @returns Undefined when the rule leaves no destination with a share of the requests.
 */
export function forwardAction(
  read: Reader,
  rule: HttpRoute,
  port: number,
  warnings: string[],
): ForwardAction | undefined {
  const own = headerChanges(rule.headers, warnings);
  const authority = rule.rewrite?.authority || own.authority;
  const action: RouteAction = authority ? { host_rewrite_literal: authority } : {};
  const draft = { read, port, warnings, action };
  const [only, ...more] = rule.route ?? [];
  const isSingle = only && !more.length && !isUnresolved(only);
  const chosen = isSingle ? single(draft, only) : weighted(draft, rule.route ?? []);
  if (!chosen) return undefined;
  rewritePath(rule, action);
  // Without a timeout in the route Envoy would give up after 15 s.
  action.timeout = boundedDuration(rule.timeout ?? 0);
  // The timeout begins behind the endpoint picker. A request for which a picker never answers ends by being idle.
  if (rule.timeout && rule.route?.some(hasPicker)) action.idle_timeout = boundedDuration(rule.timeout);
  const retry = retryPolicy(rule.retries ?? read.mesh().defaultHttpRetryPolicy, chosen.sticky);
  if (retry) action.retry_policy = retry;
  const mirrors = mirrorPolicies(read, rule, port);
  if (mirrors.length) action.request_mirror_policies = mirrors;
  const { targets, causes, perFilter } = chosen;
  return { action, headers: joinHeaders(own.fields, chosen.headers), targets, perFilter, causes };
}

function isUnresolved({ internal }: HttpRouteDestination): boolean {
  return internal !== undefined && "unresolved" in internal;
}

function hasPicker({ internal }: HttpRouteDestination): boolean {
  return internal !== undefined && "picker" in internal;
}

/**
 * The filter settings that ask the endpoint picker of a pool; empty: the destination is no pool; undefined: nobody can be
 * asked.
 */
function pickerSettings(
  { read, warnings }: Pick<ActionInput, "read" | "warnings">,
  { internal }: HttpRouteDestination,
): ForwardAction["perFilter"] | undefined {
  if (internal === undefined || !("picker" in internal)) return {};
  const { perFilter, why } = endpointPicker(read, internal.picker);
  if (why !== undefined) warnings.push(`${why}; requests to the pool get 500`);
  return perFilter;
}

interface Chosen {
  /** Header operations of the only destination. */
  readonly headers: HeaderFields;
  readonly targets: readonly RouteTarget[];
  readonly perFilter: ForwardAction["perFilter"];
  readonly causes: readonly string[];
  readonly sticky: boolean;
}

function single({ read, port, warnings, action }: ActionInput, route: HttpRouteDestination): Chosen {
  const picker = pickerSettings({ read, warnings }, route);
  const target = picker === undefined ? unresolvedTarget() : routeTarget(read, route.destination, port);
  if (picker === undefined) action.cluster_not_found_response_code = NotFoundCode.INTERNAL_SERVER_ERROR;
  const { fields, authority } = headerChanges(route.headers, warnings);
  const hash = hashing(read, target);
  action.cluster = target.cluster;
  if (hash) action.hash_policy = [hash.policy];
  // The rule's own authority wins over the destination's, as with several destinations.
  if (authority) action.host_rewrite_literal ??= authority;
  const perFilter = { ...dialledByName(read, target, action.host_rewrite_literal), ...picker };
  return { headers: fields, targets: [target], perFilter, causes: hash?.causes ?? [], sticky: hash !== undefined };
}

function weighted(
  { read, port, warnings, action }: ActionInput,
  routes: readonly HttpRouteDestination[],
): Chosen | undefined {
  const shared = routes.filter((route) => route.weight);
  if (!shared.length) return undefined;
  const pickers = shared.map((route) => pickerSettings({ read, warnings }, route));
  const targets = shared.map((route, index) =>
    isUnresolved(route) || pickers[index] === undefined
      ? unresolvedTarget()
      : routeTarget(read, route.destination, port)
  );
  const weights = boundedWeights(shared.map(({ weight }) => weight ?? 0));
  const hashes = targets.flatMap((target) => hashing(read, target) ?? []);
  action.weighted_clusters = {
    clusters: shared.map(({ headers }, index) => {
      const { fields, authority } = headerChanges(headers, warnings);
      const byName = dialledByName(read, targets[index]!, action.host_rewrite_literal ?? authority);
      const perFilter = { ...byName, ...pickers[index] };
      return {
        name: targets[index]!.cluster,
        weight: wrap(weights[index]!),
        ...fields,
        ...(authority ? { host_rewrite_literal: authority } : {}),
        ...(Object.keys(perFilter).length > 0 ? { typed_per_filter_config: perFilter } : {}),
      };
    }),
  };
  if (
    pickers.includes(undefined) ||
    shared.some(({ internal }) => internal && "unresolved" in internal && internal.unresolved === 500)
  ) {
    action.cluster_not_found_response_code = NotFoundCode.INTERNAL_SERVER_ERROR;
  }
  if (hashes.length) action.hash_policy = hashes.map(({ policy }) => policy);
  return { headers: {}, targets, perFilter: {}, causes: hashes.flatMap(({ causes }) => causes), sticky: false };
}

/** Name of a cluster that never exists: requests to this cluster get the status of a missing cluster. */
const UNRESOLVED_CLUSTER = "UnresolvedBackend";

/** The target of a share of requests without a backend. */
function unresolvedTarget(): RouteTarget {
  const [name, host] = [UNRESOLVED_HOST, UNRESOLVED_HOST];
  return { name, host, port: 0, subset: "", cluster: UNRESOLVED_CLUSTER, service: undefined };
}

function rewritePath(rule: HttpRoute, action: RouteAction): void {
  const { uri, uriRegexRewrite } = rule.rewrite ?? {};
  if (uriRegexRewrite) {
    action.regex_rewrite = {
      pattern: regexMatcher(uriRegexRewrite.match),
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
  const shared = all.filter(({ percent }) => percent > 0)
    .map(({ destination, percent }) => ({ target: routeTarget(read, destination, port), percent }));
  return shared.flatMap(({ target, percent }) => {
    const server = dialledServer(target, target.port);
    // The host of a mirrored request has the suffix "-shadow". Dialling this host by name would reach a stranger. So a
    // mirror needs a host in the rule. Otherwise the mirror is omitted, with a finding.
    if (server !== undefined && server.host === undefined) return [];
    return [{
      cluster: target.cluster,
      runtime_fraction: { default_value: fractionOf(percent) },
      trace_sampled: wrap(false),
      ...(server && { host_rewrite_literal: `${server.host}:${server.port}` }),
    }];
  });
}
