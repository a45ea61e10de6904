/**
 * VirtualService: how requests to hosts are routed.
 *
 * @module
 */
import { labels, list, map, stringMap } from "../../schema/containers.ts";
import { type Field, keepZero, required, withDefault } from "../../schema/field.ts";
import { message, type Of } from "../../schema/message.ts";
import { bool, bytes, duration, enumOf, int32, string, uint32 } from "../../schema/scalars.ts";
import { httpRetry, percent, portSelector, stringMatch } from "../common/schema.ts";
import type {
  InternalBytesDestination,
  InternalDestination,
  InternalRule,
  InternalVirtualService,
} from "./internal.ts";

export const destination = message({
  /** Host of a service; a short name is relative to the namespace of the object. */
  host: required(string(), "a host name"),
  /** Name of a subset of the host's DestinationRule. */
  subset: string(),
  /** Absent: the only port of the service. */
  port: portSelector,
});

/** A destination of traffic: a service, or a subset of a service. */
export interface Destination extends Of<typeof destination> {}

const headerOperations = message({
  /** Headers to set to a new value. */
  set: stringMap(),
  /** Headers to add, beside present values. */
  add: stringMap(),
  /** Headers to remove. */
  remove: list(string()),
});

/** Header changes, applied as remove, set, add by the proxy. */
export interface HeaderOperations extends Of<typeof headerOperations> {}

const headers = message({
  /** Changes on the way to the destination. */
  request: headerOperations,
  /** Changes on the way back. */
  response: headerOperations,
});

/** Header changes towards the destination and back. */
export interface Headers extends Of<typeof headers> {}

const httpMatch = message({
  /** Name of the condition, for access logs. */
  name: string(),
  /** Path of the request, without its query. */
  uri: stringMatch,
  /** Scheme of the request. */
  scheme: stringMatch,
  /** HTTP method. */
  method: stringMatch,
  /** Host of the request. */
  authority: stringMatch,
  /** An empty StringMatch asks only for presence. */
  headers: map(stringMatch),
  /** Port of the request. */
  port: uint32(),
  /** Labels of the client's workload. */
  sourceLabels: labels(),
  /** Overrides the VirtualService's list for the rule. */
  gateways: list(string()),
  /** Query parameters; an empty StringMatch asks only for presence. */
  queryParams: map(stringMatch),
  /** For exact and prefix uri matches. */
  ignoreUriCase: bool(),
  /** Forbidden headers. */
  withoutHeaders: map(stringMatch),
  /** Namespace of the client's workload. */
  sourceNamespace: string(),
  /** Prefix of the route's statistics. */
  statPrefix: string(),
});

/** All set conditions must hold. */
export interface HttpMatchRequest extends Of<typeof httpMatch> {}

const httpRouteDestination = message({
  /** The destination of requests. */
  destination: required(destination, "a destination"),
  /** Share of the sum of weights; a single destination needs none. */
  weight: int32(),
  /** Changes of headers for the destination. */
  headers,
});

/** A weighted destination. */
export interface HttpRouteDestination extends Of<typeof httpRouteDestination> {
  /** Set only by derivations. */
  readonly internal?: InternalDestination;
}

const writtenRouteDestination = message({
  /** The destination of connections. */
  destination: required(destination, "a destination"),
  /** Share of the sum of weights; a single destination needs none. */
  weight: int32(),
});

/** A weighted destination of a TCP or TLS rule. */
export interface RouteDestination extends Of<typeof writtenRouteDestination> {
  /** Set only by derivations. */
  readonly internal?: InternalBytesDestination;
}

const routeDestination: Field<RouteDestination> = writtenRouteDestination;

const redirect = message(
  {
    /** Path of the new location. */
    uri: string(),
    /** Host of the new location. */
    authority: string(),
    /** Port of the new location. */
    port: keepZero(uint32()),
    /** The source of the port, instead of `port`. */
    derivePort: enumOf("FROM_PROTOCOL_DEFAULT", "FROM_REQUEST_PORT"),
    /** Scheme of the new location. */
    scheme: string(),
    /** 301 (when absent), 302, 303, 307 or 308. */
    redirectCode: uint32(),
  },
  { oneOf: [["port", "derivePort"]] },
);

/** Answer with a redirect. Absent parts stay as in the request. */
export interface HttpRedirect extends Of<typeof redirect> {}

const httpBody = message({
  /** As text. */
  string: keepZero(string()),
  /** base64 as written. */
  bytes: keepZero(bytes()),
}, {
  oneOf: [["string", "bytes"]],
});

/** Exactly one of the fields is set. */
export interface HttpBody extends Of<typeof httpBody> {}

const directResponse = message({
  /** 100..599. */
  status: required(uint32(), "an HTTP status, 200..599"),
  /** Body of the answer; absent: none. */
  body: httpBody,
});

/** Answer at once. */
export interface HttpDirectResponse extends Of<typeof directResponse> {}

const regexRewrite = message({
  /** Regular expression (RE2) that is searched in the path. */
  match: required(string(), "an RE2 regular expression"),
  /** The text in place of the match; `\\1` stands for a group. */
  rewrite: string(),
});

/** RE2 match and replacement (`\1` names groups). */
export interface RegexRewrite extends Of<typeof regexRewrite> {}

const rewrite = message({
  /** The new path, or the new beginning where a prefix matched. */
  uri: string(),
  /** The new host. */
  authority: string(),
  /** Changes the path by a regular expression. */
  uriRegexRewrite: regexRewrite,
});

/** Change path or authority before the request is sent on. */
export interface HttpRewrite extends Of<typeof rewrite> {}

const corsPolicy = message({
  /** Deprecated exact origins. */
  allowOrigin: list(string()),
  /** Origins that may read answers. */
  allowOrigins: list(stringMatch),
  /** Allowed methods. */
  allowMethods: list(string()),
  /** Headers that may be sent. */
  allowHeaders: list(string()),
  /** Headers of answers that may be read. */
  exposeHeaders: list(string()),
  /** How long a browser may keep the answer to a preflight. */
  maxAge: duration(),
  /** Requests may carry credentials. */
  allowCredentials: keepZero(bool()),
  /** Default UNSPECIFIED: forward. */
  unmatchedPreflights: withDefault(enumOf("UNSPECIFIED", "FORWARD", "IGNORE"), "UNSPECIFIED"),
});

/** Cross-origin policy. */
export interface CorsPolicy extends Of<typeof corsPolicy> {}

const faultDelay = message(
  {
    /** Deprecated, 0..100. */
    percent: int32(),
    /** Time that each request waits. */
    fixedDelay: duration(),
    /** Not used by the proxy. */
    exponentialDelay: duration(),
    /** Share of the requests; absent: none. */
    percentage: percent,
  },
  { oneOf: [["fixedDelay", "exponentialDelay"]] },
);

/** Delays some requests. Exactly one of the delays is set. */
export interface FaultDelay extends Of<typeof faultDelay> {}

const faultAbort = message(
  {
    /** 200..599. */
    httpStatus: keepZero(int32()),
    /** Name (UNAVAILABLE) of a gRPC status. */
    grpcStatus: keepZero(string()),
    /** Not used by the proxy. */
    http2Error: keepZero(string()),
    /** Share of the requests; absent: none. */
    percentage: percent,
  },
  { oneOf: [["httpStatus", "grpcStatus", "http2Error"]] },
);

/** Aborts some requests. Exactly one of the codes is set. */
export interface FaultAbort extends Of<typeof faultAbort> {}

const fault = message({
  /** Delays some requests. */
  delay: faultDelay,
  /** Answers some requests with an error. */
  abort: faultAbort,
});

/** Faults for tests of resilience. */
export interface HttpFaultInjection extends Of<typeof fault> {}

const delegate = message({
  /** Name of the VirtualService. */
  name: string(),
  /** Absent: the root's namespace. */
  namespace: string(),
});

/** The VirtualService whose http rules replace the rule. */
export interface Delegate extends Of<typeof delegate> {}

const httpMirrorPolicy = message({
  /** The destination of copies. */
  destination: required(destination, "a destination"),
  /** Share of the requests; absent: all. */
  percentage: percent,
});

/** A mirror with its own share; absent share: 100 %. */
export interface HttpMirrorPolicy extends Of<typeof httpMirrorPolicy> {}

const httpRoute = message({
  /** Name of the rule, for logs and access logs. */
  name: string(),
  /** Conditions; any must hold. Absent: every request. */
  match: list(httpMatch),
  /** Destinations with weights. */
  route: list(httpRouteDestination),
  /** Answers with a redirect. */
  redirect,
  /** Answers at once. */
  directResponse,
  /** Rules of another VirtualService replace the rule. */
  delegate,
  /** Changes path or authority before the request is sent on. */
  rewrite,
  /** Longest time of the whole request, including retries; absent: unlimited; 0 turns the timeout off. */
  timeout: duration(),
  /** Conditions and number of retries of a request. */
  retries: httpRetry,
  /** Delays and errors for tests of resilience. */
  fault,
  /** Copy requests there, ignoring answers. */
  mirror: destination,
  /** Copies requests there, ignoring answers. */
  mirrors: list(httpMirrorPolicy),
  /** Deprecated integer form of `mirrorPercentage`. */
  mirrorPercent: keepZero(uint32()),
  /** Share of the requests that `mirror` copies; absent: all. */
  mirrorPercentage: percent,
  /** Cross-origin policy. */
  corsPolicy,
  /** Changes of headers. */
  headers,
});

/**
 * An HTTP rule; the first rule with a matching `match` (or without `match`) wins. Exactly one of route, redirect,
 * directResponse, delegate.
 */
export interface HttpRoute extends Of<typeof httpRoute> {
  /** Destinations with weights. */
  readonly route?: readonly HttpRouteDestination[];
  /** Set only by derivations. */
  readonly internal?: InternalRule;
}

const tlsMatchAttributes = message({
  /** Server names, each within the hosts of the VirtualService. */
  sniHosts: required(list(string()), "at least one SNI host"),
  /** Addresses that the client dials: IPs or CIDRs. */
  destinationSubnets: list(string()),
  /** Port that the client dials. */
  port: uint32(),
  /** Labels of the client's workload. */
  sourceLabels: labels(),
  /** Overrides the VirtualService's list for the rule. */
  gateways: list(string()),
  /** Namespace of the client's workload. */
  sourceNamespace: string(),
});

/** Conditions on a TLS connection. */
export interface TlsMatchAttributes extends Of<typeof tlsMatchAttributes> {}

const tlsRoute = message({
  /** Conditions; any must hold. */
  match: list(tlsMatchAttributes),
  /** Destinations with weights. */
  route: list(routeDestination),
});

/** A TLS rule: SNI matching without termination. */
export interface TlsRoute extends Of<typeof tlsRoute> {}

const l4MatchAttributes = message({
  /** IPs or CIDRs. */
  destinationSubnets: list(string()),
  /** Port that the client dials. */
  port: uint32(),
  /** Accepted without effect, as in Istio. */
  sourceSubnet: string(),
  /** Labels of the client's workload. */
  sourceLabels: labels(),
  /** Overrides the VirtualService's list for the rule. */
  gateways: list(string()),
  /** Namespace of the client's workload. */
  sourceNamespace: string(),
});

/** Conditions on a TCP connection. */
export interface L4MatchAttributes extends Of<typeof l4MatchAttributes> {}

const tcpRoute = message({
  /** Conditions; any must hold. Absent: every connection. */
  match: list(l4MatchAttributes),
  /** Destinations with weights. */
  route: list(routeDestination),
});

/** A TCP rule. */
export interface TcpRoute extends Of<typeof tcpRoute> {}

export const virtualService = message({
  /** Names as in a Host header or SNI; short names are relative to the object's namespace. Absent in a delegate. */
  hosts: list(string()),
  /** `namespace/name` or `name` of Gateways, and the reserved `mesh` for all sidecars; absent: `mesh`. */
  gateways: list(string()),
  /** Rules for HTTP; the first matching rule decides. */
  http: list(httpRoute),
  /** Rules for TLS without termination; the first matching rule decides. */
  tls: list(tlsRoute),
  /** Rules for TCP; the first matching rule decides. */
  tcp: list(tcpRoute),
  /** Namespaces that see the VirtualService: `*`, `.` (own), names; absent: the mesh's default. */
  exportTo: list(string()),
});

/** Spec of a VirtualService. A delegate (no `hosts`) is only reached through another VirtualService's `delegate`. */
export interface VirtualServiceSpec extends Of<typeof virtualService> {
  /** Rules for HTTP; the first matching rule decides. */
  readonly http?: readonly HttpRoute[];
  /** Set only by derivations. */
  readonly internal?: InternalVirtualService;
}
