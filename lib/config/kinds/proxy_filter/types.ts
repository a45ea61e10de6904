/**
 * ProxyFilter (EnvoyFilter in the peer's spelling): patches of the generated proxy configuration.
 *
 * @module
 */
import type { JsonObject, LabelsSelector, PolicyTargetReference, StringMap } from "../common/types.ts";

/** Spec of a ProxyFilter. */
export interface ProxyFilterSpec {
  /** Absent: all proxies of the namespace (of the mesh, in the root namespace). */
  readonly workloadSelector?: LabelsSelector;
  readonly targetRefs?: readonly PolicyTargetReference[];
  readonly configPatches?: readonly ConfigPatch[];
  /** Lower is applied first; may be negative; absent: 0. */
  readonly priority?: number;
}

/** What is patched. */
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
  readonly match?: ConfigObjectMatch;
  readonly patch?: Patch;
}

/** Which generated objects; at most one of listener, routeConfiguration, cluster. */
export interface ConfigObjectMatch {
  /** Default ANY. */
  readonly context: "ANY" | "SIDECAR_INBOUND" | "SIDECAR_OUTBOUND" | "GATEWAY";
  readonly proxy?: { readonly proxyVersion?: string; readonly metadata?: StringMap };
  readonly listener?: ListenerMatch;
  readonly routeConfiguration?: RouteConfigurationMatch;
  readonly cluster?: ClusterMatch;
}

/** Clusters. */
export interface ClusterMatch {
  readonly portNumber?: number;
  readonly service?: string;
  readonly subset?: string;
  readonly name?: string;
}

/** Route configurations. */
export interface RouteConfigurationMatch {
  readonly portNumber?: number;
  readonly portName?: string;
  /** `namespace/name`. */
  readonly gateway?: string;
  readonly vhost?: VirtualHostMatch;
  readonly name?: string;
}

/** Virtual hosts inside a route configuration. */
export interface VirtualHostMatch {
  readonly name?: string;
  readonly domainName?: string;
  readonly route?: RouteMatch;
}

/** Routes inside a virtual host. */
export interface RouteMatch {
  readonly name?: string;
  /** Default ANY. */
  readonly action: "ANY" | "ROUTE" | "REDIRECT" | "DIRECT_RESPONSE";
}

/** Listeners. */
export interface ListenerMatch {
  readonly portNumber?: number;
  readonly portName?: string;
  readonly filterChain?: FilterChainMatch;
  readonly listenerFilter?: string;
  readonly name?: string;
}

/** Filter chains inside a listener. */
export interface FilterChainMatch {
  readonly name?: string;
  readonly sni?: string;
  readonly transportProtocol?: string;
  /** Comma separated. */
  readonly applicationProtocols?: string;
  readonly filter?: { readonly name?: string; readonly subFilter?: { readonly name?: string } };
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
  /** Default UNSPECIFIED. */
  readonly filterClass: "UNSPECIFIED" | "AUTHN" | "AUTHZ" | "STATS";
}
