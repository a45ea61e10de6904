/**
 * Outbound virtual hosts and bare route configurations, encoded.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { EncodedResource } from "../../resource/encoded.ts";
import type { Built } from "../message/built.ts";
import type { PatchedBareRoutes } from "../patches/routes.ts";
import type { OutboundVirtualHost } from "../route/sidecar.ts";
import { encodeRouteConfiguration, encodeVirtualHost } from "./encode.ts";

type VirtualHost = envoy.config.route.v3.VirtualHost;

/** A virtual host of a route configuration, built and encoded. */
export interface VirtualHostEntry {
  readonly routeConfiguration: string;
  readonly name: string;
  readonly domains: readonly string[];
  /** Age of the source in ms since the epoch. If two virtual hosts want the same domain, the older gets the domain. */
  readonly creationTimestamp: number;
  /** Absent: a patch removed the virtual host. */
  readonly resource?: EncodedResource;
  /** The source for a second encoding when another virtual host owns some of the domains. */
  readonly built: Built<VirtualHost>;
}

/**
 * Encodes built virtual hosts.
 *
 * @param patch Changes a virtual host of a route configuration. An empty result removes the virtual host.
 */
export function encodeEntries(
  built: readonly OutboundVirtualHost[],
  patch: (routeConfiguration: string, built: Built<VirtualHost>) => readonly Built<VirtualHost>[],
): VirtualHostEntry[] {
  return built.map(({ routeConfiguration, virtualHost: message, causes, parts, creationTimestamp }) => {
    const before: Built<VirtualHost> = { message, causes, parts };
    const [after] = patch(routeConfiguration, before);
    const entry = { routeConfiguration, creationTimestamp, name: message.name ?? "" };
    if (after === undefined) return { ...entry, domains: [], built: before };
    const { message: { domains = [] } } = after;
    return { ...entry, domains, resource: encodeVirtualHost(routeConfiguration, after), built: after };
  });
}

/** A route configuration without the virtual hosts of its hosts, built and encoded. */
export interface BareRouteConfiguration extends PatchedBareRoutes {
  /** Also without the virtual hosts that patches add. */
  readonly resource: EncodedResource;
}

/** Encodes a built route configuration. */
export function encodeBareRoute(bare: PatchedBareRoutes): BareRouteConfiguration {
  return { ...bare, resource: encodeRouteConfiguration(bare.built) };
}
