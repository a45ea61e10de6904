/**
 * Extension providers of the mesh configuration: authorizers, tracers, metrics and log sinks, by name.
 * Field names starting with `envoy` in Istio's spelling start with `proxy` here.
 *
 * @module
 */
import type { JsonObject, StringMap } from "../kinds/common/types.ts";

/** One provider; exactly one of the fields after `name` is set. */
export interface ExtensionProvider {
  /** The name by which policies refer to it. */
  readonly name: string;
  /** An authorizer over HTTP. */
  readonly proxyExtAuthzHttp?: ExtAuthzHttpProvider;
  /** An authorizer over gRPC. */
  readonly proxyExtAuthzGrpc?: ExtAuthzGrpcProvider;
  /** Traces to Zipkin. */
  readonly zipkin?: ProviderService & {
    /** Longest path in a span; absent: 256. */
    readonly maxTagLength?: number;
    /** Trace IDs of 64 bits instead of 128; default false. */
    readonly enable64bitTraceId?: boolean;
    /** Path that spans are sent to; absent: `/api/v2/spans`. */
    readonly path?: string;
    /** Longest time of a report; absent: 5s. */
    readonly timeout?: number;
    /** Headers that are sent with it. */
    readonly headers?: readonly ProviderHttpHeader[];
    /** Headers of traces that are read and sent on; absent: B3 alone. */
    readonly traceContextOption?: "USE_B3" | "USE_B3_WITH_W3C_PROPAGATION";
  };
  /** Traces to Lightstep. */
  readonly lightstep?: ProviderService & {
    /** Token that Lightstep gives out. */
    readonly accessToken?: string;
    /** Longest path in a span; absent: 256. */
    readonly maxTagLength?: number;
  };
  /** Traces to Datadog. */
  readonly datadog?: ProviderService & {
    /** Longest path in a span; absent: 256. */
    readonly maxTagLength?: number;
  };
  /** Traces and logs to Stackdriver. */
  readonly stackdriver?: {
    /** Write spans to standard output too; default false. */
    readonly debug?: boolean;
    /** Most attributes of a span. */
    readonly maxNumberOfAttributes?: number;
    /** Most annotations of a span. */
    readonly maxNumberOfAnnotations?: number;
    /** Most message events of a span. */
    readonly maxNumberOfMessageEvents?: number;
    /** Longest path in a span; absent: 256. */
    readonly maxTagLength?: number;
    /** Access logs. */
    readonly logging?: {
      /** Labels of an entry, with expressions for their values. */
      readonly labels?: StringMap;
    };
  };
  /** Traces to an OpenCensus agent. */
  readonly opencensus?: ProviderService & {
    /** Forms of trace context that are read and passed on. */
    readonly context?: readonly string[];
    /** Longest path in a span; absent: 256. */
    readonly maxTagLength?: number;
  };
  /** Traces to SkyWalking. */
  readonly skywalking?: ProviderService & {
    /** Token that SkyWalking expects. */
    readonly accessToken?: string;
  };
  /** Traces to OpenTelemetry. */
  readonly opentelemetry?: OpenTelemetryProvider;
  /** Present (always empty): metrics for Prometheus. */
  readonly prometheus?: Readonly<Record<never, never>>;
  /** Access logs into a file: `/dev/stdout` where no path is given. */
  readonly proxyFileAccessLog?: {
    /** File or device; absent: `/dev/stdout`. */
    readonly path?: string;
    /** Format of a line; absent: that of the mesh. */
    readonly logFormat?: ProviderLogFormat;
    /** Fields without a value are left out instead of written as `-`; default false. */
    readonly omitEmptyValues?: boolean;
  };
  /** Access logs of HTTP to a log service. */
  readonly proxyHttpAls?: ProviderService & {
    /** Name of the log at the service. */
    readonly logName?: string;
    /** Objects of the filter state that are logged. */
    readonly filterStateObjectsToLog?: readonly string[];
    /** Further headers of requests that are logged. */
    readonly additionalRequestHeadersToLog?: readonly string[];
    /** Further headers of responses that are logged. */
    readonly additionalResponseHeadersToLog?: readonly string[];
    /** Further trailers of responses that are logged. */
    readonly additionalResponseTrailersToLog?: readonly string[];
  };
  /** Access logs of TCP to a log service. */
  readonly proxyTcpAls?: ProviderService & {
    /** Name of the log at the service. */
    readonly logName?: string;
    /** Objects of the filter state that are logged. */
    readonly filterStateObjectsToLog?: readonly string[];
  };
  /** Access logs to OpenTelemetry. */
  readonly proxyOtelAls?: ProviderService & {
    /** Name of the log at the service. */
    readonly logName?: string;
    /** Format of an entry. */
    readonly logFormat?: ProviderLogFormat;
  };
}

/** The service that implements a provider. */
export interface ProviderService {
  /** `[namespace/]host`. */
  readonly service: string;
  /** Port of the service. */
  readonly port: number;
}

/** Log format: text, or fields. (For OpenTelemetry both may be set.) */
export interface ProviderLogFormat {
  /** Format string of Envoy. */
  readonly text?: string;
  /** Fields with their format strings. */
  readonly labels?: JsonObject;
}

/** Parts of the request body that an authorizer gets. */
export interface ExtAuthzRequestBody {
  /** Longest part of the body. */
  readonly maxRequestBytes?: number;
  /** Send the beginning of a longer body instead of refusing it. */
  readonly allowPartialMessage?: boolean;
  /** Send the body as bytes instead of text. */
  readonly packAsBytes?: boolean;
}

/** External authorization over gRPC. */
export interface ExtAuthzGrpcProvider extends ProviderService {
  /** Longest time of a check; absent: 600s. */
  readonly timeout?: number;
  /** Let requests pass when the authorizer fails; default false. */
  readonly failOpen?: boolean;
  /** Choose the route anew with what the authorizer changed. */
  readonly clearRouteCache?: boolean;
  /** HTTP status when the authorizer fails, as text; absent: 403. */
  readonly statusOnError?: string;
  /** Send the body too; absent: headers alone. */
  readonly includeRequestBodyInCheck?: ExtAuthzRequestBody;
}

/** External authorization over HTTP. */
export interface ExtAuthzHttpProvider extends ExtAuthzGrpcProvider {
  /** Put before the path. */
  readonly pathPrefix?: string;
  /** Deprecated spelling of includeRequestHeadersInCheck. */
  readonly includeHeadersInCheck?: readonly string[];
  /** Headers of the request that the authorizer gets. */
  readonly includeRequestHeadersInCheck?: readonly string[];
  /** Headers with fixed values that it gets. */
  readonly includeAdditionalHeadersInCheck?: StringMap;
  /** Headers of its answer that go to the service. */
  readonly headersToUpstreamOnAllow?: readonly string[];
  /** Headers of its refusal that go to the client. */
  readonly headersToDownstreamOnDeny?: readonly string[];
  /** Headers of its answer that go to the client. */
  readonly headersToDownstreamOnAllow?: readonly string[];
}

/** A header to send; one of value and envName. */
export interface ProviderHttpHeader {
  /** Name of the header. */
  readonly name?: string;
  /** Its value. */
  readonly value?: string;
  /** Environment variable of the server that has its value. */
  readonly envName?: string;
}

/** HTTP export. */
export interface ProviderHttpService {
  /** Path of the export. */
  readonly path?: string;
  /** Longest time of an export. */
  readonly timeout?: number;
  /** Headers that are sent with it. */
  readonly headers?: readonly ProviderHttpHeader[];
}

/** OpenTelemetry tracing; at most one of http and grpc. */
export interface OpenTelemetryProvider extends ProviderService {
  /** Longest path in a span; absent: 256. */
  readonly maxTagLength?: number;
  /** Export over HTTP. */
  readonly http?: ProviderHttpService;
  /** Export over gRPC: its longest time and the metadata that is sent. */
  readonly grpc?: {
    /** Longest time of an export. */
    readonly timeout?: number;
    /** Metadata that is sent with it. */
    readonly initialMetadata?: readonly ProviderHttpHeader[];
  };
  /** Attributes of the resource from environment variables or from Dynatrace. */
  readonly resourceDetectors?: {
    /** Present (always empty): from `OTEL_RESOURCE_ATTRIBUTES` of the proxy. */
    readonly environment?: Readonly<Record<never, never>>;
    /** Present (always empty): from the files of Dynatrace. */
    readonly dynatrace?: Readonly<Record<never, never>>;
  };
  /** Sampling by Dynatrace. */
  readonly dynatraceSampler?: {
    /** Tenant of Dynatrace. */
    readonly tenant?: string;
    /** Number of the cluster at Dynatrace. */
    readonly clusterId?: number;
    /** Root spans a minute that are wanted, until Dynatrace says otherwise. */
    readonly rootSpansPerMinute?: number;
    /** Service that is asked how much to sample. */
    readonly httpService?: ProviderService & {
      /** Path and headers of the question. */
      readonly http?: ProviderHttpService;
    };
  };
}
