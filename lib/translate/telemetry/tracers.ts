/**
 * Tracers of Envoy, from extension providers of the mesh configuration.
 *
 * @module
 */
import { ZipkinConfig_CollectorEndpointVersion as ZipkinVersion } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { OpenTelemetryProvider } from "../../config/mesh/provider_schema.ts";
import type { ExtensionProvider } from "../../config/mesh/types.ts";
import { any } from "../../pb/codec.ts";
import { wrap } from "../../pb/wellknown.ts";
import { type ProviderCluster, providerCluster } from "../destination/provider_service.ts";
import type { Reader } from "../reader/reader.ts";
import { exportHeaders, grpcService, httpService } from "./exporter.ts";
import { otelSampler, resourceDetectors, serviceName } from "./otel_extensions.ts";
import { extensionProvider, isUnusable, type UnusableProvider } from "./provider.ts";

/** A tracer, with further settings from its provider. */
export interface Tracer {
  readonly http: envoy.config.trace.v3.Tracing.Http & { readonly name: string };
  readonly maxTagLength: number | undefined;
  /** The tracer itself selects the sampled requests. */
  readonly samples?: true;
  /** Each upstream request needs a span of its own. */
  readonly spawns?: true;
}

/** The tracer of a provider, by name. */
export function tracer(read: Reader, name: string): Tracer | UnusableProvider {
  const provider = extensionProvider(read.mesh(), name, "tracing");
  if (isUnusable(provider)) return provider;
  const { zipkin, datadog, skywalking, opentelemetry } = provider;
  const settings = zipkin ?? datadog ?? skywalking ?? opentelemetry;
  if (settings === undefined) return { why: "has no tracing" };
  const to = providerCluster(read, settings);
  if (isUnusable(to)) return to;
  if (zipkin) return { http: zipkinTracer(read, to, zipkin), maxTagLength: zipkin.maxTagLength };
  if (datadog) return { http: datadogTracer(read, to), maxTagLength: datadog.maxTagLength };
  if (skywalking) return { http: skywalkingTracer(to, skywalking.accessToken), maxTagLength: undefined, spawns: true };
  return opentelemetry ? openTelemetryTracer(read, to, opentelemetry) : { why: "has no tracing" };
}

function zipkinTracer(
  read: Reader,
  to: ProviderCluster,
  settings: NonNullable<ExtensionProvider["zipkin"]>,
): Tracer["http"] {
  const { path = "/api/v2/spans", timeout, headers, traceContextOption } = settings;
  const config: envoy.config.trace.v3.ZipkinConfig = {
    collector_endpoint_version: ZipkinVersion.HTTP_JSON,
    trace_id_128bit: !settings.enable64bitTraceId,
    shared_span_context: wrap(false),
    collector_service: httpService(to, path, timeout, exportHeaders(read, headers)),
    ...(traceContextOption === "USE_B3_WITH_W3C_PROPAGATION" ? { trace_context_option: 1 } : {}),
  };
  return { name: "envoy.tracers.zipkin", typed_config: any("envoy.config.trace.v3.ZipkinConfig", config) };
}

function datadogTracer(read: Reader, { cluster, hostname }: ProviderCluster): Tracer["http"] {
  const config: envoy.config.trace.v3.DatadogConfig = {
    collector_cluster: cluster,
    collector_hostname: hostname,
    service_name: read.property("serviceCluster") || "unknown",
  };
  return { name: "envoy.tracers.datadog", typed_config: any("envoy.config.trace.v3.DatadogConfig", config) };
}

function skywalkingTracer(to: ProviderCluster, token: string | undefined): Tracer["http"] {
  const config: envoy.config.trace.v3.SkyWalkingConfig = {
    grpc_service: grpcService(to),
    ...(token ? { client_config: { backend_token: token } } : {}),
  };
  return { name: "envoy.tracers.skywalking", typed_config: any("envoy.config.trace.v3.SkyWalkingConfig", config) };
}

function openTelemetryTracer(
  read: Reader,
  to: ProviderCluster,
  settings: OpenTelemetryProvider,
): Tracer | UnusableProvider {
  const { http, grpc } = settings;
  const sampler = otelSampler(read, to, settings);
  if (sampler && isUnusable(sampler)) return sampler;
  const config: envoy.config.trace.v3.OpenTelemetryConfig = {
    ...serviceName(read),
    ...(http
      ? { http_service: httpService(to, http.path ?? "", http.timeout, exportHeaders(read, http.headers)) }
      : { grpc_service: grpcService(to, grpc?.timeout, exportHeaders(read, grpc?.initialMetadata, "grpc")) }),
    ...resourceDetectors(read, settings),
    ...(sampler ? { sampler } : {}),
  };
  return {
    http: {
      name: "envoy.tracers.opentelemetry",
      typed_config: any("envoy.config.trace.v3.OpenTelemetryConfig", config),
    },
    maxTagLength: settings.maxTagLength,
    ...(sampler ? { samples: true } : {}),
  };
}
