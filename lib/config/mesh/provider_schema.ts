/**
 * Schema of extension providers.
 *
 * @module
 */
import { list, stringMap, struct } from "../schema/containers.ts";
import { type Field, keepZero, required } from "../schema/field.ts";
import { message, shape } from "../schema/message.ts";
import { bool, duration, enumOf, int32, int64, string, uint32 } from "../schema/scalars.ts";
import type * as types from "./provider_types.ts";

const service = {
  service: required(string(), "the host of a service"),
  port: required(uint32(), "a port number, 1..65535"),
};
const tagged = { ...service, maxTagLength: uint32() };
const empty = shape({});
const strings = list(string());

const requestBody = message<types.ExtAuthzRequestBody>({
  maxRequestBytes: uint32(),
  allowPartialMessage: bool(),
  packAsBytes: bool(),
});

const extAuthz = {
  ...service,
  timeout: duration(),
  failOpen: bool(),
  clearRouteCache: bool(),
  statusOnError: string(),
  includeRequestBodyInCheck: requestBody,
};

const httpHeader = message<types.ProviderHttpHeader>(
  { name: string(), value: keepZero(string()), envName: keepZero(string()) },
  { oneOf: [["value", "envName"]] },
);

const httpService = message<types.ProviderHttpService>({
  path: string(),
  timeout: duration(),
  headers: list(httpHeader),
});

const logFormat = message<types.ProviderLogFormat>({ text: string(), labels: struct() });
const accessLogService = { ...service, logName: string(), filterStateObjectsToLog: strings };

const opentelemetry = message<types.OpenTelemetryProvider>({
  ...tagged,
  http: httpService,
  grpc: shape({ timeout: duration(), initialMetadata: list(httpHeader) }),
  resourceDetectors: shape({ environment: empty, dynatrace: empty }),
  dynatraceSampler: shape({
    tenant: string(),
    clusterId: int32(),
    rootSpansPerMinute: uint32(),
    httpService: shape({ ...service, http: httpService }),
  }),
});

/** Names of the members of an extension provider; exactly one is written. */
export const PROVIDER_TYPES = [
  "proxyExtAuthzHttp",
  "proxyExtAuthzGrpc",
  "zipkin",
  "lightstep",
  "datadog",
  "stackdriver",
  "opencensus",
  "skywalking",
  "opentelemetry",
  "prometheus",
  "proxyFileAccessLog",
  "proxyHttpAls",
  "proxyTcpAls",
  "proxyOtelAls",
] as const;

/** Schema of {@link types.ExtensionProvider}. */
export const extensionProvider: Field<types.ExtensionProvider> = message<types.ExtensionProvider>(
  {
    name: required(string(), "the name of the provider"),
    proxyExtAuthzHttp: message<types.ExtAuthzHttpProvider>({
      ...extAuthz,
      pathPrefix: string(),
      includeHeadersInCheck: strings,
      includeRequestHeadersInCheck: strings,
      includeAdditionalHeadersInCheck: stringMap(),
      headersToUpstreamOnAllow: strings,
      headersToDownstreamOnDeny: strings,
      headersToDownstreamOnAllow: strings,
    }),
    proxyExtAuthzGrpc: message<types.ExtAuthzGrpcProvider>(extAuthz),
    zipkin: shape({
      ...tagged,
      enable64bitTraceId: bool(),
      path: string(),
      timeout: duration(),
      headers: list(httpHeader),
      traceContextOption: enumOf("USE_B3", "USE_B3_WITH_W3C_PROPAGATION"),
    }),
    lightstep: shape({ ...tagged, accessToken: string() }),
    datadog: shape(tagged),
    stackdriver: shape({
      debug: bool(),
      maxNumberOfAttributes: keepZero(int64()),
      maxNumberOfAnnotations: keepZero(int64()),
      maxNumberOfMessageEvents: keepZero(int64()),
      maxTagLength: uint32(),
      logging: shape({ labels: stringMap() }),
    }),
    opencensus: shape({ ...tagged, context: strings }),
    skywalking: shape({ ...service, accessToken: string() }),
    opentelemetry,
    prometheus: empty,
    proxyFileAccessLog: shape({ path: string(), logFormat, omitEmptyValues: bool() }),
    proxyHttpAls: shape({
      ...accessLogService,
      additionalRequestHeadersToLog: strings,
      additionalResponseHeadersToLog: strings,
      additionalResponseTrailersToLog: strings,
    }),
    proxyTcpAls: shape(accessLogService),
    proxyOtelAls: shape({ ...service, logName: string(), logFormat }),
  },
  { oneOf: [PROVIDER_TYPES] },
);
