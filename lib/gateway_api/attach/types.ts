/**
 * The results of attachment as plain data: Gateways with their listeners, routes at their parents, and references of routes
 * to backends. Derivations and statuses read these results.
 *
 *     Gateway ──┐
 *     ListenerSets ─┴─> GatewayView ──> RouteAtParent <── route, parentRef
 *                                                         └──> ResolvedRoute
 *
 * @module
 */
import type { DerivationReader } from "../../config/derive/derivation.ts";
import type { ApiListener, ParentReference } from "../../config/kinds/kinds.ts";
import type { EndpointPicker } from "../../config/kinds/virtual_service/internal.ts";
import type { ConfigObject } from "../../config/types.ts";

/** How attachment reads objects and facts. */
export type AttachReader = Pick<DerivationReader, "object" | "objects" | "fact">;

/** How views of Gateways are read: also the ListenerSets of only one Gateway. */
export type ViewReader = AttachReader & Pick<DerivationReader, "members">;

/** Kinds of routes. */
export const ROUTE_KINDS = ["HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"] as const;

/** A kind of routes. */
export type RouteKind = (typeof ROUTE_KINDS)[number];

/** A route of any kind. */
export type ApiRoute = { [K in RouteKind]: ConfigObject<K> }[RouteKind];

/** An object with listeners. */
export type ListenerOwner = ConfigObject<"ApiGateway"> | ConfigObject<"ListenerSet">;

/** The decision of a condition, without its type and times. */
export interface ConditionVerdict {
  readonly status: "True" | "False" | "Unknown";
  /** A word of the Gateway API, such as `NoMatchingParent`. */
  readonly reason: string;
  /** For people. At most 32,768 characters, as in an API server. */
  readonly message: string;
}

/** What is wrong with a field of an object. */
export interface FieldFault {
  /** Path from the spec: `rules[0].backendRefs[1].port`. */
  readonly field: string;
  /** The written value; undefined: the field is absent. */
  readonly value: unknown;
  /** Follows the word "expected". */
  readonly expected: string;
}

/** Name of an object in a namespace. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * How a class is served.
 *
 * - `gateway`: proxies at the border of the mesh.
 * - `waypoint`: proxies in front of services (HBONE).
 * - `east-west`: proxies between networks (HBONE).
 * - `remote`: the Gateway describes a gateway of another cluster, and no proxy here.
 */
export type ClassRole = "gateway" | "waypoint" | "east-west" | "remote";

/** Settings of attachment. Two judgements with the same options object may share intermediate results. */
export interface AttachOptions {
  /** Roles by `controllerName` of GatewayClasses, in every accepted spelling. */
  readonly controllers: Readonly<Record<string, ClassRole>>;
  /** Controllers of the classes that need no GatewayClass, by name of the class. */
  readonly builtInClasses: Readonly<Record<string, string>>;
  /** The name in statuses of routes whose parent has no class, such as a Service. */
  readonly controllerName: string;
  /** DNS suffix of services, such as `cluster.local`. */
  readonly domain: string;
  /** DNS suffix of services that clusters of a set share, such as `clusterset.local`; absent: {@linkcode domain}. */
  readonly setDomain?: string;
  /** False: `spec.addresses` never names an existing service, and every Gateway is managed. */
  readonly allowsManualDeployment: boolean;
  /**
   * Whether a ServiceEntry of a cluster-local host counts as the Service of that name: true for folders of configuration
   * without Services.
   */
  readonly servicesFromEntries: boolean;
  /** Whether the experimental kinds (group `gateway.networking.x-k8s.io`) have an effect. */
  readonly experimental: boolean;
  /** Whether backends of HTTPRoutes may be InferencePools. */
  readonly inferencePools: boolean;
  /** Whether proxies have the filter that keeps requests of a session at one endpoint. */
  readonly keepsSessions: boolean;
}

/** Protocols of listeners. */
export const LISTENER_PROTOCOLS = ["HTTP", "HTTPS", "TLS", "TCP", "UDP", "HBONE"] as const;

/** A protocol of listeners. */
export type ListenerProtocol = (typeof LISTENER_PROTOCOLS)[number];

/**
 * How a listener authenticates clients.
 *
 * - `none`: a client needs no certificate.
 * - `required`: a client needs a certificate of an authority.
 * - `optional`: a client may present a certificate; a certificate must be of an authority.
 * - `unverified`: a client may present a certificate; nobody verifies the certificate (`AllowInsecureFallback`).
 */
export type ClientMode = "none" | "required" | "optional" | "unverified";

/** An object with certificates of authorities. */
export interface AuthorityObject extends NamespacedName {
  readonly kind: "ConfigMap" | "Secret";
}

/** TLS of a listener. */
export interface ListenerTlsView {
  readonly mode: "Terminate" | "Passthrough";
  /** Where the certificate of the listener comes from: Secrets, or the proxy's own identity in the mesh. */
  readonly certificateFrom: "secrets" | "mesh" | "none";
  /** Usable Secrets, in order of `certificateRefs`. */
  readonly certificates: readonly NamespacedName[];
  readonly clients: ClientMode;
  /**
   * Authorities that verify clients. Empty, and clients are verified: with a mesh identity the authorities of the mesh,
   * otherwise the authorities in the Secret of the first certificate.
   */
  readonly authorities: readonly AuthorityObject[];
  /** Cipher suites of the listener's options. Empty: the proxy's default. */
  readonly cipherSuites: readonly string[];
}

/** A listener with everything that configuration decides about it. */
export interface ListenerView {
  readonly owner: ListenerOwner;
  /** Position in the owner's `spec.listeners`. */
  readonly index: number;
  readonly spec: ApiListener;
  /** Undefined: unknown protocol. */
  readonly protocol: ListenerProtocol | undefined;
  /** The derived Gateway of the listener, in the namespace of {@linkcode GatewayView.gateway}. */
  readonly derived: NamespacedName;
  /** Kinds that may attach, as in `supportedKinds` of statuses. */
  readonly supportedKinds: readonly RouteKind[];
  readonly accepted: ConditionVerdict;
  readonly conflicted: ConditionVerdict;
  readonly resolvedRefs: ConditionVerdict;
  /** The verdict of configuration alone. The status may still say False, because a service or a proxy is missing. */
  readonly programmed: ConditionVerdict;
  /** Whether proxies serve the listener. False: nothing is derived from the listener. */
  readonly serves: boolean;
  /** Absent: plain text. */
  readonly tls?: ListenerTlsView;
  /** Whether the server names of connections say where the connections go (traffic between networks). */
  readonly autoPassthrough: boolean;
}

/** A ListenerSet whose parent is the Gateway. */
export interface ListenerSetView {
  readonly set: ConfigObject<"ListenerSet">;
  readonly accepted: ConditionVerdict;
  readonly programmed: ConditionVerdict;
  /** In order of spec; also of refused sets. */
  readonly listeners: readonly ListenerView[];
}

/** How a Gateway's proxies are found. */
export type GatewayAddressing =
  /** A Service that is made for the Gateway. `ignored`: addresses of unsupported types, as text. */
  | {
    readonly by: "managed";
    readonly service: NamespacedName;
    readonly host: string;
    readonly ignored: readonly string[];
  }
  /** Existing services, by full host names. */
  | { readonly by: "manual"; readonly hosts: readonly string[]; readonly ignored: readonly string[] }
  /** No proxies: a remote Gateway. */
  | { readonly by: "remote" };

/** A Gateway with everything that configuration decides about it. */
export interface GatewayView {
  readonly gateway: ConfigObject<"ApiGateway">;
  readonly role: ClassRole;
  /** `controllerName` of the class, as written: the name in statuses. */
  readonly controller: string;
  /** In order of precedence: own listeners, then listeners of accepted ListenerSets, the oldest set first. */
  readonly listeners: readonly ListenerView[];
  /** In order of precedence; also refused sets. */
  readonly sets: readonly ListenerSetView[];
  readonly addressing: GatewayAddressing;
  /** Labels of the workloads that serve, in the Gateway's namespace. Undefined: no workload serves. */
  readonly workloads: Readonly<Record<string, string>> | undefined;
  readonly accepted: ConditionVerdict;
  readonly resolvedRefs: ConditionVerdict;
  /** The verdict of configuration; absent: services and proxies decide. */
  readonly programmed?: ConditionVerdict;
  /** Present while a listener accepts clients without a verified certificate. */
  readonly insecureFrontend?: ConditionVerdict;
  /** The usable certificate that the Gateway presents to backends. */
  readonly clientCertificate?: NamespacedName;
}

/**
 * A listener to which a route is attached. Attachment depends on `allowedRoutes` and the parentRef alone: a listener with a
 * bad certificate serves nothing, and routes are attached to it all the same.
 */
export interface BoundListener {
  readonly listener: ListenerView;
  /**
   * Host names within the hostnames of both listener and route, in the order of the route's hostnames; `*`: any. Never
   * empty. A route of a kind without hostnames gets the listener's hostname, or `*`.
   */
  readonly hostnames: readonly string[];
}

/** A service of the mesh as the parent of a route. */
export interface MeshParent {
  /** Full host names: one of a Service, all of a ServiceEntry. */
  readonly hosts: readonly string[];
  /** Absent: all ports. */
  readonly port?: number;
  /** Namespace of the clients that use the route; absent: all clients, because the route is in the service's namespace. */
  readonly consumers?: string;
}

/** A route at one of its parents. */
export interface RouteAtParent {
  /** Position in `spec.parentRefs`. */
  readonly index: number;
  readonly ref: ParentReference;
  /** The name in statuses. */
  readonly controller: string;
  readonly accepted: ConditionVerdict;
  /** Empty: the route is attached to no listener. */
  readonly bound: readonly BoundListener[];
  /** Present if the route is accepted at a service. */
  readonly mesh?: MeshParent;
  /** Present if the parent, or one of its listeners, does not take the route: the field of the route that decides. */
  readonly fault?: FieldFault;
}

/** Reasons of backends that cannot be used, as in conditions of routes. */
export type BackendReason = "BackendNotFound" | "RefNotPermitted" | "InvalidKind" | "UnsupportedProtocol";

/** Kinds of objects behind the hosts of backends. */
export type KnownServiceKind = "Service" | "ServiceEntry" | "ServiceImport" | "InferencePool" | "XBackend";

/** A reference to a backend that cannot be used. */
export interface RefusedBackend {
  readonly host?: undefined;
  readonly weight: number;
  readonly reason: BackendReason;
  readonly fault: FieldFault;
  /** Host of the XBackend that the reference may use, and that is not accepted. Absent: there is none. */
  readonly refusedHost?: string;
}

/** A reference to a backend, resolved. */
export type ResolvedBackend =
  | {
    /** Full host name of the service. */
    readonly host: string;
    readonly port: number;
    /** A reference without a weight has the weight 1. */
    readonly weight: number;
    /** The object behind the host. */
    readonly target: NamespacedName & { readonly kind: KnownServiceKind };
    /** Picks the endpoints of an InferencePool. Absent: the backend is no pool. */
    readonly picker?: EndpointPicker;
    readonly reason?: undefined;
  }
  | RefusedBackend;

/** The backends of one rule. */
export interface ResolvedRule {
  /** In order of `backendRefs`. */
  readonly backends: readonly ResolvedBackend[];
  /** In order of the rule's filters of type `RequestMirror`. */
  readonly mirrors: readonly ResolvedBackend[];
}

/** The references of a route, resolved. */
export interface ResolvedRoute {
  /** In order of `rules`. */
  readonly rules: readonly ResolvedRule[];
  readonly resolvedRefs: ConditionVerdict;
}

/** A policy of backends at one of its targets. */
export interface PolicyAtTarget {
  /** Position in `spec.targetRefs`. */
  readonly index: number;
  readonly target: NamespacedName & {
    readonly group: string;
    readonly kind: string;
    /** Name of a port. */
    readonly sectionName?: string;
  };
  /** Full host names of the target. Empty: the target does not exist. */
  readonly hosts: readonly string[];
  readonly accepted: ConditionVerdict;
  /** Present if the reference to the target is at fault. */
  readonly fault?: FieldFault;
}

/** A BackendTLSPolicy with everything that configuration decides about it. */
export interface BackendTlsView {
  readonly policy: ConfigObject<"BackendTLSPolicy">;
  readonly targets: readonly PolicyAtTarget[];
  readonly resolvedRefs: ConditionVerdict;
  /** The authorities of the proxy's system, or the usable objects. No object: no backend can be reached. */
  readonly authorities: "system" | readonly AuthorityObject[];
}

/** A Gateway of ours with routes that lead to an InferencePool. */
export interface PoolParent extends NamespacedName {
  /** The name in statuses. */
  readonly controller: string;
  readonly accepted: ConditionVerdict;
  /** Keys of the HTTPRoutes that lead to the pool, and that the Gateway accepts by themselves. */
  readonly routes: readonly string[];
}

/** An InferencePool with everything that configuration decides about it. */
export interface JudgedPool {
  readonly pool: ConfigObject<"InferencePool">;
  /** Sorted by namespace and name. */
  readonly parents: readonly PoolParent[];
  readonly resolvedRefs: ConditionVerdict;
}
