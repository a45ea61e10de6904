/**
 * Patches of route configurations, virtual hosts and routes. Virtual hosts are patched one by one, because a proxy may
 * get them one by one. Added virtual hosts belong to the route configuration.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { merged, mergedUnderName } from "../pb/merge.ts";
import { attempted } from "./attempt.ts";
import { PATCHED_MESSAGE } from "./messages.ts";
import { patchedList } from "./ordered.ts";
import { matchesRoutes, matchesVirtualHost, type PatchedRoutes, soughtRoute } from "./route_match.ts";
import { type CompiledPatch, isFor, type PatchTarget, type ReportPatch } from "./types.ts";

type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;
type VirtualHost = envoy.config.route.v3.VirtualHost;
type Route = envoy.config.route.v3.Route;

/** The targets that belong to a route configuration. */
const OF_ROUTES: ReadonlySet<PatchTarget> = new Set(["ROUTE_CONFIGURATION", "VIRTUAL_HOST", "HTTP_ROUTE"]);

/** Whether a patch applies to route configurations or their parts. */
export function isOfRoutes({ applyTo }: CompiledPatch): boolean {
  return OF_ROUTES.has(applyTo);
}

/** The patches that apply to a route configuration or its parts. */
export function patchesOfRoutes(patches: readonly CompiledPatch[], of: PatchedRoutes): readonly CompiledPatch[] {
  return patches.filter((patch) => isOfRoutes(patch) && isFor(patch, of.context) && matchesRoutes(of, patch));
}

export interface PatchedRouteConfiguration {
  /** Includes the original virtual hosts that were not removed. The same object if nothing changed. */
  readonly routes: RouteConfiguration;
  /** Patches that add virtual hosts. */
  readonly added: readonly CompiledPatch[];
}

/**
 * A route configuration with its virtual hosts. Order: merges, patches of virtual hosts, then additions, which are not
 * patched. Removing a virtual host also removes an added virtual host of the same name.
 *
 * @param fitting {@linkcode patchesOfRoutes}
 */
export function patchRouteConfiguration(
  routes: RouteConfiguration,
  fitting: readonly CompiledPatch[],
  report: ReportPatch,
): PatchedRouteConfiguration {
  let now = routes;
  for (const patch of fitting) {
    if (patch.applyTo !== "ROUTE_CONFIGURATION" || patch.operation !== "MERGE") continue;
    now = attempted(patch, now, report, (old) => {
      return mergedUnderName(PATCHED_MESSAGE.ROUTE_CONFIGURATION, { ...old }, patch.value);
    });
  }
  const before = now.virtual_hosts ?? [];
  const removed = new Set<string>();
  const kept = before.flatMap((virtualHost) => {
    const patched = patchVirtualHost(virtualHost, fitting, report);
    if (patched === undefined) removed.add(virtualHost.name ?? "");
    return patched ?? [];
  });
  const added = fitting.filter(({ applyTo, operation, value }) => {
    return applyTo === "VIRTUAL_HOST" && operation === "ADD" && !removed.has((value as VirtualHost).name ?? "");
  });
  for (const patch of added) report({ patch });
  const same = kept.length === before.length && kept.every((virtualHost, i) => virtualHost === before[i]);
  return { added, routes: same ? now : { ...now, virtual_hosts: kept } };
}

/**
 * A virtual host with matching patches applied. A replacement's routes are patched, too. A replacement keeps the
 * original name, which identifies the virtual host for VHDS.
 *
 * @param fitting {@linkcode patchesOfRoutes}
 * @returns The same object if no patch matches. Undefined for a removed virtual host. The removal includes an added
 * virtual host of the same name.
 */
export function patchVirtualHost(
  virtualHost: VirtualHost,
  fitting: readonly CompiledPatch[],
  report: ReportPatch,
): VirtualHost | undefined {
  let now = virtualHost;
  for (const patch of fitting) {
    if (patch.applyTo !== "VIRTUAL_HOST" || !matchesVirtualHost(now, patch)) continue;
    if (patch.operation === "REMOVE") {
      report({ patch });
      return undefined;
    }
    now = attempted(patch, now, report, (before) => {
      if (patch.operation === "REPLACE") return patch.value as VirtualHost;
      return patch.operation === "MERGE"
        ? mergedUnderName(PATCHED_MESSAGE.VIRTUAL_HOST, { ...before }, patch.value)
        : before;
    });
  }
  const own = fitting.filter((patch) => patch.applyTo === "HTTP_ROUTE" && matchesVirtualHost(now, patch));
  const before = now.routes ?? [];
  const routes = own.length === 0 ? before : patchRoutes(before, own, report);
  if (routes !== before) return { ...now, name: virtualHost.name!, routes: [...routes] };
  return now === virtualHost ? now : { ...now, name: virtualHost.name! };
}

/** First merges and removals, route by route, then additions. Insertions ignore removed routes. */
function patchRoutes(
  before: readonly Route[],
  patches: readonly CompiledPatch[],
  report: ReportPatch,
): readonly Route[] {
  const removed = new Set<Route>();
  let now: readonly Route[] = before.map((route) => {
    let changed = route;
    for (const patch of patches) {
      if (soughtRoute(patch)?.(changed) === false) continue;
      if (patch.operation === "REMOVE") {
        report({ patch });
        removed.add(changed);
        break;
      }
      if (patch.operation !== "MERGE") continue;
      changed = attempted(patch, changed, report, (old) => merged(PATCHED_MESSAGE.HTTP_ROUTE, { ...old }, patch.value));
    }
    return changed;
  });
  if (removed.size === 0 && now.every((route, i) => route === before[i])) now = before;
  for (const patch of patches) {
    const old = now;
    now = withAdded(old, patch, removed);
    if (now !== old) report({ patch });
  }
  return removed.size === 0 ? now : now.filter((route) => !removed.has(route));
}

/** INSERT_FIRST has an effect only if the match of routes succeeds. */
function withAdded(routes: readonly Route[], patch: CompiledPatch, removed: ReadonlySet<Route>): readonly Route[] {
  const { operation } = patch;
  if (operation !== "ADD" && !operation.startsWith("INSERT_")) return routes;
  const sought = soughtRoute(patch);
  if (sought === undefined) return patchedList(routes, patch, {});
  const matches = (route: Route) => !removed.has(route) && sought(route);
  if (operation === "INSERT_FIRST" && !routes.some(matches)) return routes;
  return patchedList(routes, patch, { matches });
}
