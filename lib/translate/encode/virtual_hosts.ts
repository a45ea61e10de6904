/**
 * Outbound virtual hosts and bare route configurations, encoded.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { EncodedResource } from "../../resource/encoded.ts";
import type { Built } from "../message/built.ts";
import type { OutboundVirtualHost } from "../route/sidecar.ts";
import { encodeRouteConfiguration, encodeVirtualHost } from "./encode.ts";

/** One virtual host of one route configuration, built and encoded. */
export interface VirtualHostEntry {
  readonly routeConfiguration: string;
  readonly name: string;
  readonly domains: readonly string[];
  /** The older of two that want one domain gets it; ms since the epoch. */
  readonly creationTimestamp: number;
  readonly resource: EncodedResource;
  /** To encode it again where another virtual host owns some of its domains. */
  readonly message: envoy.config.route.v3.VirtualHost;
}

/** Encodes what a builder gave. */
export function encodeEntries(built: readonly OutboundVirtualHost[]): VirtualHostEntry[] {
  return built.map(({ routeConfiguration, virtualHost, causes, creationTimestamp }) => ({
    routeConfiguration,
    name: virtualHost.name ?? "",
    domains: virtualHost.domains ?? [],
    creationTimestamp,
    resource: encodeVirtualHost(routeConfiguration, virtualHost, causes),
    message: virtualHost,
  }));
}

/** A route configuration without the virtual hosts of its hosts, built and encoded. */
export interface BareRouteConfiguration {
  readonly built: Built<envoy.config.route.v3.RouteConfiguration>;
  readonly resource: EncodedResource;
}

/** Encodes what a builder gave. */
export function encodeBareRoute(built: Built<envoy.config.route.v3.RouteConfiguration>): BareRouteConfiguration {
  return { built, resource: encodeRouteConfiguration(built) };
}
