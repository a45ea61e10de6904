/**
 * VirtualService: how requests to hosts are routed.
 *
 * @module
 */
import type { HttpFaultInjection } from "./fault_types.ts";
import type { HttpRetry, Percent, PortSelector, StringMap, StringMatch } from "../common/types.ts";

export type * from "./fault_types.ts";

/** Spec of a VirtualService. A delegate (no `hosts`) is only reached through another one's `delegate`. */
export interface VirtualServiceSpec {
  /** Names as in a Host header or SNI; short names are relative to the object's namespace. Absent in a delegate. */
  readonly hosts?: readonly string[];
  /** `namespace/name` or `name` of Gateways, and the reserved `mesh` for all sidecars; absent: `mesh`. */
  readonly gateways?: readonly string[];
  /** Rules for HTTP; the first that matches decides. */
  readonly http?: readonly HttpRoute[];
  /** Rules for TLS that is not ended here; the first that matches decides. */
  readonly tls?: readonly TlsRoute[];
  /** Rules for TCP; the first that matches decides. */
  readonly tcp?: readonly TcpRoute[];
  /** Namespaces that see it: `*`, `.` (own), names; absent: the mesh's default. */
  readonly exportTo?: readonly string[];
}

/** A destination of traffic: a service, or a part of it. */
export interface Destination {
  /** Host of a service; a short name is relative to the namespace of the object. */
  readonly host: string;
  /** Name of a subset of the host's DestinationRule. */
  readonly subset?: string;
  /** Absent: the only port of the service. */
  readonly port?: PortSelector;
}

/** One HTTP rule; the first rule with a matching `match` (or none) wins. Exactly one of route, redirect, directResponse, delegate. */
export interface HttpRoute {
  /** Name of the rule, for logs and access logs. */
  readonly name?: string;
  /** Any of these; absent matches everything. */
  readonly match?: readonly HttpMatchRequest[];
  /** Destinations with their weights. */
  readonly route?: readonly HttpRouteDestination[];
  /** Answers with a redirect. */
  readonly redirect?: HttpRedirect;
  /** Answers at once. */
  readonly directResponse?: HttpDirectResponse;
  /** Rules of another VirtualService take the place of this one. */
  readonly delegate?: Delegate;
  /** Changes path or authority before the request is sent on. */
  readonly rewrite?: HttpRewrite;
  /** Longest time of the whole request, retries included; absent: none; 0 turns it off. */
  readonly timeout?: number;
  /** Conditions and number of retries of a request. */
  readonly retries?: HttpRetry;
  /** Delays and errors for tests of resilience. */
  readonly fault?: HttpFaultInjection;
  /** Copy requests there, ignoring answers. */
  readonly mirror?: Destination;
  /** Copies requests there, ignoring answers. */
  readonly mirrors?: readonly HttpMirrorPolicy[];
  /** Deprecated integer form of `mirrorPercentage`. */
  readonly mirrorPercent?: number;
  /** Share of the requests that `mirror` copies; absent: all. */
  readonly mirrorPercentage?: Percent;
  /** Cross-origin policy. */
  readonly corsPolicy?: CorsPolicy;
  /** Changes of headers. */
  readonly headers?: Headers;
}

/** The VirtualService whose http rules take this rule's place. */
export interface Delegate {
  /** Name of the VirtualService. */
  readonly name?: string;
  /** Absent: the root's namespace. */
  readonly namespace?: string;
}

/** Header changes towards the destination and back. */
export interface Headers {
  /** Changes on the way to the destination. */
  readonly request?: HeaderOperations;
  /** Changes on the way back. */
  readonly response?: HeaderOperations;
}

/** Header changes, applied as remove, set, add by the proxy. */
export interface HeaderOperations {
  /** Headers that get this value in place of their own. */
  readonly set?: StringMap;
  /** Headers that get this value beside those that they have. */
  readonly add?: StringMap;
  /** Headers that go. */
  readonly remove?: readonly string[];
}

/** All set conditions must hold. */
export interface HttpMatchRequest {
  /** Name of the condition, for access logs. */
  readonly name?: string;
  /** Path of the request, without its query. */
  readonly uri?: StringMatch;
  /** Scheme of the request. */
  readonly scheme?: StringMatch;
  /** HTTP method. */
  readonly method?: StringMatch;
  /** Host of the request. */
  readonly authority?: StringMatch;
  /** An empty StringMatch asks only for presence. */
  readonly headers?: Readonly<Record<string, StringMatch>>;
  /** Port that the client calls. */
  readonly port?: number;
  /** Labels of the client's workload. */
  readonly sourceLabels?: StringMap;
  /** Overrides the VirtualService's list for this rule. */
  readonly gateways?: readonly string[];
  /** Query parameters; an empty StringMatch asks only for presence. */
  readonly queryParams?: Readonly<Record<string, StringMatch>>;
  /** For exact and prefix uri matches. */
  readonly ignoreUriCase?: boolean;
  /** None of these may match. */
  readonly withoutHeaders?: Readonly<Record<string, StringMatch>>;
  /** Namespace of the client's workload. */
  readonly sourceNamespace?: string;
  /** Prefix of the statistics of this route. */
  readonly statPrefix?: string;
}

/** A weighted destination. */
export interface HttpRouteDestination {
  /** The destination of requests. */
  readonly destination: Destination;
  /** Share of the sum of weights; a single destination needs none. */
  readonly weight?: number;
  /** Changes of headers for this destination. */
  readonly headers?: Headers;
}

/** A weighted destination of a TCP or TLS rule. */
export interface RouteDestination {
  /** The destination of connections. */
  readonly destination: Destination;
  /** Share of the sum of weights; a single destination needs none. */
  readonly weight?: number;
}

/** One TLS rule: SNI matching without termination. */
export interface TlsRoute {
  /** Any of these. */
  readonly match?: readonly TlsMatchAttributes[];
  /** Destinations with their weights. */
  readonly route?: readonly RouteDestination[];
}

/** One TCP rule. */
export interface TcpRoute {
  /** Any of these; absent: every connection. */
  readonly match?: readonly L4MatchAttributes[];
  /** Destinations with their weights. */
  readonly route?: readonly RouteDestination[];
}

/** Conditions on a TCP connection. */
export interface L4MatchAttributes {
  /** IPs or CIDRs. */
  readonly destinationSubnets?: readonly string[];
  /** Port that the client calls. */
  readonly port?: number;
  /** Accepted without effect, as in Istio. */
  readonly sourceSubnet?: string;
  /** Labels of the client's workload. */
  readonly sourceLabels?: StringMap;
  /** Overrides the VirtualService's list for this rule. */
  readonly gateways?: readonly string[];
  /** Namespace of the client's workload. */
  readonly sourceNamespace?: string;
}

/** Conditions on a TLS connection. */
export interface TlsMatchAttributes {
  /** Server names, each within the hosts of the VirtualService. */
  readonly sniHosts: readonly string[];
  /** Addresses that the client calls: IPs or CIDRs. */
  readonly destinationSubnets?: readonly string[];
  /** Port that the client calls. */
  readonly port?: number;
  /** Labels of the client's workload. */
  readonly sourceLabels?: StringMap;
  /** Overrides the VirtualService's list for this rule. */
  readonly gateways?: readonly string[];
  /** Namespace of the client's workload. */
  readonly sourceNamespace?: string;
}

/** Answer with a redirect. Absent parts stay as in the request. */
export interface HttpRedirect {
  /** Path of the new location. */
  readonly uri?: string;
  /** Host of the new location. */
  readonly authority?: string;
  /** Port of the new location. */
  readonly port?: number;
  /** The source of the port, instead of `port`. */
  readonly derivePort?: "FROM_PROTOCOL_DEFAULT" | "FROM_REQUEST_PORT";
  /** Scheme of the new location. */
  readonly scheme?: string;
  /** 301 (when absent), 302, 303, 307 or 308. */
  readonly redirectCode?: number;
}

/** Answer at once. */
export interface HttpDirectResponse {
  /** 100..599. */
  readonly status: number;
  /** Body of the answer; absent: none. */
  readonly body?: HttpBody;
}

/** One of the two is set. */
export interface HttpBody {
  /** As text. */
  readonly string?: string;
  /** base64 as written. */
  readonly bytes?: string;
}

/** Change path or authority before the request is sent on. */
export interface HttpRewrite {
  /** The new path, or the new beginning where a prefix matched. */
  readonly uri?: string;
  /** The new host. */
  readonly authority?: string;
  /** Changes the path by a regular expression. */
  readonly uriRegexRewrite?: RegexRewrite;
}

/** RE2 match and replacement (`\1` names groups). */
export interface RegexRewrite {
  /** Regular expression (RE2) that the path is searched for. */
  readonly match: string;
  /** The text that replaces the match; `\\1` stands for a group. */
  readonly rewrite?: string;
}

/** Cross-origin policy. */
export interface CorsPolicy {
  /** Deprecated exact origins. */
  readonly allowOrigin?: readonly string[];
  /** Origins that may read answers. */
  readonly allowOrigins?: readonly StringMatch[];
  /** Methods that may be used. */
  readonly allowMethods?: readonly string[];
  /** Headers that may be sent. */
  readonly allowHeaders?: readonly string[];
  /** Headers of answers that may be read. */
  readonly exposeHeaders?: readonly string[];
  /** How long a browser may keep the answer to a preflight. */
  readonly maxAge?: number;
  /** Requests may carry credentials. */
  readonly allowCredentials?: boolean;
  /** Default UNSPECIFIED: forward. */
  readonly unmatchedPreflights: "UNSPECIFIED" | "FORWARD" | "IGNORE";
}

/** A mirror with its own share; absent share: 100 %. */
export interface HttpMirrorPolicy {
  /** The destination of copies. */
  readonly destination: Destination;
  /** Share of the requests; absent: all. */
  readonly percentage?: Percent;
}
