/**
 * Resources of a proxy from lists of messages, for tests.
 * @module
 */
import type { ProxyResources } from "../../lib/simulate/mod.ts";
import type { envoy } from "../../proto/gen/types.ts";

/** Messages by kind. */
export interface Messages {
  readonly listeners?: readonly envoy.config.listener.v3.Listener[];
  readonly routes?: readonly envoy.config.route.v3.RouteConfiguration[];
  /** By resource name. */
  readonly virtualHosts?: Readonly<Record<string, envoy.config.route.v3.VirtualHost>>;
  readonly clusters?: readonly envoy.config.cluster.v3.Cluster[];
  readonly assignments?: readonly envoy.config.endpoint.v3.ClusterLoadAssignment[];
  readonly extensions?: readonly envoy.config.core.v3.TypedExtensionConfig[];
}

/** The messages by name. */
export function resourcesOf(messages: Messages): ProxyResources {
  return {
    listeners: new Map((messages.listeners ?? []).map((message) => [message.name ?? "", message])),
    routes: new Map((messages.routes ?? []).map((message) => [message.name ?? "", message])),
    virtualHosts: new Map(Object.entries(messages.virtualHosts ?? {})),
    clusters: new Map((messages.clusters ?? []).map((message) => [message.name ?? "", message])),
    extensions: new Map((messages.extensions ?? []).map((message) => [message.name ?? "", message])),
    assignments: new Map((messages.assignments ?? []).map((message) => [message.cluster_name ?? "", message])),
  };
}
