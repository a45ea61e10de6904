/**
 * ProxyFilter (EnvoyFilter in Istio's spelling): patches of the generated proxy configuration.
 *
 * @module
 */
import { list, stringMap, struct } from "../../schema/containers.ts";
import { withDefault } from "../../schema/field.ts";
import { message, type Of } from "../../schema/message.ts";
import { enumOf, int32, string, uint32 } from "../../schema/scalars.ts";
import { labelsSelector, targetReference } from "../common/schema.ts";

const filterChainMatch = message({
  /** Name of the filter chain. */
  name: string(),
  /** Server name of the chain. */
  sni: string(),
  /** `raw_buffer` or `tls`. */
  transportProtocol: string(),
  /** Comma separated. */
  applicationProtocols: string(),
  /** The network filter of the chain. */
  filter: message({
    /** Name of the filter. */
    name: string(),
    /** The filter inside the network filter. */
    subFilter: message({
      /** Name of the filter. */
      name: string(),
    }),
  }),
  /** Destination port of the chain. */
  destinationPort: uint32(),
});

/** Filter chains inside a listener. */
export interface FilterChainMatch extends Of<typeof filterChainMatch> {}

const listenerMatch = message({
  /** Port of the listener. */
  portNumber: uint32(),
  /** Not used; port names do not identify listeners. */
  portName: string(),
  /** The filter chain of the listener. */
  filterChain: filterChainMatch,
  /** Name of a listener filter. */
  listenerFilter: string(),
  /** Name of the listener. */
  name: string(),
});

/** Listeners. */
export interface ListenerMatch extends Of<typeof listenerMatch> {}

const routeMatch = message({
  /** Name of the route. */
  name: string(),
  /** Default ANY. */
  action: withDefault(enumOf("ANY", "ROUTE", "REDIRECT", "DIRECT_RESPONSE"), "ANY"),
});

/** Routes inside a virtual host. */
export interface RouteMatch extends Of<typeof routeMatch> {}

const virtualHostMatch = message({
  /** Name of the virtual host. */
  name: string(),
  /** A domain of the virtual host. */
  domainName: string(),
  /** The route of the virtual host. */
  route: routeMatch,
});

/** Virtual hosts inside a route configuration. */
export interface VirtualHostMatch extends Of<typeof virtualHostMatch> {}

const routeConfigurationMatch = message({
  /** Port of the routes. */
  portNumber: uint32(),
  /** Name of a gateway's port. */
  portName: string(),
  /** `namespace/name`. */
  gateway: string(),
  /** The virtual host. */
  vhost: virtualHostMatch,
  /** Name of the route configuration. */
  name: string(),
});

/** Route configurations. */
export interface RouteConfigurationMatch extends Of<typeof routeConfigurationMatch> {}

const clusterMatch = message({
  /** Port of the service. */
  portNumber: uint32(),
  /** Host of the service. */
  service: string(),
  /** Name of the subset. */
  subset: string(),
  /** Name of the cluster. */
  name: string(),
});

/** Clusters. */
export interface ClusterMatch extends Of<typeof clusterMatch> {}

const match = message(
  {
    /** Default ANY. */
    context: withDefault(enumOf("ANY", "SIDECAR_INBOUND", "SIDECAR_OUTBOUND", "GATEWAY"), "ANY"),
    /** Properties of the proxy. */
    proxy: message({
      /** Regular expression for the proxy's version. */
      proxyVersion: string(),
      /** Required node metadata of the proxy. */
      metadata: stringMap(),
    }),
    /** Properties of the listener and of its parts. */
    listener: listenerMatch,
    /** Properties of the route configuration and of its parts. */
    routeConfiguration: routeConfigurationMatch,
    /** Properties of the cluster. */
    cluster: clusterMatch,
  },
  { oneOf: [["listener", "routeConfiguration", "cluster"]] },
);

/** Selects generated objects; at most one of listener, routeConfiguration, cluster is set. */
export interface ConfigObjectMatch extends Of<typeof match> {}

const patch = message({
  /** Default INVALID, which validation refuses. */
  operation: withDefault(
    enumOf("INVALID", "MERGE", "ADD", "REMOVE", "INSERT_BEFORE", "INSERT_AFTER", "INSERT_FIRST", "REPLACE"),
    "INVALID",
  ),
  /** Proxy configuration as JSON, field names as in the proxy's API (either case). */
  value: struct(),
  /** Default UNSPECIFIED. Without effect: the operation and the match say where a filter comes. */
  filterClass: withDefault(enumOf("UNSPECIFIED", "AUTHN", "AUTHZ", "STATS"), "UNSPECIFIED"),
});

/** The operation and value of a patch. */
export interface Patch extends Of<typeof patch> {}

const configPatch = message({
  /** Default INVALID, which validation refuses. */
  applyTo: withDefault(
    enumOf(
      "INVALID",
      "LISTENER",
      "FILTER_CHAIN",
      "NETWORK_FILTER",
      "HTTP_FILTER",
      "ROUTE_CONFIGURATION",
      "VIRTUAL_HOST",
      "HTTP_ROUTE",
      "CLUSTER",
      "EXTENSION_CONFIG",
      "BOOTSTRAP",
      "LISTENER_FILTER",
    ),
    "INVALID",
  ),
  /** Selects the patched parts; absent: all parts of the kind. */
  match,
  /** The change. */
  patch,
});

/** A patch with its target. */
export interface ConfigPatch extends Of<typeof configPatch> {}

export const proxyFilter = message({
  /** Absent: all proxies of the namespace (of the mesh, in the root namespace). */
  workloadSelector: labelsSelector,
  /** Objects of the namespace that stand for the workloads instead of a selector. */
  targetRefs: list(targetReference),
  /** The patches, applied in order. */
  configPatches: list(configPatch),
  /** Lower is applied first; may be negative; absent: 0. */
  priority: int32(),
});

/** Spec of a ProxyFilter. */
export interface ProxyFilterSpec extends Of<typeof proxyFilter> {}

/** The part of the configuration that a patch changes. */
export type ApplyTo = ConfigPatch["applyTo"];

/** Patch operations. */
export type PatchOperation = Patch["operation"];
