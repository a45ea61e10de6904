/**
 * ProxyFilter (EnvoyFilter in Istio's spelling): patches of the generated proxy configuration.
 *
 * @module
 */
import type { JsonObject, LabelsSelector, PolicyTargetReference, StringMap } from "../common/types.ts";

/** Spec of a ProxyFilter. */
export interface ProxyFilterSpec {
  /** Absent: all proxies of the namespace (of the mesh, in the root namespace). */
  readonly workloadSelector?: LabelsSelector;
  /** Objects of the namespace that stand for the workloads instead of a selector. */
  readonly targetRefs?: readonly PolicyTargetReference[];
  /** The patches, applied in order. */
  readonly configPatches?: readonly ConfigPatch[];
  /** Lower is applied first; may be negative; absent: 0. */
  readonly priority?: number;
}

/** The part of the configuration that a patch is for. */
export type ApplyTo =
  | "INVALID"
  | "LISTENER"
  | "FILTER_CHAIN"
  | "NETWORK_FILTER"
  | "HTTP_FILTER"
  | "ROUTE_CONFIGURATION"
  | "VIRTUAL_HOST"
  | "HTTP_ROUTE"
  | "CLUSTER"
  | "EXTENSION_CONFIG"
  | "BOOTSTRAP"
  | "LISTENER_FILTER";

/** One patch. */
export interface ConfigPatch {
  /** Default INVALID, which validation refuses. */
  readonly applyTo: ApplyTo;
  /** Selects the parts that are patched; absent: all of that kind. */
  readonly match?: ConfigObjectMatch;
  /** The change. */
  readonly patch?: Patch;
}

/** Selects generated objects; at most one of listener, routeConfiguration, cluster is set. */
export interface ConfigObjectMatch {
  /** Default ANY. */
  readonly context: "ANY" | "SIDECAR_INBOUND" | "SIDECAR_OUTBOUND" | "GATEWAY";
  /** Properties of the proxy. */
  readonly proxy?: {
    /** Regular expression for the proxy's version. */
    readonly proxyVersion?: string;
    /** Node metadata that the proxy must have, all of it. */
    readonly metadata?: StringMap;
  };
  /** Properties of the listener and of its parts. */
  readonly listener?: ListenerMatch;
  /** Properties of the route configuration and of its parts. */
  readonly routeConfiguration?: RouteConfigurationMatch;
  /** Properties of the cluster. */
  readonly cluster?: ClusterMatch;
}

/** Clusters. */
export interface ClusterMatch {
  /** Port of the service. */
  readonly portNumber?: number;
  /** Host of the service. */
  readonly service?: string;
  /** Name of the subset. */
  readonly subset?: string;
  /** Name of the cluster. */
  readonly name?: string;
}

/** Route configurations. */
export interface RouteConfigurationMatch {
  /** Port that the routes are for. */
  readonly portNumber?: number;
  /** Name of a gateway's port. */
  readonly portName?: string;
  /** `namespace/name`. */
  readonly gateway?: string;
  /** The virtual host. */
  readonly vhost?: VirtualHostMatch;
  /** Name of the route configuration. */
  readonly name?: string;
}

/** Virtual hosts inside a route configuration. */
export interface VirtualHostMatch {
  /** Name of the virtual host. */
  readonly name?: string;
  /** A domain of the virtual host. */
  readonly domainName?: string;
  /** The route in it. */
  readonly route?: RouteMatch;
}

/** Routes inside a virtual host. */
export interface RouteMatch {
  /** Name of the route. */
  readonly name?: string;
  /** Default ANY. */
  readonly action: "ANY" | "ROUTE" | "REDIRECT" | "DIRECT_RESPONSE";
}

/** Listeners. */
export interface ListenerMatch {
  /** Port of the listener. */
  readonly portNumber?: number;
  /** Not used; port names do not identify listeners. */
  readonly portName?: string;
  /** The filter chain in it. */
  readonly filterChain?: FilterChainMatch;
  /** Name of a listener filter. */
  readonly listenerFilter?: string;
  /** Name of the listener. */
  readonly name?: string;
}

/** Filter chains inside a listener. */
export interface FilterChainMatch {
  /** Name of the filter chain. */
  readonly name?: string;
  /** Server name that the chain is for. */
  readonly sni?: string;
  /** `raw_buffer` or `tls`. */
  readonly transportProtocol?: string;
  /** Comma separated. */
  readonly applicationProtocols?: string;
  /** The network filter in it. */
  readonly filter?: {
    /** Name of the filter. */
    readonly name?: string;
    /** The filter inside that filter. */
    readonly subFilter?: {
      /** Name of the filter. */
      readonly name?: string;
    };
  };
  /** Destination port that the chain is for. */
  readonly destinationPort?: number;
}

/** Patch operations. */
export type PatchOperation =
  | "INVALID"
  | "MERGE"
  | "ADD"
  | "REMOVE"
  | "INSERT_BEFORE"
  | "INSERT_AFTER"
  | "INSERT_FIRST"
  | "REPLACE";

/** The patch itself. */
export interface Patch {
  /** Default INVALID, which validation refuses. */
  readonly operation: PatchOperation;
  /** Proxy configuration as JSON, field names as in the proxy's API (either case). */
  readonly value?: JsonObject;
  /** Default UNSPECIFIED. Without effect: the operation and the match say where a filter comes. */
  readonly filterClass: "UNSPECIFIED" | "AUTHN" | "AUTHZ" | "STATS";
}
