/**
 * Input and output of the simulator: the resources of a proxy, a request, and the steps of the proxy.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import type { LackedSecret, SecretLookup } from "./secret_types.ts";

/** The resources of a proxy by name, as decoded messages (enums as numbers, `Any` packed). */
export interface ProxyResources {
  readonly listeners: ReadonlyMap<string, envoy.config.listener.v3.Listener>;
  readonly routes: ReadonlyMap<string, envoy.config.route.v3.RouteConfiguration>;
  /** Virtual hosts sent as resources of their own, named `<route configuration>/<virtual host>`. */
  readonly virtualHosts: ReadonlyMap<string, envoy.config.route.v3.VirtualHost>;
  readonly clusters: ReadonlyMap<string, envoy.config.cluster.v3.Cluster>;
  /** Endpoints by the name that the cluster asks for. */
  readonly assignments: ReadonlyMap<string, envoy.config.endpoint.v3.ClusterLoadAssignment>;
  /** Extension configurations by name, for the filters. */
  readonly extensions: ReadonlyMap<string, envoy.config.core.v3.TypedExtensionConfig>;
  /** Keys of the configuration objects behind a resource, if known (`VirtualService/ns/name`). */
  readonly causesOf?: (kind: "listeners" | "routes" | "virtualHosts" | "clusters", name: string) => readonly string[];
  /**
   * Tells whether the server sends a secret to the proxy; undefined: the secret is sent. Absent: nothing is known about
   * secrets, and every secret counts as sent.
   */
  readonly secrets?: SecretLookup;
}

/** An IP address and port. */
export interface SocketAddress {
  readonly ip: string;
  readonly port: number;
}

/** The first bytes of the connection as the proxy sees them. */
export type WireProtocol =
  /** HTTP in the clear. */
  | "http"
  /** Bytes other than TLS and HTTP. */
  | "tcp"
  /** TLS; inside is HTTP when the request has a `host`, else bytes. */
  | "tls";

/** Headers by name: a single value, or the values of a repeated header. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[]>>;

/** An HTTP request, or a connection with other bytes. */
export interface SimulatedRequest {
  /**
   * How the connection reaches the proxy. `outbound` and `inbound`: the connection is redirected to `virtualOutbound`
   * or `virtualInbound`, and the original destination stays known. `direct`: the client dials a listener (gateways,
   * HTTP proxy port, bound sockets).
   */
  readonly direction: "outbound" | "inbound" | "direct";
  /** The address dialled by the client. */
  readonly destination: SocketAddress;
  /** Default 127.0.0.1 with an ephemeral port. */
  readonly source?: Partial<SocketAddress>;
  readonly protocol: WireProtocol;
  /** The `inbound` connection came inside a CONNECT (HBONE) whose client showed the identity. Default: false. */
  readonly hbone?: boolean;
  /** Identity in the client's certificate (`spiffe://...`); empty: no certificate; absent: not known. */
  readonly identity?: string;
  /** The beginning of an identity that is not known as a whole. A name without slashes follows the beginning. */
  readonly identityStart?: string;
  /** Server name in the TLS hello. */
  readonly sni?: string;
  /** Application protocols in the TLS hello. */
  readonly alpn?: readonly string[];
  /** Default `HTTP/1.1`. */
  readonly httpVersion?: "HTTP/1.0" | "HTTP/1.1" | "HTTP/2";
  /** Host header or `:authority`, with the port if the client writes the port. */
  readonly host?: string;
  /** Default GET. */
  readonly method?: string;
  /** Path with query; default `/`. */
  readonly path?: string;
  /** Other headers, names in any case. The values of a repeated header keep their order. */
  readonly headers?: RequestHeaders;
  /** The request's metadata from filters before the router (claims of a token), by filter. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** The objects behind a step, as far as known. */
interface Caused {
  /** The object in the metadata of the resource (`filter_metadata.istio.config`). */
  readonly cause?: string;
  /** The rule of this object, positions from 0: `rule 2 match 0`. Absent: no rule is named. */
  readonly part?: string;
  /** Keys of all objects behind the resource (see `ProxyResources.causesOf`). */
  readonly causes?: readonly string[];
}

/** The listener that takes the connection. */
export interface ListenerStep extends Caused {
  readonly step: "listener";
  readonly name: string;
  /** The listener that took the redirected connection and handed the connection on. */
  readonly via?: string;
  readonly why: "exact address" | "wildcard address" | "no listener for the original destination" | "inside of HBONE";
}

/** The findings of listener filters in the first bytes. */
export interface DetectionStep {
  readonly step: "detection";
  readonly transport: "tls" | "raw_buffer";
  readonly sni: string;
  readonly applicationProtocols: readonly string[];
}

/** The matching filter chain. */
export interface FilterChainStep extends Caused {
  readonly step: "filterChain";
  readonly name: string;
  /** Position in `filter_chains`; -1 for the default chain. */
  readonly index: number;
  /** The deciding conditions of the chain, in Envoy's order of precedence. */
  readonly matched: readonly string[];
  /** The chain ends TLS. */
  readonly terminatesTls: boolean;
  /** A missing secret: the chain takes no connection. Absent: every secret is there, or nothing is known. */
  readonly lacks?: LackedSecret;
}

/** A network filter that the connection passes. */
export interface NetworkFilterStep {
  readonly step: "networkFilter";
  readonly name: string;
  /** The filter takes the connection: HTTP connection manager or TCP proxy. */
  readonly terminal: boolean;
}

/** The route configuration of the connection manager. */
export interface RouteConfigurationStep extends Caused {
  readonly step: "routeConfiguration";
  readonly name: string;
  readonly source: "inline" | "RDS";
}

/** The matching virtual host. */
export interface VirtualHostStep extends Caused {
  readonly step: "virtualHost";
  readonly name: string;
  /** The matching domain of the virtual host. */
  readonly domain: string;
  readonly source: "route configuration" | "VHDS";
}

/** A route that a request did not take, and why. */
export interface PassedRoute {
  readonly name: string;
  /** Position in the virtual host. */
  readonly index: number;
  /** The first failing condition. */
  readonly why: string;
  /** The object that the route names. */
  readonly cause?: string;
  /** The rule of this object, positions from 0. Absent: no rule is named. */
  readonly part?: string;
}

/** The routes compared with the request. */
interface RoutesLookedAt {
  /** The routes before the matching route. All routes of the virtual host if none matches. */
  readonly passed: readonly PassedRoute[];
  /** All routes of the virtual host. */
  readonly routes: readonly envoy.config.route.v3.Route[];
}

/** No route of the virtual host matches. */
export interface NoRouteStep extends RoutesLookedAt {
  readonly step: "noRoute";
}

/** The matching route. */
export interface RouteStep extends Caused, RoutesLookedAt {
  readonly step: "route";
  /** The conditions of the route, in words. */
  readonly match: string;
  readonly name: string;
  /** Position in the virtual host. */
  readonly index: number;
  /** Share of the matching requests that take the route, 0-1; absent: all. The others go on to later routes. */
  readonly share?: number;
  /** HTTP filters whose settings the route or its virtual host overrides (fault, CORS, ...). */
  readonly filters: readonly string[];
  /** The fault: the proxy itself answers a share of requests, above 0 and up to 1. Absent: no fault. */
  readonly abort?: { readonly status: number; readonly share: number };
}

/** The action of the route. */
export interface ActionStep {
  readonly step: "action";
  readonly action: "cluster" | "weightedClusters" | "redirect" | "directResponse";
  /** Path and authority as seen by the upstream; absent: the proxy answers the request itself. */
  readonly path?: string;
  readonly authority?: string;
  /** The upstream sees another path or authority than the client sent. */
  readonly rewritten: boolean;
  /** Clusters that get a copy. */
  readonly mirrors: readonly string[];
}

/** An endpoint that a request may reach. */
export interface SimulatedEndpoint {
  /** IP, name or socket path. */
  readonly address: string;
  readonly port: number;
  /** 0 is used first. */
  readonly priority: number;
  /** `region/zone/subzone`. */
  readonly locality: string;
  /** Weight of the locality; 0 when the assignment has none. */
  readonly localityWeight: number;
  readonly weight: number;
  readonly healthy: boolean;
  /** How the proxy talks to the endpoint. Set if endpoints of the cluster differ. */
  readonly transport?: "plaintext" | "tls";
  /** The connection to the endpoint goes through HBONE, with the transport inside. */
  readonly hbone?: true;
}

/** The client's side of the TLS of a cluster. */
export interface ClusterClientTls {
  /** The certificate shown by the proxy: in mutual TLS of the mesh the workload's own, another certificate, or none. */
  readonly certificate: "mesh" | "other" | "none";
  /**
   * Accepted names (URIs) of the server's certificate. Empty: any name is accepted, or the names are not plain texts.
   */
  readonly serverNames: readonly string[];
}

/** A cluster that the request may reach. */
export interface ClusterStep extends Caused {
  readonly step: "cluster";
  readonly name: string;
  /** Relative to the sum over all clusters of the action. */
  readonly weight: number;
  /** 0 to 1: of the requests of the action; absent: all. */
  readonly share?: number;
  /** `EDS`, `STATIC`, `STRICT_DNS`, `LOGICAL_DNS`, `ORIGINAL_DST`, or the name of a custom type; `missing` without cluster. */
  readonly type: string;
  /** How the proxy talks to the endpoints of the cluster. */
  readonly transport: "plaintext" | "tls" | "by endpoint";
  /** Absent: no connection of the cluster uses TLS. */
  readonly tls?: ClusterClientTls;
  /** Application protocols offered in TLS handshakes: for requests, and for other bytes. Absent: none. */
  readonly alpn?: { readonly http: readonly string[]; readonly bytes: readonly string[] };
  /**
   * A missing secret: the proxy makes no connection to an endpoint. Absent: every secret is there, or nothing is known.
   */
  readonly lacks?: LackedSecret;
  readonly endpoints: readonly SimulatedEndpoint[];
  /** The outcome of the cluster's requests if no request is forwarded; absent: requests are forwarded. */
  readonly ends?: EndedOutcome;
}

/** A cluster that gets a copy of the request. The cluster's answer is thrown away. */
export interface MirrorStep {
  readonly step: "mirror";
  /** 0 to 1: of the requests of the route. */
  readonly share: number;
  /** The copy has `-shadow` behind its host. */
  readonly suffixed: boolean;
  readonly cluster: ClusterStep;
}

/** A step of the way. */
export type SimulationStep =
  | ListenerStep
  | DetectionStep
  | FilterChainStep
  | NetworkFilterStep
  | RouteConfigurationStep
  | VirtualHostStep
  | RouteStep
  | NoRouteStep
  | ActionStep
  | MirrorStep
  | ClusterStep;

/** The outcome of a request that reaches no endpoint. */
export type EndedOutcome =
  /** The proxy answers by itself. */
  | { readonly kind: "answered"; readonly status: number; readonly location?: string; readonly why: string }
  /** The connection is refused or closed. */
  | { readonly kind: "closed"; readonly why: string };

/** The outcome of a request. */
export type SimulationOutcome =
  /** An endpoint of one of these clusters gets the request. */
  | { readonly kind: "forwarded"; readonly clusters: readonly { readonly name: string; readonly weight: number }[] }
  | EndedOutcome
  /** The configuration needs a judgement that the simulator does not make. */
  | { readonly kind: "unknown"; readonly why: string };

/** The simulated way of a request through the proxy. */
export interface Simulation {
  readonly steps: readonly SimulationStep[];
  readonly outcome: SimulationOutcome;
  /**
   * What policies on trial (annotation `mesh.io/dry-run`) would do if they were in force, if they would not let the
   * request pass: `would refuse: denied by AuthorizationPolicy shop/cart rules[0]`. Absent: nothing.
   */
  readonly onTrial?: readonly string[];
}
