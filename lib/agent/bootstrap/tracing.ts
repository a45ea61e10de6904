/**
 * The tracer of a bootstrap, for routes without a tracer.
 *
 * @module
 */
import type { ProxySettings } from "../../config/mesh/types.ts";
import { type EnvoyJson, typed } from "./envoy_json.ts";
import type { BootstrapFinding } from "./remote_clusters.ts";

/** Tracers that stock Envoy has removed. */
const GONE = ["stackdriver", "openCensusAgent", "lightstep"] as const;

/** The message `Tracing`. `config` is undefined without a tracer, or without the tracer's cluster. */
export function tracingConfig(
  proxy: ProxySettings,
  service: string,
  clusters: readonly EnvoyJson[],
): { readonly config: EnvoyJson | undefined; readonly problems: readonly BootstrapFinding[] } {
  const problems = GONE.filter((tracer) => proxy.tracing?.[tracer] !== undefined).map((tracer) => ({
    field: `tracing.${tracer}`,
    value: tracer,
    expected: "a tracer that Envoy has: zipkin, datadog, or OpenTelemetry by a Telemetry object",
  }));
  const has = (cluster: string) => clusters.some(({ name }) => name === cluster);
  if (has("zipkin")) {
    const fields = {
      collector_cluster: "zipkin",
      collector_endpoint: "/api/v2/spans",
      collector_endpoint_version: "HTTP_JSON",
      trace_id_128bit: true,
      shared_span_context: false,
    };
    return { config: tracer("zipkin", "ZipkinConfig", fields), problems };
  }
  if (has("datadog_agent")) {
    const fields = { collector_cluster: "datadog_agent", service_name: service };
    return { config: tracer("datadog", "DatadogConfig", fields), problems };
  }
  return { config: undefined, problems };
}

function tracer(name: string, message: string, fields: EnvoyJson): EnvoyJson {
  return { http: { name: `envoy.tracers.${name}`, typed_config: typed(`envoy.config.trace.v3.${message}`, fields) } };
}
