/**
 * Schema of extension providers.
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
/** The service that implements a provider. */
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
  /** Send the beginning of a longer body instead of refusing it. */
  allowPartialMessage: bool(),
  /** Send the body as bytes instead of text. */
  packAsBytes: bool(),
});

/** Parts of the request body that an authorizer gets. */
export interface ExtAuthzRequestBody extends Of<typeof requestBody> {}

const extAuthz = {
  ...service,
  /** Longest time of a check; absent: 600s. */
  timeout: duration(),
  /** Let requests pass when the authorizer fails; default false. */
  failOpen: bool(),
  /** Choose the route anew with what the authorizer changed. */
  clearRouteCache: bool(),
  /** HTTP status when the authorizer fails, as text; absent: 403. */
  statusOnError: string(),
  /** Send the body too; absent: headers alone. */
  includeRequestBodyInCheck: requestBody,
};

const httpHeader = message(
  {
    /** Name of the header. */
    name: string(),
    /** Its value. */
    value: keepZero(string()),
    /** Environment variable of the server that has its value. */
    envName: keepZero(string()),
  },
  { oneOf: [["value", "envName"]] },
);

/** A header to send; one of value and envName. */
export interface ProviderHttpHeader extends Of<typeof httpHeader> {}

const httpService = message({
  /** Path of the export. */
  path: string(),
  /** Longest time of an export. */
  timeout: duration(),
  /** Headers that are sent with it. */
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
  /** Objects of the filter state that are logged. */
  filterStateObjectsToLog: strings,
};

const opentelemetry = message({
  ...tagged,
  /** Export over HTTP. */
  http: httpService,
  /** Export over gRPC: its longest time and the metadata that is sent. */
  grpc: message({
    /** Longest time of an export. */
    timeout: duration(),
    /** Metadata that is sent with it. */
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
    /** Root spans a minute that are wanted, until Dynatrace says otherwise. */
    rootSpansPerMinute: uint32(),
    /** Service that is asked how much to sample. */
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
  /** Headers of the request that the authorizer gets. */
  includeRequestHeadersInCheck: strings,
  /** Headers with fixed values that it gets. */
  includeAdditionalHeadersInCheck: stringMap(),
  /** Headers of its answer that go to the service. */
  headersToUpstreamOnAllow: strings,
  /** Headers of its refusal that go to the client. */
  headersToDownstreamOnDeny: strings,
  /** Headers of its answer that go to the client. */
  headersToDownstreamOnAllow: strings,
});

/** External authorization over HTTP. */
export interface ExtAuthzHttpProvider extends Of<typeof extAuthzHttpProvider> {}

const extAuthzGrpcProvider = message(extAuthz);

/** External authorization over gRPC. */
export interface ExtAuthzGrpcProvider extends Of<typeof extAuthzGrpcProvider> {}

export const extensionProvider = message(
  {
    /** The name by which policies refer to it. */
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
      /** Path that spans are sent to; absent: `/api/v2/spans`. */
      path: string(),
      /** Longest time of a report; absent: 5s. */
      timeout: duration(),
      /** Headers that are sent with it. */
      headers: list(httpHeader),
      /** Headers of traces that are read and sent on; absent: B3 alone. */
      traceContextOption: enumOf("USE_B3", "USE_B3_WITH_W3C_PROPAGATION"),
    }),
    /** Traces to Lightstep. */
    lightstep: message({
      ...tagged,
      /** Token that Lightstep gives out. */
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
      /** Forms of trace context that are read and passed on. */
      context: strings,
    }),
    /** Traces to SkyWalking. */
    skywalking: message({
      ...service,
      /** Token that SkyWalking expects. */
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
      /** Format of a line; absent: that of the mesh. */
      logFormat,
      /** Fields without a value are left out instead of written as `-`; default false. */
      omitEmptyValues: bool(),
    }),
    /** Access logs of HTTP to a log service. */
    proxyHttpAls: message({
      ...accessLogService,
      /** Further headers of requests that are logged. */
      additionalRequestHeadersToLog: strings,
      /** Further headers of responses that are logged. */
      additionalResponseHeadersToLog: strings,
      /** Further trailers of responses that are logged. */
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

/** One provider; exactly one of the fields after `name` is set. */
export interface ExtensionProvider extends Of<typeof extensionProvider> {}
