/**
 * The http rules of a virtual service as Envoy routes, for one port and one set of gateways.
 *
 * Sidecars and gateways share this translation: a gateway passes its name in `gateways` and the port of its server.
 *
 * @module
 */
import type { HttpMatchRequest, HttpRoute } from "../../config/kinds/kinds.ts";
import type { InternalRule } from "../../config/kinds/virtual_service/internal.ts";
import type { EffectiveVirtualService } from "../../mesh/types.ts";
import { any } from "../../pb/codec.ts";
import type { envoy, google } from "../../../proto/gen/types.ts";
import { parseOutboundClusterName } from "../destination/names.ts";
import { hasExtension } from "../filters/extension.ts";
import { objectMetadata, ruleMetadata } from "../message/object_metadata.ts";
import type { BuildFinding } from "../message/built.ts";
import type { UsedRule } from "../message/parts.ts";
import { aspect } from "../reader/aspect.ts";
import type { Reader } from "../reader/reader.ts";
import { type ForwardAction, forwardAction } from "./action.ts";
import { directResponse, hiddenPort, redirectAction } from "./answer.ts";
import { CORS_FILTER, corsPolicy } from "../filters/http/cors/per_route.ts";
import { FAULT_FILTER, httpFault } from "../filters/http/fault/per_route.ts";
import { headerChanges } from "./headers.ts";
import { matchesAll, routeMatch } from "./match.ts";
import { ruleSession, STATEFUL_SESSION_FILTER, statefulSession } from "../filters/http/stateful_session/per_route.ts";
import { unsendable } from "../values/wire_limits.ts";

type Route = envoy.config.route.v3.Route;

/** The place for which routes are built. */
export interface RouteContext {
  readonly read: Reader;
  /** The dialled port: the service port at a sidecar, the server's port at a gateway. */
  readonly port: number;
  /** `["mesh"]` at a sidecar. At a gateway: the names (`namespace/name`) of the Gateways that share the server. */
  readonly gateways: readonly string[];
  /** Whether requests arrive over TLS that the proxy ends. */
  readonly tls: boolean;
}

/** Routes in order. The first match wins. */
export interface TranslatedRoutes {
  readonly routes: Route[];
  /** The rule and match behind each route. */
  readonly used: UsedRule[];
  /** Keys of the destination rules that shaped the routes (hashing). */
  readonly causes: string[];
  /** Settings that are not in force as written. */
  readonly warnings: BuildFinding[];
}

/**
 * Translates the http rules of a virtual service.
 *
 * A rule is omitted if its `port`, `gateways`, `sourceNamespace` or `sourceLabels` exclude the proxy or the port. Rules
 * after a rule for every request are omitted as unreachable. An empty result means that the virtual service has no HTTP
 * rules for the place.
 */
export function httpRoutes(vs: EffectiveVirtualService, context: RouteContext): TranslatedRoutes {
  const routes: Route[] = [];
  const used: UsedRule[] = [];
  const causes = new Set<string>();
  const warnings: BuildFinding[] = [];
  const metadata = objectMetadata(`VirtualService/${vs.namespace}/${vs.name}`);
  for (const [index, rule] of (vs.spec.http ?? []).entries()) {
    const notes: Notes = {
      causes,
      warnings: [],
      metadata: rule.internal ? ruleMetadata(rule.internal.source) : metadata,
    };
    const ofRule = routesOfRule(vs, rule, context, notes);
    for (const { route, match } of ofRule) {
      routes.push(route);
      used.push(match === undefined ? { rule: index } : { rule: index, match });
    }
    warnings.push(...ruleWarnings(vs, index, rule, notes.warnings));
    const last = ofRule.at(-1);
    if (last && matchesAll(last.route.match!)) break;
  }
  return { routes, used, causes: [...causes], warnings };
}

/** The findings and shared inputs of building routes. */
interface Notes {
  readonly metadata: envoy.config.core.v3.Metadata;
  readonly causes: Set<string>;
  readonly warnings: string[];
}

/** A route of a rule, with the position of its match. */
interface RuleRoute {
  readonly route: Route;
  readonly match: number | undefined;
}

/** One route per match of a rule, up to a match for every request. */
function routesOfRule(vs: EffectiveVirtualService, rule: HttpRoute, context: RouteContext, notes: Notes): RuleRoute[] {
  const routes: RuleRoute[] = [];
  for (const [at, match] of (rule.match?.length ? rule.match : [undefined]).entries()) {
    if (match && !applies(match, context)) continue;
    const route = buildRoute(vs, rule, match, context, notes);
    if (!route) continue;
    if (rule.internal) {
      routes.push(...withPortInHost(rule, route, context).map((route) => ({ route, match: match && at })));
    }
    routes.push({ route, match: match && at });
    if (matchesAll(route.match!)) break;
  }
  return routes;
}

/**
 * A route in front of a redirect of a derived rule, for requests with a port in the Host header, if Envoy would keep
 * this port. The location then names the default port of its scheme.
 */
function withPortInHost({ redirect }: HttpRoute, route: Route, { port, tls }: RouteContext): Route[] {
  const hidden = redirect && hiddenPort(redirect, port, tls);
  if (hidden === undefined || route.redirect === undefined) return [];
  const headers = [...route.match?.headers ?? [], HOST_WITH_PORT];
  return [{ ...route, match: { ...route.match, headers }, redirect: { ...route.redirect, port_redirect: hidden } }];
}

const HOST_WITH_PORT = { name: ":authority", string_match: { safe_regex: { regex: ".*:[0-9]+" } } };

function ruleWarnings(
  vs: EffectiveVirtualService,
  index: number,
  rule: HttpRoute,
  warnings: readonly string[],
): BuildFinding[] {
  const where = `VirtualService ${vs.namespace}/${vs.name}: http[${index}]${rule.name ? ` "${rule.name}"` : ""}`;
  return [...new Set(warnings)].map((warning) => ({ cause: vs.causes[0] ?? "", text: `${where}: ${warning}` }));
}

/** Cheap and shared queries come first. Queries with different answers among proxies come last. */
function applies(match: HttpMatchRequest, { read, port, gateways }: RouteContext): boolean {
  if (match.port && match.port !== port) return false;
  if (match.gateways?.length && !match.gateways.some((gateway) => gateways.includes(gateway))) return false;
  const { sourceNamespace } = match;
  // A waypoint does not know the labels of its clients.
  const asksSource = !!sourceNamespace || Object.keys(match.sourceLabels ?? {}).length > 0;
  if (asksSource && aspect(read, "waypoint")) return false;
  if (sourceNamespace && !read.derived(`namespace=${sourceNamespace}`, (t) => t.namespace === sourceNamespace)) {
    return false;
  }
  const labels = Object.entries(match.sourceLabels ?? {}).sort();
  if (!labels.length) return true;
  return read.derived(
    `labels=${JSON.stringify(labels)}`,
    (t) => labels.every(([key, value]) => t.labels[key] === value),
  );
}

function buildRoute(
  vs: EffectiveVirtualService,
  rule: HttpRoute,
  match: HttpMatchRequest | undefined,
  context: RouteContext,
  { causes, warnings, metadata }: Notes,
): Route | undefined {
  const { read, port } = context;
  const refused = unsendable(rule, match);
  if (refused !== undefined) {
    warnings.push(`${refused}; the rule is left out`);
    return undefined;
  }
  const name = [rule.name, match?.name].filter(Boolean).join(".");
  const route: Route = { ...(name ? { name } : {}), match: routeMatch(match, vs.segmentPrefixes), metadata };
  if (match?.statPrefix) route.stat_prefix = match.statPrefix;
  const perFilter: Record<string, google.protobuf.Any> = {};
  if (rule.redirect || rule.directResponse) {
    if (!answer(rule, context, route, warnings)) return undefined;
  } else {
    const forward = forwardAction(read, rule, port, warnings);
    if (!forward) {
      warnings.push("no destination has a weight above 0; the rule is left out");
      return undefined;
    }
    for (const cause of forward.causes) causes.add(cause);
    route.route = forward.action;
    Object.assign(route, forward.headers);
    Object.assign(perFilter, forward.perFilter);
    const session = sessionOf(rule.internal, forward, read, warnings);
    if (session) perFilter[STATEFUL_SESSION_FILTER] = session;
  }
  const fault = rule.fault && httpFault(rule.fault, warnings);
  if (fault) perFilter[FAULT_FILTER] = any("envoy.extensions.filters.http.fault.v3.HTTPFault", fault);
  if (rule.corsPolicy) {
    perFilter[CORS_FILTER] = any("envoy.extensions.filters.http.cors.v3.CorsPolicy", corsPolicy(rule.corsPolicy));
  }
  if (Object.keys(perFilter).length) route.typed_per_filter_config = perFilter;
  route.decorator = { operation: operation(route, rule.internal?.source.name ?? vs.name, port) };
  return route;
}

/** The session of the rule, or else of its destinations. */
function sessionOf(
  internal: InternalRule | undefined,
  { targets }: Pick<ForwardAction, "targets">,
  read: Reader,
  warnings: string[],
): google.protobuf.Any | undefined {
  if (internal?.session) {
    if (hasExtension(read, STATEFUL_SESSION_FILTER)) return ruleSession(internal.session);
    warnings.push(`the proxy's build lacks ${STATEFUL_SESSION_FILTER}; no session is kept`);
    return undefined;
  }
  const sessions = targets.flatMap((target) => statefulSession(read, target.service) ?? []);
  if (sessions.length > 1) warnings.push("several destinations keep sessions; the first one's settings hold");
  return sessions[0];
}

/** Adds the proxy's own answer to the route. False when Envoy could not give the answer. */
function answer(rule: HttpRoute, context: RouteContext, route: Route, warnings: string[]): boolean {
  Object.assign(route, headerChanges(rule.headers, warnings).fields);
  if (rule.redirect) {
    const redirect = redirectAction(rule.redirect, context.port, context.tls, rule.internal?.redirectPath);
    if (redirect) route.redirect = redirect;
    else warnings.push(`redirectCode ${rule.redirect.redirectCode} is not a redirect; the rule is left out`);
  } else if (rule.directResponse) {
    const response = directResponse(rule.directResponse);
    if (response) route.direct_response = response;
    else warnings.push(`directResponse.status ${rule.directResponse.status} is outside 200-599; the rule is left out`);
  }
  return route.redirect !== undefined || route.direct_response !== undefined;
}

/**
 * The name of the route's requests in traces: `host:port/path`, or the name of the rule's object in place of the host if
 * hosts differ.
 */
function operation(route: Route, name: string, port: number): string {
  const { match } = route;
  const prefix = match?.prefix ?? match?.path_separated_prefix ?? "/";
  const path = match?.path ?? match?.safe_regex?.regex ?? `${prefix}*`;
  const target = parseOutboundClusterName(route.route?.cluster ?? "");
  return target ? `${target.host}:${target.port}${path}` : `${name}:${port}${path}`;
}
