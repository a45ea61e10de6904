/**
 * The verdicts on the routes of a group: the parents that take a route, its backends, and its rules.
 *
 * @module
 */
import type { DerivationReader, GroupReader } from "../../config/derive/derivation.ts";
import { resolve } from "../attach/backends.ts";
import { isolatedHostnames } from "../attach/isolation.ts";
import { attachments } from "../attach/routes.ts";
import type { ParentReference } from "../../config/kinds/kinds.ts";
import type {
  ApiRoute,
  AttachOptions,
  GatewayView,
  JudgedPool,
  ListenerView,
  ResolvedRoute,
  RouteAtParent,
} from "../attach/types.ts";
import type { GatewayViews } from "../attach/views.ts";
import type { BytesRoute } from "../derive/bytes_rules.ts";
import type { RouteWithRules } from "../derive/host_rules.ts";
import { type RequestRoute, rulesOf } from "../derive/rules.ts";
import type { ShadowedMatches } from "../derive/shadowed.ts";

/** A route of a group with its verdicts. */
export interface JudgedRoute {
  readonly route: ApiRoute;
  /** At the parents that belong to the group. */
  readonly at: readonly RouteAtParent[];
  readonly resolved: ResolvedRoute;
  /** Of an HTTPRoute or GRPCRoute: its rules, with the parts that cannot be served. */
  readonly rules?: RouteWithRules["rules"];
  /** The listeners with the route. Empty at a service. */
  readonly places: readonly RoutePlace[];
}

/** A route at a listener. */
export interface RoutePlace {
  readonly listener: ListenerView;
  /** Without the hostnames that belong to a more specific listener. Each once. */
  readonly hostnames: readonly string[];
}

/** The verdicts of a group. Statuses are made from them. */
export interface GroupVerdicts {
  /** Absent: the group is no Gateway of ours. */
  readonly view?: GatewayView;
  /** Sorted by key. */
  readonly routes: readonly JudgedRoute[];
  /** Matches that no request reaches. Absent: none. */
  readonly shadowed?: ShadowedMatches;
  /** Present if the group is an InferencePool. */
  readonly pool?: JudgedPool;
}

/** How a group is derived. */
export interface GroupContext {
  readonly read: GroupReader;
  readonly options: AttachOptions;
  /** Views under these options. */
  readonly views: GatewayViews;
}

/**
 * The verdicts on a route at the parents of its group. The verdicts on one route are one part of the group.
 *
 * @param view The Gateway of the group; undefined: the group is about a service, whose routes need no grants.
 */
export function judgedRoute(
  route: ApiRoute,
  belongs: (ref: ParentReference) => boolean,
  view: GatewayView | undefined,
  { read, options, views }: GroupContext,
): JudgedRoute {
  return read.part(route.key, [route, view], (reader): JudgedRoute => {
    const at = attachments(route, { read: reader, options, views }).filter(({ ref }) => belongs(ref));
    const resolved = resolve(route, {
      ...{ read: reader, options, parents: view === undefined ? "mesh" : "gateway" },
      ...(view && { clients: view.gateway.meta.namespace, defaultExportTo: reader.mesh("defaultServiceExportTo") }),
    });
    const isUsed = isRequestRoute(route) && at.some(({ bound, mesh }) => bound.length > 0 || mesh !== undefined);
    const rules = isUsed ? convertedRoute(route, resolved, reader) : undefined;
    const places = view === undefined ? [] : placesOf(at, view);
    return { route, at, resolved, places, ...(rules && { rules }) };
  });
}

function placesOf(at: readonly RouteAtParent[], view: GatewayView): readonly RoutePlace[] {
  const byListener = Map.groupBy(at.flatMap(({ bound }) => bound), ({ listener }) => listener);
  return [...byListener].flatMap(([listener, bound]) => {
    const all = [...new Set(bound.flatMap(({ hostnames }) => hostnames))];
    const hostnames = isolatedHostnames(listener, all, view);
    return hostnames.length > 0 ? [{ listener, hostnames }] : [];
  });
}

/** The rules of a route. */
function convertedRoute(route: RequestRoute, resolved: ResolvedRoute, read: DerivationReader) {
  const defaultRetry = read.mesh("defaultHttpRetryPolicy");
  return rulesOf(route, resolved.rules, defaultRetry === undefined ? {} : { defaultRetry });
}

/** Whether a route is for requests or calls. */
export function isRequestRoute(route: ApiRoute): route is ApiRoute & RequestRoute {
  return route.kind === "HTTPRoute" || route.kind === "GRPCRoute";
}

/** Whether a route is for connections. */
export function isBytesRoute(route: ApiRoute): route is ApiRoute & BytesRoute {
  return route.kind === "TCPRoute" || route.kind === "TLSRoute";
}
