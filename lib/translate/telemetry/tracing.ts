/**
 * Tracing of HTTP connection managers, from Telemetries and default providers, else by the tracer in the proxy's
 * bootstrap, if the proxy's own settings or the mesh's settings name a tracer.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { TelemetrySide } from "../../mesh/telemetry/access_logging.ts";
import type { TracingUse } from "../../mesh/telemetry/tracing.ts";
import { any } from "../../pb/codec.ts";
import { wrap } from "../../pb/wellknown.ts";
import { hasExtension } from "../filters/extension.ts";
import { aspect } from "../reader/aspect.ts";
import type { Reader } from "../reader/reader.ts";
import { isUnusable } from "./provider.ts";
import { spanTags } from "./span_tags.ts";
import { tracer } from "./tracers.ts";

type HttpConnectionManager = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;

/** The fields of a connection manager for tracing. */
export type TracingFields = Pick<HttpConnectionManager, "tracing" | "request_id_extension">;

/** Percentage in place of a proxy's own setting outside 0 to 100. */
const WRONG_SAMPLING = 1;

/** Tracing fields for a side. Empty: nothing is traced. */
export function tracingFields(read: Reader, side: TelemetrySide): TracingFields {
  const use = read.tracing(side);
  return use === undefined ? bootstrapTracing(read) : usedTracing(read, use);
}

function bootstrapTracing(read: Reader): TracingFields {
  const own = read.proxyTracing();
  if (!read.mesh().enableTracing || own === undefined) return {};
  const { customTags, enableMeshTags = true, maxPathTagLength } = own.tracing ?? {};
  return {
    tracing: {
      ...samplingFields(ownSampling(read)),
      custom_tags: spanTags(customTags, enableMeshTags),
      ...maxLength(maxPathTagLength),
    },
  };
}

function usedTracing(read: Reader, use: TracingUse): TracingFields {
  if (use.disabled || use.provider === undefined) return {};
  const found = tracer(read, use.provider);
  if (isUnusable(found) || !hasExtension(read, found.http.name)) return {};
  const own = read.proxyTracing()?.tracing;
  const spawns = found.spawns === true || spawnsForGateway(read);
  return {
    tracing: {
      ...samplingFields(found.samples ? 100 : use.sampling ?? ownSampling(read)),
      custom_tags: spanTags(use.customTags ?? own?.customTags, use.meshTags),
      ...maxLength(found.maxTagLength ?? own?.maxPathTagLength),
      provider: found.http,
      ...(spawns ? { spawn_upstream_span: wrap(true) } : {}),
      ...(use.withoutPropagation ? { no_context_propagation: true } : {}),
    },
    // The other value is Envoy's default.
    ...(use.useRequestId ? {} : { request_id_extension: withoutRequestId() }),
  };
}

function spawnsForGateway(read: Reader): boolean {
  return read.settings.spawnUpstreamSpanForGateway && aspect(read, "gateways");
}

function withoutRequestId(): NonNullable<HttpConnectionManager["request_id_extension"]> {
  const config: envoy.extensions.request_id.uuid.v3.UuidRequestIdConfig = {
    use_request_id_for_trace_sampling: wrap(false),
  };
  return { typed_config: any("envoy.extensions.request_id.uuid.v3.UuidRequestIdConfig", config) };
}

/** Only the random share is limited: a trace that a client asks for is always made. */
function samplingFields(
  percent: number,
): Pick<NonNullable<TracingFields["tracing"]>, "client_sampling" | "random_sampling" | "overall_sampling"> {
  return { client_sampling: { value: 100 }, random_sampling: { value: percent }, overall_sampling: { value: 100 } };
}

function ownSampling(read: Reader): number {
  const sampling = read.proxyTracing()?.tracing?.sampling ?? read.settings.traceSampling;
  return sampling > 100 || sampling < 0 ? WRONG_SAMPLING : sampling;
}

function maxLength(length: number | undefined) {
  return length === undefined || length === 0 ? {} : { max_path_tag_length: wrap(length) };
}
