/**
 * Patches routes inside a listener, such as routes of inbound ports.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { decodeApi, encodeApi, packedName } from "../../pb/envoy_api.ts";
import { joinedParts, withParts } from "../../pb/joined_any.ts";
import { bytesOf } from "../../pb/merge.ts";
import { takeField } from "../../pb/one_field.ts";
import { MANAGER } from "../../patches/chain.ts";
import { patchesOfRoutes, patchRouteConfiguration } from "../../patches/routes.ts";
import { PatchedContents, PatchedParts } from "../../patches/patched_parts.ts";
import { type CompiledPatch, isFor, type PatchContext, type ReportPatch } from "../../patches/types.ts";

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;
type Filter = envoy.config.listener.v3.Filter;
type HttpConnectionManager = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;
type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;

/** A listener with patched inner routes. The same object if no patch matches. */
export function patchInlineRoutes(
  listener: Listener,
  patches: readonly CompiledPatch[],
  context: PatchContext,
  report: ReportPatch,
): Listener {
  const fitting = patches.filter((patch) => isFor(patch, context));
  if (fitting.length === 0) return listener;
  const ofFilter = (filter: Filter) =>
    known[context].managers.patched(filter, fitting, report, (heard) => patchManager(filter, fitting, context, heard));
  const ofChain = (chain: FilterChain): FilterChain => {
    const filters = chain.filters?.map(ofFilter);
    return filters?.some((filter, i) => filter !== chain.filters![i]) ? { ...chain, filters } : chain;
  };
  const { filter_chains: chains, default_filter_chain: fallback } = listener;
  const now = chains?.map(ofChain);
  const nowFallback = fallback && ofChain(fallback);
  if (nowFallback === fallback && !now?.some((chain, i) => chain !== chains![i])) return listener;
  return {
    ...listener,
    ...(now ? { filter_chains: now } : {}),
    ...(nowFallback ? { default_filter_chain: nowFallback } : {}),
  };
}

/** Results by side, because a patch selects routes by side. */
const known: { readonly [C in PatchContext]: KnownRoutes } = {
  SIDECAR_INBOUND: knownRoutes(),
  SIDECAR_OUTBOUND: knownRoutes(),
  GATEWAY: knownRoutes(),
};

interface KnownRoutes {
  readonly managers: PatchedParts<Filter>;
  readonly routes: PatchedContents;
}

function knownRoutes(): KnownRoutes {
  return { managers: new PatchedParts(), routes: new PatchedContents() };
}

/** Number of the field `route_config`. */
const ROUTE_CONFIG = 4;

/** Everything but the routes stays encoded. */
function patchManager(
  filter: Filter,
  patches: readonly CompiledPatch[],
  context: PatchContext,
  report: ReportPatch,
): Filter {
  const { typed_config: config } = filter;
  if (config === undefined || packedName(config) !== MANAGER) return filter;
  const parts = joinedParts(config);
  // Managers with shared fields keep their routes outside the shared fields.
  const taken = takeField(parts ? parts.own : bytesOf(config), ROUTE_CONFIG);
  if (taken.field.length === 0) return filter;
  const patched = known[context].routes.patched(taken.field, patches, report, (heard) => {
    const { route_config: routes } = decodeApi(MANAGER, taken.field) as HttpConnectionManager;
    const now = routes && patchWholeRoutes(routes, patches, context, heard);
    return now === routes ? undefined : encodeApi(MANAGER, { route_config: now });
  });
  if (patched === undefined) return filter;
  const value = taken.with(patched);
  const packed = parts ? withParts(config, { ...parts, own: value }) : { type_url: config.type_url!, value };
  return { ...filter, typed_config: packed };
}

/** Patches a route configuration with its virtual hosts. */
function patchWholeRoutes(
  routes: RouteConfiguration,
  patches: readonly CompiledPatch[],
  context: PatchContext,
  report: ReportPatch,
): RouteConfiguration {
  const fitting = patchesOfRoutes(patches, { context, name: routes.name ?? "" });
  if (fitting.length === 0) return routes;
  const { routes: patched, added } = patchRouteConfiguration(routes, fitting, report);
  if (added.length === 0) return patched;
  const virtualHosts = added.map(({ value }) => value as envoy.config.route.v3.VirtualHost);
  return { ...patched, virtual_hosts: [...patched.virtual_hosts ?? [], ...virtualHosts] };
}
