/**
 * Input and output of the simulator: the resources of one proxy, a request, and what the proxy would do step by step.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import type { LackedSecret, SecretLookup } from "./secret_types.ts";

/** The resources of one proxy by name, as decoded messages (enums as numbers, `Any` packed). */
export interface ProxyResources {
  readonly listeners: ReadonlyMap<string, envoy.config.listener.v3.Listener>;
  readonly routes: ReadonlyMap<string, envoy.config.route.v3.RouteConfiguration>;
  /** Virtual hosts that come one by one, named `<route configuration>/<virtual host>`. */
  readonly virtualHosts: ReadonlyMap<string, envoy.config.route.v3.VirtualHost>;
  readonly clusters: ReadonlyMap<string, envoy.config.cluster.v3.Cluster>;
  /** Endpoints by the name that the cluster asks for. */
  readonly assignments: ReadonlyMap<string, envoy.config.endpoint.v3.ClusterLoadAssignment>;
  /** Configurations that filters ask for by their own name. */
  readonly extensions: ReadonlyMap<string, envoy.config.core.v3.TypedExtensionConfig>;
  /** Keys of the configuration objects that made a resource, where that is known (`VirtualService/ns/name`). */
  readonly causesOf?: (kind: "listeners" | "routes" | "virtualHosts" | "clusters", name: string) => readonly string[];
  /**
   * Whether the server sends the proxy a secret that TLS asks for; undefined: it does. Absent: nothing is known of
   * secrets, and all count as sent.
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
  /** Bytes that are neither TLS nor HTTP. */
  | "tcp"
  /** TLS; inside is HTTP when the request has a `host`, else bytes. */
  | "tls";

/** Headers by name: one value, or the values of a header that is there several times. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[]>>;

/** One HTTP request, or one connection with other bytes. */
export interface SimulatedRequest {
  /**
   * How the connection reaches the proxy. `outbound` and `inbound`: redirected to `virtualOutbound` or
   * `virtualInbound`, which learn the original destination. `direct`: the client dials a listener itself (gateways,
   * HTTP proxy port, bound sockets).
   */
  readonly direction: "outbound" | "inbound" | "direct";
  /** The address that the client dialled. */
  readonly destination: SocketAddress;
  /** Default 127.0.0.1 with an ephemeral port. */
  readonly source?: Partial<SocketAddress>;
  readonly protocol: WireProtocol;
  /** An `inbound` connection that came inside of a CONNECT (HBONE), whose client showed the identity. Default: no. */
  readonly hbone?: boolean;
  /** Identity in the certificate that the client shows (`spiffe://...`); empty: none; absent: not known. */
  readonly identity?: string;
  /** Where the identity is not known as a whole, its beginning: behind it stands a name without slashes. */
  readonly identityStart?: string;
  /** Server name in the TLS hello. */
  readonly sni?: string;
  /** Application protocols in the TLS hello. */
  readonly alpn?: readonly string[];
  /** Default `HTTP/1.1`. */
  readonly httpVersion?: "HTTP/1.0" | "HTTP/1.1" | "HTTP/2";
  /** Host header or `:authority`, with port if the client writes it. */
  readonly host?: string;
  /** Default GET. */
  readonly method?: string;
  /** Path with query; default `/`. */
  readonly path?: string;
  /** Other headers, names in any case; of a header that is there several times the values in their order. */
  readonly headers?: RequestHeaders;
  /** The metadata that filters before the router give the request (claims of a token), by filter. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** The objects that caused a step, as far as they are known. */
interface Caused {
  /** The object that the resource itself names (`filter_metadata.istio.config`). */
  readonly cause?: string;
  /** Keys of all objects that made the resource (see `ProxyResources.causesOf`). */
  readonly causes?: readonly string[];
}

/** The listener that takes the connection. */
export interface ListenerStep extends Caused {
  readonly step: "listener";
  readonly name: string;
  /** Listener to which the connection was redirected before it was handed on. */
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

/** The filter chain that matches. */
export interface FilterChainStep extends Caused {
  readonly step: "filterChain";
  readonly name: string;
  /** Position in `filter_chains`; -1 for the default chain. */
  readonly index: number;
  /** Conditions of the chain that decided, in Envoy's order of precedence. */
  readonly matched: readonly string[];
  /** The chain ends TLS. */
  readonly terminatesTls: boolean;
  /** A secret without which it takes no connection. Absent: it has all, or nothing is known. */
  readonly lacks?: LackedSecret;
}

/** A network filter that the connection passes. */
export interface NetworkFilterStep {
  readonly step: "networkFilter";
  readonly name: string;
  /** It takes the connection: HTTP connection manager or TCP proxy. */
  readonly terminal: boolean;
}

/** The route configuration that is asked. */
export interface RouteConfigurationStep extends Caused {
  readonly step: "routeConfiguration";
  readonly name: string;
  readonly source: "inline" | "RDS";
}

/** The virtual host that matches. */
export interface VirtualHostStep extends Caused {
  readonly step: "virtualHost";
  readonly name: string;
  /** Its domain that matched. */
  readonly domain: string;
  readonly source: "route configuration" | "VHDS";
}

/** A route that a request did not take, and why. */
export interface PassedRoute {
  readonly name: string;
  /** Position in the virtual host. */
  readonly index: number;
  /** The first condition that does not hold. */
  readonly why: string;
  /** The object that the route names. */
  readonly cause?: string;
}

/** The routes that were looked at to find the one that matches. */
interface RoutesLookedAt {
  /** The routes before the one that matches; of a virtual host where none does, all. */
  readonly passed: readonly PassedRoute[];
  /** All routes of the virtual host. */
  readonly routes: readonly envoy.config.route.v3.Route[];
}

/** No route of the virtual host matches. */
export interface NoRouteStep extends RoutesLookedAt {
  readonly step: "noRoute";
}

/** The route that matches. */
export interface RouteStep extends Caused, RoutesLookedAt {
  readonly step: "route";
  /** Its conditions, in words. */
  readonly match: string;
  readonly name: string;
  /** Position in the virtual host. */
  readonly index: number;
  /** Share of requests that take it, 0-1, where it is not all; the others go on to later routes. */
  readonly share?: number;
  /** Settings of HTTP filters that this route or its virtual host overrides (fault, CORS, ...). */
  readonly filters: readonly string[];
  /** The fault with which the proxy answers a share of requests itself, 0-1; not 0. Absent: there is none. */
  readonly abort?: { readonly status: number; readonly share: number };
}

/** The action of the route. */
export interface ActionStep {
  readonly step: "action";
  readonly action: "cluster" | "weightedClusters" | "redirect" | "directResponse";
  /** Path and authority as the upstream sees them; absent where the proxy answers itself. */
  readonly path?: string;
  readonly authority?: string;
  /** Path or authority are not those that the client sent. */
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
  /** How the proxy talks to it, where endpoints of the cluster differ in that. */
  readonly transport?: "plaintext" | "tls";
  /** It is reached by HBONE, inside of which the connection is of that transport. */
  readonly hbone?: true;
}

/** The client's side of the TLS of a cluster. */
export interface ClusterClientTls {
  /** What the proxy shows: in mutual TLS of the mesh the workload's own certificate, another one, or none. */
  readonly certificate: "mesh" | "other" | "none";
  /** Names (URIs) of which the server's certificate must have one; empty: any will do, or they are not plain texts. */
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
  /** How the proxy talks to its endpoints. */
  readonly transport: "plaintext" | "tls" | "by endpoint";
  /** Absent: none of its connections is of TLS. */
  readonly tls?: ClusterClientTls;
  /** Application protocols that it offers in TLS handshakes: of requests, and of bytes. Absent: none. */
  readonly alpn?: { readonly http: readonly string[]; readonly bytes: readonly string[] };
  /** A secret without which no connection to an endpoint is made. Absent: it has all, or nothing is known. */
  readonly lacks?: LackedSecret;
  readonly endpoints: readonly SimulatedEndpoint[];
  /** How the requests of its share end where none of them is forwarded; absent: they are. */
  readonly ends?: EndedOutcome;
}

/** A cluster that gets a copy of the request. Its answer is thrown away. */
export interface MirrorStep {
  readonly step: "mirror";
  /** 0 to 1: of the requests of the route. */
  readonly share: number;
  /** The copy has `-shadow` behind its host. */
  readonly suffixed: boolean;
  readonly cluster: ClusterStep;
}

/** One step of the way. */
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

/** How it ends where no endpoint gets it. */
export type EndedOutcome =
  /** The proxy answers by itself. */
  | { readonly kind: "answered"; readonly status: number; readonly location?: string; readonly why: string }
  /** The connection is refused or closed. */
  | { readonly kind: "closed"; readonly why: string };

/** How it ends. */
export type SimulationOutcome =
  /** An endpoint of one of these clusters gets it. */
  | { readonly kind: "forwarded"; readonly clusters: readonly { readonly name: string; readonly weight: number }[] }
  | EndedOutcome
  /** The configuration uses something that the simulator does not judge. */
  | { readonly kind: "unknown"; readonly why: string };

/** The simulated way of a request through the proxy. */
export interface Simulation {
  readonly steps: readonly SimulationStep[];
  readonly outcome: SimulationOutcome;
}
