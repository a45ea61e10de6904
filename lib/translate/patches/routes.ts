/**
 * Patches of routes that proxies request by name. Virtual hosts are patched when built, each separately. Virtual hosts
 * added by patches belong to the route configuration, and travel inside the route configuration even with VHDS.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { PatchedRoutes } from "../../patches/route_match.ts";
import { patchesOfRoutes, patchRouteConfiguration, patchVirtualHost } from "../../patches/routes.ts";
import type { PatchContext } from "../../patches/types.ts";
import type { Built } from "../message/built.ts";
import type { ReportNote } from "../message/notes.ts";
import { NO_PATCHES } from "../reader/patch_selection.ts";
import type { Reader } from "../reader/reader.ts";
import { AppliedPatches } from "./applied.ts";

type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;
type VirtualHost = envoy.config.route.v3.VirtualHost;

/** A route configuration without separately built virtual hosts. */
export interface PatchedBareRoutes {
  readonly built: Built<RouteConfiguration>;
  /** Virtual hosts that patches add to the route configuration. */
  readonly added: readonly Built<VirtualHost>[];
  /**
   * The virtual host of unknown hosts. The proxy asks for virtual hosts, and a virtual host for all others inside the
   * route configuration would keep it from asking. Absent: the proxy has the virtual host, if there is one.
   */
  readonly catchAll?: VirtualHost;
}

/** Facts about a route configuration beside its name. */
export interface RoutesPlace {
  readonly context: PatchContext;
  /** See {@linkcode PatchedRoutes.servicePorts}. */
  readonly servicePorts?: readonly number[];
  /** See {@linkcode PatchedRoutes.servers}. */
  readonly servers?: NonNullable<PatchedRoutes["servers"]>;
}

/** Patches a route configuration, and collects the added virtual hosts. */
export function patchBareRoutes(
  read: Reader,
  built: Built<RouteConfiguration>,
  place: RoutesPlace,
  report: ReportNote,
): PatchedBareRoutes {
  const fitting = fittingPatches(read, built.message.name ?? "", place);
  if (fitting.length === 0) return { built, added: [] };
  const applied = new AppliedPatches(report);
  const { routes, added } = patchRouteConfiguration(built.message, fitting, applied.note);
  return {
    built: applied.none ? built : applied.to(built, routes),
    added: added.map(({ value, filter, needsApi }) => ({ message: value as VirtualHost, causes: [filter], needsApi })),
  };
}

/**
 * Patches a virtual host of a route configuration. Empty when a patch removed the virtual host. If a patch replaces the
 * virtual host, the old causes are dropped: their settings are not in force there.
 */
export function patchedVirtualHost(
  read: Reader,
  routeConfiguration: string,
  built: Built<VirtualHost>,
  place: RoutesPlace,
  report: ReportNote,
): readonly Built<VirtualHost>[] {
  const fitting = fittingPatches(read, routeConfiguration, place);
  if (fitting.length === 0) return [built];
  const applied = new AppliedPatches(report);
  const message = patchVirtualHost(built.message, fitting, applied.note);
  if (message === undefined) return [];
  if (message === built.message) return [built];
  return [applied.to(applied.replacedHost ? { ...built, causes: [], parts: [] } : built, message)];
}

function fittingPatches(read: Reader, name: string, place: RoutesPlace): ReturnType<typeof patchesOfRoutes> {
  const patches = read.patches("routes");
  if (patches === NO_PATCHES) return NO_PATCHES;
  const of: PatchedRoutes = { ...place, name };
  return patchesOfRoutes(patches, of);
}

/** An added virtual host that lost a domain to another virtual host. */
export interface LostDomain {
  readonly domain: string;
  readonly owner: string;
  readonly loser: Built<VirtualHost>;
}

/** Inputs to the decision about added virtual hosts. */
export interface OtherVirtualHosts {
  /** Whether a patch removed the virtual host of a name. */
  readonly removed: (name: string) => boolean;
  /** The virtual host that owns a domain. */
  readonly owner: (domain: string) => string | undefined;
}

/**
 * A route configuration with the virtual hosts that patches add. Envoy refuses a repeated domain, so earlier owners
 * keep their domains.
 */
export function withAddedVirtualHosts(
  { built, added }: PatchedBareRoutes,
  { removed, owner }: OtherVirtualHosts,
): { readonly built: Built<RouteConfiguration>; readonly lost: readonly LostDomain[] } {
  const own = built.message.virtual_hosts ?? [];
  const owners = new Map(
    own.flatMap(({ domains = [], name = "" }) => domains.map((domain) => [domain, name] as const)),
  );
  const lost: LostDomain[] = [];
  const kept = added.flatMap((one) => {
    const { message } = one;
    if (removed(message.name ?? "")) return [];
    const domains = (message.domains ?? []).filter((domain) => {
      const taken = owners.get(domain) ?? owner(domain);
      if (taken === undefined) owners.set(domain, message.name ?? "");
      else lost.push({ domain, owner: taken, loser: one });
      return taken === undefined;
    });
    return domains.length === 0 ? [] : [{ ...one, message: { ...message, domains } }];
  });
  if (kept.length === 0) return { built, lost };
  const message = { ...built.message, virtual_hosts: [...own, ...kept.map(({ message }) => message)] };
  return { lost, built: { ...built, message, needsApi: [built, ...kept].some(({ needsApi }) => needsApi) } };
}
