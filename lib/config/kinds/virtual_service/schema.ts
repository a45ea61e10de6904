/**
 * Schema of VirtualService.
 *
 * @module
 */
import { labels, list, map, stringMap } from "../../schema/containers.ts";
import { type Field, keepZero, required, withDefault } from "../../schema/field.ts";
import { message } from "../../schema/message.ts";
import { bool, bytes, duration, enumOf, int32, string, uint32 } from "../../schema/scalars.ts";
import { httpRetry, percent, portSelector, stringMatch } from "../common/schema.ts";
import type * as types from "./types.ts";

/** See {@link types.Destination}. */
export const destination: Field<types.Destination> = message<types.Destination>({
  host: required(string(), "a host name"),
  subset: string(),
  port: portSelector,
});

const headerOperations = message<types.HeaderOperations>({
  set: stringMap(),
  add: stringMap(),
  remove: list(string()),
});

const headers = message<types.Headers>({ request: headerOperations, response: headerOperations });

const httpMatch = message<types.HttpMatchRequest>({
  name: string(),
  uri: stringMatch,
  scheme: stringMatch,
  method: stringMatch,
  authority: stringMatch,
  headers: map(stringMatch),
  port: uint32(),
  sourceLabels: labels(),
  gateways: list(string()),
  queryParams: map(stringMatch),
  ignoreUriCase: bool(),
  withoutHeaders: map(stringMatch),
  sourceNamespace: string(),
  statPrefix: string(),
});

const httpRouteDestination = message<types.HttpRouteDestination>({
  destination: required(destination, "a destination"),
  weight: int32(),
  headers,
});

const routeDestination = message<types.RouteDestination>({
  destination: required(destination, "a destination"),
  weight: int32(),
});

const redirect = message<types.HttpRedirect>(
  {
    uri: string(),
    authority: string(),
    port: keepZero(uint32()),
    derivePort: enumOf("FROM_PROTOCOL_DEFAULT", "FROM_REQUEST_PORT"),
    scheme: string(),
    redirectCode: uint32(),
  },
  { oneOf: [["port", "derivePort"]] },
);

const directResponse = message<types.HttpDirectResponse>({
  status: required(uint32(), "an HTTP status, 200..599"),
  body: message<types.HttpBody>({ string: keepZero(string()), bytes: keepZero(bytes()) }, {
    oneOf: [["string", "bytes"]],
  }),
});

const rewrite = message<types.HttpRewrite>({
  uri: string(),
  authority: string(),
  uriRegexRewrite: message<types.RegexRewrite>({
    match: required(string(), "an RE2 regular expression"),
    rewrite: string(),
  }),
});

const corsPolicy = message<types.CorsPolicy>({
  allowOrigin: list(string()),
  allowOrigins: list(stringMatch),
  allowMethods: list(string()),
  allowHeaders: list(string()),
  exposeHeaders: list(string()),
  maxAge: duration(),
  allowCredentials: keepZero(bool()),
  unmatchedPreflights: withDefault(enumOf("UNSPECIFIED", "FORWARD", "IGNORE"), "UNSPECIFIED"),
});

const fault = message<types.HttpFaultInjection>({
  delay: message<types.FaultDelay>(
    { percent: int32(), fixedDelay: duration(), exponentialDelay: duration(), percentage: percent },
    { oneOf: [["fixedDelay", "exponentialDelay"]] },
  ),
  abort: message<types.FaultAbort>(
    {
      httpStatus: keepZero(int32()),
      grpcStatus: keepZero(string()),
      http2Error: keepZero(string()),
      percentage: percent,
    },
    { oneOf: [["httpStatus", "grpcStatus", "http2Error"]] },
  ),
});

const httpRoute = message<types.HttpRoute>({
  name: string(),
  match: list(httpMatch),
  route: list(httpRouteDestination),
  redirect,
  directResponse,
  delegate: message<types.Delegate>({ name: string(), namespace: string() }),
  rewrite,
  timeout: duration(),
  retries: httpRetry,
  fault,
  mirror: destination,
  mirrors: list(message<types.HttpMirrorPolicy>({
    destination: required(destination, "a destination"),
    percentage: percent,
  })),
  mirrorPercent: keepZero(uint32()),
  mirrorPercentage: percent,
  corsPolicy,
  headers,
});

const tlsRoute = message<types.TlsRoute>({
  match: list(message<types.TlsMatchAttributes>({
    sniHosts: required(list(string()), "at least one SNI host"),
    destinationSubnets: list(string()),
    port: uint32(),
    sourceLabels: labels(),
    gateways: list(string()),
    sourceNamespace: string(),
  })),
  route: list(routeDestination),
});

const tcpRoute = message<types.TcpRoute>({
  match: list(message<types.L4MatchAttributes>({
    destinationSubnets: list(string()),
    port: uint32(),
    sourceSubnet: string(),
    sourceLabels: labels(),
    gateways: list(string()),
    sourceNamespace: string(),
  })),
  route: list(routeDestination),
});

/** Schema of {@link types.VirtualServiceSpec}. */
export const virtualService: Field<types.VirtualServiceSpec> = message<types.VirtualServiceSpec>({
  hosts: list(string()),
  gateways: list(string()),
  http: list(httpRoute),
  tls: list(tlsRoute),
  tcp: list(tcpRoute),
  exportTo: list(string()),
});
