/**
 * Extension providers of the mesh configuration: authorizers, tracers, metrics and log sinks, by name. Field names
 * starting with `envoy` in Istio's spelling start with `proxy` here.
 *
 * @module
 */
import { list, stringMap, struct } from "../schema/containers.ts";
import { keepZero, required } from "../schema/field.ts";
import { message, type Of, type ValuesOf } from "../schema/message.ts";
import { bool, duration, enumOf, int32, int64, string, uint32 } from "../schema/scalars.ts";

const service = {
  /** `[namespace/]host`. */
  service: required(string(), "the host of a service"),
  /** Port of the service. */
  port: required(uint32(), "a port number, 1..65535"),
};
/** The service behind a provider. */
export interface ProviderService extends ValuesOf<typeof service> {}

const tagged = {
  ...service,
  /** Longest path in a span; absent: 256. */
  maxTagLength: uint32(),
};
const empty = message({});
const strings = list(string());

const requestBody = message({
  /** Longest part of the body. */
  maxRequestBytes: uint32(),
  /** Send the beginning of a longer body instead of refusing the request. */
  allowPartialMessage: bool(),
  /** Send the body as bytes instead of text. */
  packAsBytes: bool(),
});

/** Parts of the request body for an authorizer. */
export interface ExtAuthzRequestBody extends Of<typeof requestBody> {}

const extAuthz = {
  ...service,
  /** Longest time of a check; absent: 600s. */
  timeout: duration(),
  /** Let requests pass when the authorizer fails; default false. */
  failOpen: bool(),
  /** Choose the route again after the authorizer's changes. */
  clearRouteCache: bool(),
  /** HTTP status when the authorizer fails, as text; absent: 403. */
  statusOnError: string(),
  /** Send the body too; absent: only headers. */
  includeRequestBodyInCheck: requestBody,
};

const httpHeader = message(
  {
    /** Name of the header. */
    name: string(),
    /** Value of the header. */
    value: keepZero(string()),
    /** Environment variable of the server with the header's value. */
    envName: keepZero(string()),
  },
  { oneOf: [["value", "envName"]] },
);

/** A header to send, with a value or the name of a variable. */
export interface ProviderHttpHeader extends Of<typeof httpHeader> {}

const httpService = message({
  /** Path of the export. */
  path: string(),
  /** Longest time of an export. */
  timeout: duration(),
  /** Headers of the export. */
  headers: list(httpHeader),
});

/** HTTP export. */
export interface ProviderHttpService extends Of<typeof httpService> {}

const logFormat = message({
  /** Format string of Envoy. */
  text: string(),
  /** Fields with their format strings. */
  labels: struct(),
});

/** Log format: text, or fields. (For OpenTelemetry both may be set.) */
export interface ProviderLogFormat extends Of<typeof logFormat> {}

const accessLogService = {
  ...service,
  /** Name of the log at the service. */
  logName: string(),
  /** Logged objects of the filter state. */
  filterStateObjectsToLog: strings,
};

const opentelemetry = message({
  ...tagged,
  /** Export over HTTP. */
  http: httpService,
  /** Export over gRPC: longest time and metadata. */
  grpc: message({
    /** Longest time of an export. */
    timeout: duration(),
    /** Metadata of the export. */
    initialMetadata: list(httpHeader),
  }),
  /** Attributes of the resource from environment variables or from Dynatrace. */
  resourceDetectors: message({
    /** Present (always empty): from `OTEL_RESOURCE_ATTRIBUTES` of the proxy. */
    environment: empty,
    /** Present (always empty): from the files of Dynatrace. */
    dynatrace: empty,
  }),
  /** Sampling by Dynatrace. */
  dynatraceSampler: message({
    /** Tenant of Dynatrace. */
    tenant: string(),
    /** Number of the cluster at Dynatrace. */
    clusterId: int32(),
    /** Desired root spans a minute, until Dynatrace decides. */
    rootSpansPerMinute: uint32(),
    /** Service that answers how much to sample. */
    httpService: message({
      ...service,
      /** Path and headers of the question. */
      http: httpService,
    }),
  }),
});

/** OpenTelemetry tracing; at most one of http and grpc. */
export interface OpenTelemetryProvider extends Of<typeof opentelemetry> {}

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

const extAuthzHttpProvider = message({
  ...extAuthz,
  /** Put before the path. */
  pathPrefix: string(),
  /** Deprecated spelling of includeRequestHeadersInCheck. */
  includeHeadersInCheck: strings,
  /** Headers of the request for the authorizer. */
  includeRequestHeadersInCheck: strings,
  /** Further headers for the authorizer, with fixed values. */
  includeAdditionalHeadersInCheck: stringMap(),
  /** Headers of the authorizer's answer for the service. */
  headersToUpstreamOnAllow: strings,
  /** Headers of the authorizer's refusal for the client. */
  headersToDownstreamOnDeny: strings,
  /** Headers of the authorizer's answer for the client. */
  headersToDownstreamOnAllow: strings,
});

/** External authorization over HTTP. */
export interface ExtAuthzHttpProvider extends Of<typeof extAuthzHttpProvider> {}

const extAuthzGrpcProvider = message(extAuthz);

/** External authorization over gRPC. */
export interface ExtAuthzGrpcProvider extends Of<typeof extAuthzGrpcProvider> {}

export const extensionProvider = message(
  {
    /** The provider's name in policies. */
    name: required(string(), "the name of the provider"),
    /** An authorizer over HTTP. */
    proxyExtAuthzHttp: extAuthzHttpProvider,
    /** An authorizer over gRPC. */
    proxyExtAuthzGrpc: extAuthzGrpcProvider,
    /** Traces to Zipkin. */
    zipkin: message({
      ...tagged,
      /** Trace IDs of 64 bits instead of 128; default false. */
      enable64bitTraceId: bool(),
      /** Path for spans; absent: `/api/v2/spans`. */
      path: string(),
      /** Longest time of a report; absent: 5s. */
      timeout: duration(),
      /** Headers of the reports. */
      headers: list(httpHeader),
      /** Headers of traces to read and send on; absent: only B3. */
      traceContextOption: enumOf("USE_B3", "USE_B3_WITH_W3C_PROPAGATION"),
    }),
    /** Traces to Lightstep. */
    lightstep: message({
      ...tagged,
      /** Access token from Lightstep. */
      accessToken: string(),
    }),
    /** Traces to Datadog. */
    datadog: message(tagged),
    /** Traces and logs to Stackdriver. */
    stackdriver: message({
      /** Write spans to standard output too; default false. */
      debug: bool(),
      /** Most attributes of a span. */
      maxNumberOfAttributes: keepZero(int64()),
      /** Most annotations of a span. */
      maxNumberOfAnnotations: keepZero(int64()),
      /** Most message events of a span. */
      maxNumberOfMessageEvents: keepZero(int64()),
      /** Longest path in a span; absent: 256. */
      maxTagLength: uint32(),
      /** Access logs. */
      logging: message({
        /** Labels of an entry, with expressions for their values. */
        labels: stringMap(),
      }),
    }),
    /** Traces to an OpenCensus agent. */
    opencensus: message({
      ...tagged,
      /** Forms of trace context to read and pass on. */
      context: strings,
    }),
    /** Traces to SkyWalking. */
    skywalking: message({
      ...service,
      /** Access token for SkyWalking. */
      accessToken: string(),
    }),
    /** Traces to OpenTelemetry. */
    opentelemetry,
    /** Present (always empty): metrics for Prometheus. */
    prometheus: empty,
    /** Access logs into a file: `/dev/stdout` where no path is given. */
    proxyFileAccessLog: message({
      /** File or device; absent: `/dev/stdout`. */
      path: string(),
      /** Format of a line; absent: the mesh's format. */
      logFormat,
      /** Fields without a value are left out instead of written as `-`; default false. */
      omitEmptyValues: bool(),
    }),
    /** Access logs of HTTP to a log service. */
    proxyHttpAls: message({
      ...accessLogService,
      /** Further logged headers of requests. */
      additionalRequestHeadersToLog: strings,
      /** Further logged headers of responses. */
      additionalResponseHeadersToLog: strings,
      /** Further logged trailers of responses. */
      additionalResponseTrailersToLog: strings,
    }),
    /** Access logs of TCP to a log service. */
    proxyTcpAls: message(accessLogService),
    /** Access logs to OpenTelemetry. */
    proxyOtelAls: message({
      ...service,
      /** Name of the log at the service. */
      logName: string(),
      /** Format of an entry. */
      logFormat,
    }),
  },
  { oneOf: [PROVIDER_TYPES] },
);

/** A provider; exactly one of the fields after `name` is set. */
export interface ExtensionProvider extends Of<typeof extensionProvider> {}
