/**
 * The derivation of the Gateway API: Gateways, ListenerSets and routes become Gateways and VirtualServices of the mesh.
 *
 *     Gateway, ListenerSets ──> view ──> a Gateway for each listener
 *                                │
 *     routes ──> at parents ─────┴─────> a VirtualService for each hostname of a listener
 *            └─> backends resolved
 *
 * A group is a Gateway with everything attached to it (see `./groups.ts`). Each route is a part of its group: an edit of
 * one of 5,000 routes judges and converts that route.
 *
 * @module
 */
import type {
  Derivation,
  DerivationReader,
  DerivedGroup,
  DerivedObject,
  GroupReader,
} from "../../config/derive/derivation.ts";
import type { ParentReference } from "../../config/kinds/kinds.ts";
import type { ConfigObject } from "../../config/types.ts";
import { misdirectedHosts, needsOwnHost } from "../attach/isolation.ts";
import type { ApiRoute, AttachOptions, GatewayView, ListenerView } from "../attach/types.ts";
import { GatewayViews } from "../attach/views.ts";
import { type BytesRoute, bytesVirtualService } from "../derive/bytes_rules.ts";
import { emptyHost, hostVirtualService, type RouteWithRules } from "../derive/host_rules.ts";
import { listenerGateway } from "../derive/listener_gateway.ts";
import type { RequestRoute } from "../derive/rules.ts";
import { joinedShadowed, type ShadowedMatch, shadowedMatches } from "../derive/shadowed.ts";
import { groupsOf, groupsWithPools, isRoute, parentKind, setGroup, subjectOf } from "./groups.ts";
import { type GroupContext, type GroupVerdicts, type JudgedRoute, judgedRoute } from "./judged.ts";
import { withoutRivals } from "./rivals.ts";
import { meshRoutes } from "./mesh_routes.ts";
import { PoolParents } from "./pool_parents.ts";
import { inferencePool } from "./pools.ts";

/** Takes the verdicts of a group; undefined: the group is gone. */
export type VerdictListener = (group: string, verdicts: GroupVerdicts | undefined) => void;

/**
 * The derivation.
 *
 * @param options The same object for the life of the derivation.
 * @param learned Gets the verdicts. Absent: nobody asks.
 */
export function gatewayApiDerivation(options: AttachOptions, learned?: VerdictListener): Derivation {
  const views = new GatewayViews(options);
  const poolParents = new PoolParents();
  return {
    name: "gateway-api",
    from: [
      ...["ApiGateway", "ListenerSet", "HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"] as const,
      ...options.inferencePools ? ["InferencePool" as const] : [],
    ],
    derive: () => [],
    shared: {
      groupsOf: options.inferencePools ? groupsWithPools : groupsOf,
      derive: (group, members, read) => {
        const subject = subjectOf(group);
        const routes = members.filter(isRoute);
        if (subject?.kind === "Gateway") {
          const gateway = members.find((one) => one.kind === "ApiGateway");
          const sets = members.filter((one) => one.kind === "ListenerSet");
          return gateway === undefined ? NOTHING : ofGateway(gateway, sets, routes, { read, options, views });
        }
        if (subject?.kind === "InferencePool") {
          const pool = members.find((one) => one.kind === "InferencePool");
          return pool === undefined ? NOTHING : inferencePool(pool, routes, { read, options, views }, poolParents);
        }
        // The group of the set's Gateway derives from these routes.
        if (subject === undefined || subject.kind === "ListenerSet") return NOTHING;
        return meshRoutes({ kind: subject.kind, ...subject.object }, routes, { read, options, views });
      },
      ...(learned && { learned: (group, about) => learned(group, about as GroupVerdicts | undefined) }),
    },
  };
}

const NOTHING: DerivedGroup<GroupVerdicts> = { objects: [], about: { routes: [] } };

function ofGateway(
  gateway: ConfigObject<"ApiGateway">,
  sets: readonly ConfigObject<"ListenerSet">[],
  own: readonly ApiRoute[],
  context: GroupContext,
): DerivedGroup<GroupVerdicts> {
  const { read, views } = context;
  // The sets are inputs too, because the view reads the ListenerSets from the store.
  const view = read.part("view", [gateway, ...sets], (reader) => views.of(gateway, reader));
  if (view === undefined) return NOTHING;
  const parents = new Set([gateway, ...sets].map(({ key }) => key));
  const judged = withRoutesOfSets(own, sets, read).map((route) => {
    const belongs = (ref: ParentReference) => parents.has(parentObjectKey(ref, route.meta.namespace));
    return judgedRoute(route, belongs, view, context);
  });
  const routes = withoutRivals(judged, read);
  const placed = placedRoutes(routes);
  const shadowed: (readonly ShadowedMatch[])[] = [];
  const { role, workloads, addressing, clientCertificate } = view;
  // A Gateway may have thousands of listeners, and the view is another object after each change of a ListenerSet.
  const shared = JSON.stringify([role, workloads, addressing, clientCertificate]);
  const objects = view.listeners.filter(({ serves }) => serves).flatMap((listener): DerivedObject[] => {
    const misdirected = misdirectedHosts(listener, view);
    const inputs = [view.gateway, listener, shared, misdirected.join(" ")];
    const made = read.part(
      `listener ${nameOf(listener)}`,
      inputs,
      () => listenerGateway(view, listener, misdirected),
    );
    if (made === undefined) return [];
    const ofRoutes = ofListener(listener, view, placed.get(nameOf(listener)) ?? [], read);
    shadowed.push(...ofRoutes.shadowed);
    return [made, ...ofRoutes.objects];
  });
  return { objects, about: { view, routes, shadowed: joinedShadowed(shadowed) } };
}

/** Key of the object that a parentRef names; empty: no Gateway or ListenerSet. */
function parentObjectKey(ref: ParentReference, namespace: string): string {
  const kind = parentKind(ref);
  const object = `${ref.namespace ?? namespace}/${ref.name}`;
  return kind === "Gateway" ? `ApiGateway/${object}` : kind === "ListenerSet" ? `ListenerSet/${object}` : "";
}

/** All routes that may be attached, each once, sorted by key. */
function withRoutesOfSets(
  own: readonly ApiRoute[],
  sets: readonly ConfigObject<"ListenerSet">[],
  read: DerivationReader,
): readonly ApiRoute[] {
  const ofSets = sets.flatMap(({ meta }) => read.members(setGroup(meta)).filter(isRoute));
  if (ofSets.length === 0) return own;
  const all = new Map<string, ApiRoute>([...own, ...ofSets].map((route) => [route.key, route]));
  return [...all.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** The objects and shadowed matches of the routes at a listener. */
interface ListenerObjects {
  readonly objects: readonly DerivedObject[];
  readonly shadowed: readonly (readonly ShadowedMatch[])[];
}

/** A route at one listener. */
interface PlacedRoute {
  readonly judged: JudgedRoute;
  readonly hostnames: readonly string[];
}

/**
 * The routes by name of the listener, in their order. Names are compared and not listeners: a write of the Gateway's status
 * makes another object of the Gateway, and with it other views of the same listeners.
 */
function placedRoutes(routes: readonly JudgedRoute[]): ReadonlyMap<string, readonly PlacedRoute[]> {
  const placed = new Map<string, PlacedRoute[]>();
  for (const judged of routes) {
    for (const { listener, hostnames } of judged.places) {
      placed.getOrInsertComputed(nameOf(listener), () => []).push({ judged, hostnames });
    }
  }
  return placed;
}

/** The VirtualServices of a listener. */
function ofListener(
  listener: ListenerView,
  view: GatewayView,
  routes: readonly PlacedRoute[],
  read: GroupReader,
): ListenerObjects {
  const name = nameOf(listener);
  const byHost = new Map<string, JudgedRoute[]>();
  const bytes: PlacedRoute[] = [];
  for (const placed of routes) {
    const { judged, hostnames } = placed;
    if (judged.rules === undefined) bytes.push(placed);
    else for (const host of hostnames) byHost.getOrInsertComputed(host, () => []).push(judged);
  }
  // Judged routes and listeners are other objects after each change of the Gateway. Rules stay the same objects.
  const { derived } = listener;
  const ofHosts = [...byHost].map(([host, list]) =>
    read.part(`host ${name} ${host}`, [derived.namespace, derived.name, ...list.map(({ rules }) => rules)], () => {
      const routes = list.map(withRules);
      const shadowed = shadowedMatches(host, routes.map(({ rules }) => rules));
      return { made: hostVirtualService(listener, host, routes), shadowed };
    })
  );
  const { hostname = "*" } = listener.spec;
  const isEmpty = !byHost.has(hostname) && needsOwnHost(listener, view);
  const closed = isEmpty ? [read.part(`empty ${name}`, [listener], () => emptyHost(listener, hostname))] : [];
  const inputs = [listener, ...bytes.map(({ judged }) => judged)];
  const ofBytes = read.part(`bytes ${name}`, inputs, () =>
    bytesVirtualService(
      listener,
      bytes.map(({ judged, hostnames }) => ({
        route: judged.route as BytesRoute,
        hostnames,
        resolved: judged.resolved,
      })),
    ));
  const objects = [...ofHosts.map(({ made }) => made), ...closed, ...(ofBytes === undefined ? [] : [ofBytes])];
  return { objects, shadowed: ofHosts.map(({ shadowed }) => shadowed) };
}

function withRules({ route, rules }: JudgedRoute): RouteWithRules {
  // Only routes with rules are collected by host.
  return { route: route as RequestRoute, rules: rules! };
}

function nameOf({ owner, spec }: ListenerView): string {
  return `${owner.key} ${spec.name}`;
}
