/**
 * VirtualService: how requests to hosts are routed.
 *
 * @module
 */
import type { HttpRetry, Percent, PortSelector, StringMap, StringMatch } from "../common/types.ts";

/** Spec of a VirtualService. A delegate (no `hosts`) is only reached through another one's `delegate`. */
export interface VirtualServiceSpec {
  /** Names as in a Host header or SNI; short names are relative to the object's namespace. Absent in a delegate. */
  readonly hosts?: readonly string[];
  /** `namespace/name` or `name` of Gateways, and the reserved `mesh` for all sidecars; absent: `mesh`. */
  readonly gateways?: readonly string[];
  readonly http?: readonly HttpRoute[];
  readonly tls?: readonly TlsRoute[];
  readonly tcp?: readonly TcpRoute[];
  /** Namespaces that see it: `*`, `.` (own), names; absent: the mesh's default. */
  readonly exportTo?: readonly string[];
}

/** Where traffic goes. */
export interface Destination {
  readonly host: string;
  /** Name of a subset of the host's DestinationRule. */
  readonly subset?: string;
  /** Absent: the only port of the service. */
  readonly port?: PortSelector;
}

/** One HTTP rule; the first rule with a matching `match` (or none) wins. Exactly one of route, redirect, directResponse, delegate. */
export interface HttpRoute {
  readonly name?: string;
  /** Any of these; absent matches everything. */
  readonly match?: readonly HttpMatchRequest[];
  readonly route?: readonly HttpRouteDestination[];
  readonly redirect?: HttpRedirect;
  readonly directResponse?: HttpDirectResponse;
  readonly delegate?: Delegate;
  readonly rewrite?: HttpRewrite;
  /** ms for the whole request; absent: none. Presence kept: 0 turns it off. */
  readonly timeout?: number;
  readonly retries?: HttpRetry;
  readonly fault?: HttpFaultInjection;
  /** Copy requests there, ignoring answers. */
  readonly mirror?: Destination;
  readonly mirrors?: readonly HttpMirrorPolicy[];
  /** Deprecated integer form of `mirrorPercentage`. Presence kept. */
  readonly mirrorPercent?: number;
  readonly mirrorPercentage?: Percent;
  readonly corsPolicy?: CorsPolicy;
  readonly headers?: Headers;
}

/** The VirtualService whose http rules take this rule's place. */
export interface Delegate {
  readonly name?: string;
  /** Absent: the root's namespace. */
  readonly namespace?: string;
}

/** Header changes towards the destination and back. */
export interface Headers {
  readonly request?: HeaderOperations;
  readonly response?: HeaderOperations;
}

/** Header changes, applied as remove, set, add by the proxy. */
export interface HeaderOperations {
  readonly set?: StringMap;
  readonly add?: StringMap;
  readonly remove?: readonly string[];
}

/** All set conditions must hold. */
export interface HttpMatchRequest {
  readonly name?: string;
  readonly uri?: StringMatch;
  readonly scheme?: StringMatch;
  readonly method?: StringMatch;
  readonly authority?: StringMatch;
  /** An empty StringMatch asks only for presence. */
  readonly headers?: Readonly<Record<string, StringMatch>>;
  readonly port?: number;
  readonly sourceLabels?: StringMap;
  /** Overrides the VirtualService's list for this rule. */
  readonly gateways?: readonly string[];
  readonly queryParams?: Readonly<Record<string, StringMatch>>;
  /** For exact and prefix uri matches. */
  readonly ignoreUriCase?: boolean;
  /** None of these may match. */
  readonly withoutHeaders?: Readonly<Record<string, StringMatch>>;
  readonly sourceNamespace?: string;
  readonly statPrefix?: string;
}

/** A weighted destination. */
export interface HttpRouteDestination {
  readonly destination: Destination;
  /** Share of the sum of weights; a single destination needs none. */
  readonly weight?: number;
  readonly headers?: Headers;
}

/** A weighted destination of a TCP or TLS rule. */
export interface RouteDestination {
  readonly destination: Destination;
  readonly weight?: number;
}

/** One TLS rule: SNI matching without termination. */
export interface TlsRoute {
  readonly match?: readonly TlsMatchAttributes[];
  readonly route?: readonly RouteDestination[];
}

/** One TCP rule. */
export interface TcpRoute {
  readonly match?: readonly L4MatchAttributes[];
  readonly route?: readonly RouteDestination[];
}

/** Conditions on a TCP connection. */
export interface L4MatchAttributes {
  /** IPs or CIDRs. */
  readonly destinationSubnets?: readonly string[];
  readonly port?: number;
  /** Accepted; has no effect, as in the peer. */
  readonly sourceSubnet?: string;
  readonly sourceLabels?: StringMap;
  readonly gateways?: readonly string[];
  readonly sourceNamespace?: string;
}

/** Conditions on a TLS connection. */
export interface TlsMatchAttributes {
  readonly sniHosts: readonly string[];
  readonly destinationSubnets?: readonly string[];
  readonly port?: number;
  readonly sourceLabels?: StringMap;
  readonly gateways?: readonly string[];
  readonly sourceNamespace?: string;
}

/** Answer with a redirect. Absent parts stay as in the request. */
export interface HttpRedirect {
  readonly uri?: string;
  readonly authority?: string;
  readonly port?: number;
  /** Presence kept (excludes `port`). */
  readonly derivePort?: "FROM_PROTOCOL_DEFAULT" | "FROM_REQUEST_PORT";
  readonly scheme?: string;
  /** 301 (when absent), 302, 303, 307 or 308. */
  readonly redirectCode?: number;
}

/** Answer at once. */
export interface HttpDirectResponse {
  /** 100..599. */
  readonly status: number;
  readonly body?: HttpBody;
}

/** One of the two is set. */
export interface HttpBody {
  readonly string?: string;
  /** base64 as written. */
  readonly bytes?: string;
}

/** Change path or authority before the request is sent on. */
export interface HttpRewrite {
  readonly uri?: string;
  readonly authority?: string;
  readonly uriRegexRewrite?: RegexRewrite;
}

/** RE2 match and replacement (`\1` names groups). */
export interface RegexRewrite {
  readonly match: string;
  readonly rewrite?: string;
}

/** Cross-origin policy. */
export interface CorsPolicy {
  /** Deprecated exact origins. */
  readonly allowOrigin?: readonly string[];
  readonly allowOrigins?: readonly StringMatch[];
  readonly allowMethods?: readonly string[];
  readonly allowHeaders?: readonly string[];
  readonly exposeHeaders?: readonly string[];
  /** ms. */
  readonly maxAge?: number;
  /** Presence kept. */
  readonly allowCredentials?: boolean;
  /** Default UNSPECIFIED: forward. */
  readonly unmatchedPreflights: "UNSPECIFIED" | "FORWARD" | "IGNORE";
}

/** Faults for tests of resilience. */
export interface HttpFaultInjection {
  readonly delay?: FaultDelay;
  readonly abort?: FaultAbort;
}

/** Delay some requests. One of the delays is set. */
export interface FaultDelay {
  /** Deprecated, 0..100. */
  readonly percent?: number;
  /** ms. */
  readonly fixedDelay?: number;
  /** ms. */
  readonly exponentialDelay?: number;
  readonly percentage?: Percent;
}

/** Abort some requests. One of the codes is set. */
export interface FaultAbort {
  /** 200..599. */
  readonly httpStatus?: number;
  /** Name (UNAVAILABLE) of a gRPC status. */
  readonly grpcStatus?: string;
  readonly http2Error?: string;
  readonly percentage?: Percent;
}

/** A mirror with its own share; absent share: 100 %. */
export interface HttpMirrorPolicy {
  readonly destination: Destination;
  readonly percentage?: Percent;
}
