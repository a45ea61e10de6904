/**
 * The tracing of a workload, merged from Telemetries. Fields are merged separately, and the nearest decides; custom
 * tags are a single field.
 *
 * @module
 */
import type { TelemetryTracing, TracingCustomTag } from "../../config/kinds/telemetry/schema.ts";
import type { MeshConfig } from "../../config/mesh/types.ts";
import { isFor, type TelemetrySide } from "./access_logging.ts";

/** How requests of a side are traced. */
export interface TracingUse {
  /** Name of the provider, as written. Absent: nothing is traced. */
  readonly provider?: string;
  /** No spans are reported. */
  readonly disabled: boolean;
  /** Percent of requests, 0..100; absent: the proxy's own settings decide. */
  readonly sampling?: number;
  /** Absent: the tags of the proxy's own settings. */
  readonly customTags?: Readonly<Record<string, TracingCustomTag>>;
  readonly useRequestId: boolean;
  /** Tags of the mesh are added. */
  readonly meshTags: boolean;
  /** Headers of traces are not sent on. */
  readonly withoutPropagation: boolean;
}

/** Undefined: Telemetries and default providers say nothing, so that the mesh's own fields hold. */
export type Tracing = TracingUse | undefined;

/**
 * Merges the entries of Telemetries.
 *
 * @param entries The widest first.
 */
export function mergedTracing(
  entries: readonly TelemetryTracing[],
  mesh: MeshConfig,
  side: TelemetrySide,
): Tracing {
  const [byDefault] = mesh.defaultProviders.tracing ?? [];
  if (entries.length === 0 && byDefault === undefined) return undefined;
  const base: TracingUse = { disabled: false, useRequestId: true, meshTags: true, withoutPropagation: false };
  const first = byDefault === undefined ? base : { ...base, provider: byDefault };
  return entries.filter(({ match }) => isFor(match?.mode, side)).reduce(laidOver, first);
}

function laidOver(use: TracingUse, entry: TelemetryTracing): TracingUse {
  const provider = entry.providers?.[0]?.name ?? use.provider;
  const sampling = entry.randomSamplingPercentage ?? use.sampling;
  const customTags = entry.customTags ?? use.customTags;
  return {
    ...(provider === undefined ? {} : { provider }),
    disabled: entry.disableSpanReporting ?? use.disabled,
    ...(sampling === undefined ? {} : { sampling }),
    ...(customTags === undefined ? {} : { customTags }),
    useRequestId: entry.useRequestIdForTraceSampling ?? use.useRequestId,
    meshTags: entry.enableMeshTags ?? use.meshTags,
    withoutPropagation: entry.disableContextPropagation ?? use.withoutPropagation,
  };
}
