/**
 * Extensions of the OpenTelemetry tracer: sources of resource attributes, and the sampler.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { OpenTelemetryProvider } from "../../config/mesh/provider_schema.ts";
import { any } from "../../pb/codec.ts";
import { type ProviderCluster, providerCluster } from "../destination/provider_service.ts";
import { hasExtension } from "../filters/extension.ts";
import type { Reader } from "../reader/reader.ts";
import { exportHeaders, httpService } from "./exporter.ts";
import { isUnusable, type UnusableProvider } from "./provider.ts";

type Extension = envoy.config.core.v3.TypedExtensionConfig;

const DETECTOR = "envoy.tracers.opentelemetry.resource_detectors";
const DETECTORS = "envoy.extensions.tracers.opentelemetry.resource_detectors.v3";

/**
 * The name of the service. If the proxy has the name in a variable, the tracer's detector reads the variable, so the
 * proxy shares listeners with others.
 */
export function serviceName(read: Reader): { readonly service_name?: string } {
  return isNamedByVariable(read) ? {} : { service_name: read.property("serviceCluster") };
}

function isNamedByVariable(read: Reader): boolean {
  return hasExtension(read, `${DETECTOR}.environment`) && read.property("namedByVariable");
}

/** Sources of resource attributes. */
export function resourceDetectors(
  read: Reader,
  { resourceDetectors: { environment, dynatrace } = {} }: OpenTelemetryProvider,
): { readonly resource_detectors?: Extension[] } {
  const found = [
    ...(environment || isNamedByVariable(read) ? [detector("environment", "Environment")] : []),
    ...(dynatrace ? [detector("dynatrace", "Dynatrace")] : []),
  ];
  return found.length > 0 ? { resource_detectors: found } : {};
}

function detector(name: string, message: string): Extension {
  return {
    name: `${DETECTOR}.${name}`,
    typed_config: any(`${DETECTORS}.${message}ResourceDetectorConfig`),
  };
}

/** Dynatrace's sampler. Undefined when the provider has none. */
export function otelSampler(
  read: Reader,
  exporter: ProviderCluster,
  { dynatraceSampler, http }: OpenTelemetryProvider,
): Extension | UnusableProvider | undefined {
  if (dynatraceSampler === undefined) return undefined;
  const { tenant = "", clusterId = 0, rootSpansPerMinute, httpService: own } = dynatraceSampler;
  const to = own ? providerCluster(read, own) : exporter;
  if (isUnusable(to)) return to;
  const settings = own ? own.http : http;
  if (settings === undefined) return { why: "has a dynatraceSampler without an HTTP service" };
  const path = own ? settings.path ?? "" : "/api/v2/samplingConfiguration";
  const config: envoy.extensions.tracers.opentelemetry.samplers.v3.DynatraceSamplerConfig = {
    tenant,
    cluster_id: clusterId,
    http_service: httpService(to, path, settings.timeout, exportHeaders(read, settings.headers)),
    ...(rootSpansPerMinute === undefined ? {} : { root_spans_per_minute: rootSpansPerMinute }),
  };
  return {
    name: "envoy.tracers.opentelemetry.samplers.dynatrace",
    typed_config: any("envoy.extensions.tracers.opentelemetry.samplers.v3.DynatraceSamplerConfig", config),
  };
}
