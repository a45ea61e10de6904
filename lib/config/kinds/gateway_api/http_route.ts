/**
 * HTTPRoute of the Gateway API.
 *
 * @module
 */
import { list } from "../../schema/containers.ts";
import { keepZero, required, withDefault } from "../../schema/field.ts";
import { limitedChoice, limitedList, limitedNumber, limitedText } from "../../schema/limited.ts";
import { message, type Of } from "../../schema/message.ts";
import { bool, enumOf, int32, string } from "../../schema/scalars.ts";
import {
  backendObject,
  choice,
  gatewayDuration,
  headerName,
  hostname,
  localRef,
  parentRefs,
  portNumber,
  preciseHostname,
  sectionName,
  weightedFields,
} from "./common.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"] as const;

const header = message({
  /** Name of the header. */
  name: required(headerName, "the name of a header"),
  /** Value of the header. */
  value: required(
    // Definitions before v1.4 took any text. Control characters are never sent.
    // deno-lint-ignore no-control-regex
    limitedText(string(), "the value of a header", { min: 1, max: 4096 }, /^[^\x00-\x08\x0a-\x1f\x7f]*$/),
    "the value of a header",
  ),
});

const headerFilter = message({
  /** Headers with a new value. */
  set: limitedList(list(header), { max: 16 }),
  /** Further headers, beside present values. */
  add: limitedList(list(header), { max: 16 }),
  /** Headers to remove. */
  remove: limitedList(list(string()), { max: 16 }),
});

/** Changes of headers. */
export interface HeaderFilter extends Of<typeof headerFilter> {}

export { headerFilter };

const mirrorFilter = message({
  /** Where copies go. */
  backendRef: required(backendObject, "a backend"),
  /** Share of the requests in percent; absent: all. */
  percent: limitedNumber(keepZero(int32()), { max: 100 }),
  /** Share of the requests as a fraction; absent: all. */
  fraction: message({
    /** Parts that are copied. */
    numerator: required(limitedNumber(keepZero(int32()), { max: 2 ** 31 - 1 }), "a number, 0 or more"),
    /** Number of parts. */
    denominator: withDefault(limitedNumber(int32(), { min: 1, max: 2 ** 31 - 1 }), 100),
  }),
});

/** Copies requests. */
export interface MirrorFilter extends Of<typeof mirrorFilter> {}

export { mirrorFilter };

const pathModifier = message({
  /** Which of the two fields is used. */
  type: required(choice("ReplaceFullPath", "ReplacePrefixMatch"), "ReplaceFullPath or ReplacePrefixMatch"),
  /** The new path. */
  replaceFullPath: limitedText(keepZero(string()), "a path", { max: 1024 }),
  /** The new beginning of the path, in place of the matched prefix. */
  replacePrefixMatch: limitedText(keepZero(string()), "a path", { max: 1024 }),
});

/** Changes a path. */
export interface PathModifier extends Of<typeof pathModifier> {}

const redirectFilter = message({
  /** Scheme of the new location; absent: the scheme of the request. */
  scheme: enumOf("http", "https"),
  /** Host of the new location; absent: the host of the request. */
  hostname: preciseHostname,
  /** Path of the new location; absent: the path of the request. */
  path: pathModifier,
  /** Port of the new location; absent: the port of the scheme, else of the listener. */
  port: portNumber,
  /** Status of the answer. */
  statusCode: withDefault(
    limitedChoice(int32(), [301, 302, 303, 307, 308]),
    302,
  ),
});

/** Answers with a redirect. */
export interface RedirectFilter extends Of<typeof redirectFilter> {}

const rewriteFilter = message({
  /** The new host. */
  hostname: preciseHostname,
  /** The new path. */
  path: pathModifier,
});

/** Changes host or path before the request is sent on. */
export interface RewriteFilter extends Of<typeof rewriteFilter> {}

const corsFilter = message({
  /** Origins that may read answers: `SCHEME://HOST[:PORT]`, with `*` for parts, or `*`. */
  allowOrigins: limitedList(
    list(limitedText(
      string(),
      "an origin such as https://shop.example.com, or *",
      { min: 1, max: 253 },
      /^\*$|^([a-zA-Z][a-zA-Z0-9+.-]*):\/\/[^\s/?#]+$/,
    )),
    { max: 64 },
  ),
  /** Whether requests may carry credentials. */
  allowCredentials: keepZero(bool()),
  /** Allowed methods. */
  allowMethods: limitedList(list(enumOf(...METHODS, "*")), { max: 9 }),
  /** Headers that requests may carry. */
  allowHeaders: limitedList(list(headerName), { max: 64 }),
  /** Headers of answers that scripts may read. */
  exposeHeaders: limitedList(list(headerName), { max: 64 }),
  /** How long a browser may keep the answer to a preflight, seconds. */
  maxAge: withDefault(limitedNumber(int32(), { min: 1, max: 2 ** 31 - 1 }), 5),
});

/** Cross-origin requests. */
export interface CorsFilter extends Of<typeof corsFilter> {}

const externalAuth = message({
  /** Protocol of the authorizer. */
  protocol: required(choice("HTTP", "GRPC"), "HTTP or GRPC"),
  /** The authorizer. */
  backendRef: required(backendObject, "a backend"),
  /** Settings of an authorizer over gRPC. */
  grpc: message({
    /** Headers of requests that the authorizer gets. */
    allowedHeaders: limitedList(list(string()), { max: 64 }),
  }),
  /** Settings of an authorizer over HTTP. */
  http: message({
    /** Prefix of paths. */
    path: limitedText(
      string(),
      "a path",
      { max: 1024 },
      /^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|%[0-9a-fA-F]{2})+$/,
    ),
    /** Headers of requests that the authorizer gets. */
    allowedHeaders: limitedList(list(string()), { max: 64 }),
    /** Headers of the authorizer's answer that the backend gets. */
    allowedResponseHeaders: limitedList(list(string()), { max: 64 }),
  }),
  /** Whether the authorizer gets the body of a request. */
  forwardBody: message({
    /** Most bytes of a body. */
    maxSize: int32(),
  }),
});

const filter = message({
  /** Which of the fields is used. */
  type: required(
    choice(
      ...["RequestHeaderModifier", "ResponseHeaderModifier", "RequestMirror", "RequestRedirect"] as const,
      ...["URLRewrite", "ExtensionRef", "CORS", "ExternalAuth"] as const,
    ),
    "the type of a filter",
  ),
  /** Changes of the request's headers. */
  requestHeaderModifier: headerFilter,
  /** Changes of the answer's headers. */
  responseHeaderModifier: headerFilter,
  /** Copies requests. */
  requestMirror: mirrorFilter,
  /** Answers with a redirect. */
  requestRedirect: redirectFilter,
  /** Changes host or path. */
  urlRewrite: rewriteFilter,
  /** Cross-origin requests. */
  cors: corsFilter,
  /** Not supported: an authorizer of requests. */
  externalAuth,
  /** Not supported: a filter of another kind. */
  extensionRef: localRef,
});

/** A filter of a rule or a backend. */
export interface HTTPRouteFilter extends Of<typeof filter> {}

const filters = limitedList(list(filter), { max: 16 });

const backend = message({
  ...weightedFields,
  /** Filters of requests only to this backend. */
  filters,
});

/** A weighted backend. */
export interface HTTPBackendReference extends Of<typeof backend> {}

const valueType = withDefault(enumOf("Exact", "RegularExpression"), "Exact");

export const headerMatch = message({
  /** How the value is compared. */
  type: valueType,
  /** Name of the header. */
  name: required(headerName, "the name of a header"),
  /** The compared value. */
  value: required(limitedText(string(), "a value", { min: 1, max: 4096 }), "a value"),
});

const queryMatch = message({
  /** How the value is compared. */
  type: valueType,
  /** Name of the query parameter. */
  name: required(headerName, "the name of a query parameter"),
  /** The compared value. */
  value: required(limitedText(string(), "a value", { min: 1, max: 1024 }), "a value"),
});

const match = message({
  /** Condition on the path; absent: any path. */
  path: message({
    /** How the path is compared; a prefix consists of whole segments. */
    type: withDefault(enumOf("Exact", "PathPrefix", "RegularExpression"), "PathPrefix"),
    /** The compared path. */
    value: withDefault(limitedText(string(), "a path", { max: 1024 }), "/"),
  }),
  /** Conditions on headers; all must hold. */
  headers: limitedList(list(headerMatch), { max: 16 }),
  /** Conditions on query parameters; all must hold. */
  queryParams: limitedList(list(queryMatch), { max: 16 }),
  /** HTTP method. */
  method: enumOf(...METHODS),
});

/** Conditions on a request; all must hold. */
export interface HTTPRouteMatch extends Of<typeof match> {}

export const sessionPersistence = message({
  /** Name of the cookie or header. */
  sessionName: limitedText(string(), "a name", { max: 128 }),
  /** Longest life of a session. */
  absoluteTimeout: gatewayDuration,
  /** Where the session is kept. */
  type: withDefault(enumOf("Cookie", "Header"), "Cookie"),
  /** Life of the cookie. */
  cookieConfig: message({
    /** Whether the cookie ends with the browser's session, or with absoluteTimeout. */
    lifetimeType: withDefault(enumOf("Session", "Permanent"), "Session"),
  }),
});

const rule = message({
  /** Name of the rule, for access logs. */
  name: sectionName,
  /** Conditions; any must hold. Absent: every request. */
  matches: limitedList(list(match), { max: 64 }),
  /** Filters, each of most types at most once. */
  filters,
  /** Where requests go; absent, without a redirect: answers with 500. */
  backendRefs: limitedList(list(backend), { max: 16 }),
  /** Limits of time. */
  timeouts: message({
    /** Longest time of the whole request; 0: unlimited. */
    request: gatewayDuration,
    /** Longest time of one attempt at a backend; 0: unlimited. */
    backendRequest: gatewayDuration,
  }),
  /** Further attempts. */
  retry: message({
    /** Statuses that are tried again. */
    codes: list(limitedNumber(int32(), { min: 400, max: 599 })),
    /** Number of further attempts; 0: none. */
    attempts: limitedNumber(keepZero(int32()), { max: 2 ** 31 - 1 }),
    /** Shortest pause between attempts. */
    backoff: gatewayDuration,
  }),
  /** Requests of one session go to one endpoint. */
  sessionPersistence,
});

/** A rule of an HTTPRoute. */
export interface HTTPRouteRule extends Of<typeof rule> {}

export const httpRoute = message({
  /** The objects that the route attaches to. */
  parentRefs,
  /** Not supported: a route attaches to the parents that it names. */
  useDefaultGateways: enumOf("All", "None"),
  /** Hosts of requests; absent: all hosts of the listeners. */
  hostnames: limitedList(list(hostname), { max: 16 }),
  /** The rules; absent: a rule for every request, without backends. */
  rules: limitedList(list(rule), { min: 1, max: 16 }),
});

/** An HTTPRoute of the Gateway API: where requests go. */
export interface HTTPRouteSpec extends Of<typeof httpRoute> {}
