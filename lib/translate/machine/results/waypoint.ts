/**
 * Results of waypoints: chains and routes of services, the listeners, and the way to workloads.
 *
 * @module
 */
import type { Service } from "../../../registry/types.ts";
import type { EncodedResource } from "../../../resource/encoded.ts";
import type { ResourceSet } from "../../../resource/set.ts";
import {
  encodeCluster,
  encodeInlineRouteConfiguration,
  encodeListenerOfChains,
  encodeRouteConfiguration,
  encodeSecrets,
  encodeVirtualHost,
} from "../../encode/encode.ts";
import { MAIN_INTERNAL } from "../../hbone/names.ts";
import { reported } from "../../message/finding.ts";
import type { ReportNote } from "../../message/notes.ts";
import { listenerPatching } from "../../patches/apply.ts";
import { patchBareRoutes, patchedVirtualHost, withAddedVirtualHosts } from "../../patches/routes.ts";
import type { OpenReader, Reader } from "../../reader/reader.ts";
import { isNetworkGateway } from "../../reader/waypoint_role.ts";
import { directClusters } from "../../cluster/hbone.ts";
import { mainInternalListener } from "../../listener/hbone/main_internal.ts";
import { connectRoutes } from "../../listener/hbone/terminate.ts";
import { clusterPatching } from "../../patches/apply.ts";
import { type ServiceChains, serviceChains } from "../../waypoint/chains.ts";
import { directChains, directGroups, servesWorkloads } from "../../waypoint/direct.ts";
import { idlePatches } from "../../waypoint/idle_patches.ts";
import { routesConnects, waypointListeners } from "../../waypoint/listeners.ts";
import { serviceRoutes } from "../../waypoint/routes.ts";
import { type ForwardingRoutes, forwardingRoutes, namedServices } from "../../waypoint/tunnel_routes.ts";
import type { InboundSets } from "./sets.ts";

/** The chains of a service, after the patches that name the service or its waypoint. */
export function patchedServiceChains(read: OpenReader, service: Service, report: ReportNote): ServiceChains {
  const { built, findings } = serviceChains(read, service);
  for (const finding of findings) report(finding);
  const { chains, causes } = built;
  for (const finding of idlePatches(read)) report(finding);
  if (chains.length === 0) return built;
  // Patches see the listener with the chains of one service: a patch for a service must not reach others.
  const message = { name: MAIN_INTERNAL, internal_listener: {}, filter_chains: [...chains] };
  const [patched] = listenerPatching(read, report, "SIDECAR_INBOUND")({ message, causes });
  return {
    ...built,
    chains: patched?.message.filter_chains ?? [],
    causes: patched?.causes ?? causes,
    needsApi: patched?.needsApi ?? false,
  };
}

/** The route configurations of a service. */
export function waypointRoutes(read: OpenReader, service: Service, report: ReportNote): readonly EncodedResource[] {
  const place = { context: "SIDECAR_INBOUND" } as const;
  return serviceRoutes(read, service).map(({ bare, virtualHost, port }) => {
    const name = bare.message.name ?? "";
    const of = { ...place, servicePorts: [port] };
    const routes = patchBareRoutes(read, bare, of, report);
    const [host] = patchedVirtualHost(read, name, reported("not-as-written", report)(virtualHost), of, report);
    const taken = new Set(host?.message.domains);
    const { built } = withAddedVirtualHosts(routes, {
      removed: (one) => host === undefined && one === virtualHost.message.name,
      owner: (domain) => taken.has(domain) ? host?.message.name : undefined,
    });
    return host === undefined
      ? encodeRouteConfiguration(built)
      : encodeInlineRouteConfiguration(built, [encodeVirtualHost(name, host)], host.parts);
  });
}

/** The listeners of a waypoint, and the cluster between them. */
export function waypointSets(
  read: Reader,
  services: readonly ServiceChains[],
  empty: ResourceSet,
  report: ReportNote,
): InboundSets {
  const { listeners, clusters, findings } = waypointListeners(read, services);
  for (const finding of [...findings, ...idlePatches(read)]) report(finding);
  return {
    secrets: empty.with(encodeSecrets(listeners)),
    clusters: empty.with(clusters.map(encodeCluster)),
    listeners: empty.with(listeners.map(encodeListenerOfChains)),
  };
}

/** The listeners of a waypoint for connections to addresses of workloads, and their clusters. */
export function directSets(read: Reader, empty: ResourceSet, report: ReportNote): InboundSets {
  const { listeners, causes, findings } = directChains(read);
  for (const finding of findings) report(finding);
  if (listeners.length === 0) return { secrets: empty, clusters: empty, listeners: empty };
  const patch = listenerPatching(read, report, "SIDECAR_INBOUND");
  const patched = listeners.map(({ listener, chains }) => {
    const whole = { name: MAIN_INTERNAL, internal_listener: {}, filter_chains: [...chains] };
    const [now] = patch({ message: whole, causes });
    const message = mainInternalListener(read, now?.message.filter_chains ?? [], listener);
    return { message, causes: now?.causes ?? causes, needsApi: now?.needsApi ?? false };
  });
  const sides = clusterPatching(read, report, () => ({ context: "SIDECAR_INBOUND", hosts: [] }));
  return {
    secrets: empty,
    clusters: empty.with(directClusters(read).flatMap(sides).map(encodeCluster)),
    listeners: empty.with(
      patched.filter(({ message }) => (message.filter_chains?.length ?? 0) > 0).map(encodeListenerOfChains),
    ),
  };
}

/**
 * The route configuration of CONNECTs, by which a waypoint tells connections to workloads from connections to services, and
 * knows the names of services. Empty: the listener has the routes.
 */
export function tunnelRoutes(read: Reader, report: ReportNote): readonly EncodedResource[] {
  const { routes, findings } = isNetworkGateway(read) ? forwardingRoutes(read) : waypointTunnelRoutes(read);
  for (const finding of findings) report(finding);
  return routes === undefined ? [] : [encodeRouteConfiguration(routes)];
}

function waypointTunnelRoutes(read: Reader): Partial<ForwardingRoutes> & Pick<ForwardingRoutes, "findings"> {
  if (!routesConnects(read)) return { findings: [] };
  const { groups, findings } = servesWorkloads(read) ? directGroups(read) : { groups: [], findings: [] };
  return { routes: { message: connectRoutes(groups, namedServices(read)), causes: [] }, findings };
}
