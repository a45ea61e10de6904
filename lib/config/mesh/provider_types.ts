/**
 * Extension providers of the mesh configuration: authorizers, tracers, metrics and log sinks, by name.
 * Field names starting with `envoy` in Istio's spelling start with `proxy` here.
 *
 * @module
 */
import type { JsonObject, StringMap } from "../kinds/common/types.ts";

/** One provider; exactly one of the fields after `name` is set. */
export interface ExtensionProvider {
  readonly name: string;
  readonly proxyExtAuthzHttp?: ExtAuthzHttpProvider;
  readonly proxyExtAuthzGrpc?: ExtAuthzGrpcProvider;
  readonly zipkin?: ProviderService & {
    readonly maxTagLength?: number;
    readonly enable64bitTraceId?: boolean;
    readonly path?: string;
  };
  readonly lightstep?: ProviderService & { readonly accessToken?: string; readonly maxTagLength?: number };
  readonly datadog?: ProviderService & { readonly maxTagLength?: number };
  readonly stackdriver?: {
    readonly debug?: boolean;
    readonly maxNumberOfAttributes?: number;
    readonly maxNumberOfAnnotations?: number;
    readonly maxNumberOfMessageEvents?: number;
    readonly maxTagLength?: number;
    readonly logging?: { readonly labels?: StringMap };
  };
  readonly opencensus?: ProviderService & { readonly context?: readonly string[]; readonly maxTagLength?: number };
  readonly skywalking?: ProviderService & { readonly accessToken?: string };
  readonly opentelemetry?: OpenTelemetryProvider;
  /** Present (always empty): metrics for Prometheus. */
  readonly prometheus?: Readonly<Record<never, never>>;
  readonly proxyFileAccessLog?: {
    readonly path?: string;
    readonly logFormat?: ProviderLogFormat;
    readonly omitEmptyValues?: boolean;
  };
  readonly proxyHttpAls?: ProviderService & {
    readonly logName?: string;
    readonly filterStateObjectsToLog?: readonly string[];
    readonly additionalRequestHeadersToLog?: readonly string[];
    readonly additionalResponseHeadersToLog?: readonly string[];
    readonly additionalResponseTrailersToLog?: readonly string[];
  };
  readonly proxyTcpAls?: ProviderService & {
    readonly logName?: string;
    readonly filterStateObjectsToLog?: readonly string[];
  };
  readonly proxyOtelAls?: ProviderService & { readonly logName?: string; readonly logFormat?: ProviderLogFormat };
}

/** The service that implements a provider. */
export interface ProviderService {
  /** `[namespace/]host`. */
  readonly service: string;
  readonly port: number;
}

/** Log format: text, or fields. (For OpenTelemetry both may be set.) */
export interface ProviderLogFormat {
  readonly text?: string;
  readonly labels?: JsonObject;
}

/** Parts of the request body that an authorizer gets. */
export interface ExtAuthzRequestBody {
  readonly maxRequestBytes?: number;
  readonly allowPartialMessage?: boolean;
  readonly packAsBytes?: boolean;
}

/** External authorization over gRPC. */
export interface ExtAuthzGrpcProvider extends ProviderService {
  /** ms; absent: 600 s. */
  readonly timeout?: number;
  readonly failOpen?: boolean;
  readonly clearRouteCache?: boolean;
  /** HTTP status when the authorizer fails, as text; absent: 403. */
  readonly statusOnError?: string;
  readonly includeRequestBodyInCheck?: ExtAuthzRequestBody;
}

/** External authorization over HTTP. */
export interface ExtAuthzHttpProvider extends ExtAuthzGrpcProvider {
  readonly pathPrefix?: string;
  /** Deprecated spelling of includeRequestHeadersInCheck. */
  readonly includeHeadersInCheck?: readonly string[];
  readonly includeRequestHeadersInCheck?: readonly string[];
  readonly includeAdditionalHeadersInCheck?: StringMap;
  readonly headersToUpstreamOnAllow?: readonly string[];
  readonly headersToDownstreamOnDeny?: readonly string[];
  readonly headersToDownstreamOnAllow?: readonly string[];
}

/** A header to send; one of value and envName. */
export interface ProviderHttpHeader {
  readonly name?: string;
  readonly value?: string;
  readonly envName?: string;
}

/** HTTP export. */
export interface ProviderHttpService {
  readonly path?: string;
  /** ms. */
  readonly timeout?: number;
  readonly headers?: readonly ProviderHttpHeader[];
}

/** OpenTelemetry tracing; at most one of http and grpc. */
export interface OpenTelemetryProvider extends ProviderService {
  readonly maxTagLength?: number;
  readonly http?: ProviderHttpService;
  readonly grpc?: { readonly timeout?: number; readonly initialMetadata?: readonly ProviderHttpHeader[] };
  readonly resourceDetectors?: {
    readonly environment?: Readonly<Record<never, never>>;
    readonly dynatrace?: Readonly<Record<never, never>>;
  };
  readonly dynatraceSampler?: {
    readonly tenant?: string;
    readonly clusterId?: number;
    readonly rootSpansPerMinute?: number;
    readonly httpService?: ProviderService & { readonly http?: ProviderHttpService };
  };
}
