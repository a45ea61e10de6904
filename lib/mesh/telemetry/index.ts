/**
 * Telemetry objects, and the merged settings of a workload: of the mesh, the namespace, and the labels or the gateway.
 * A namespace has a single Telemetry: of several the oldest holds. All Telemetries for chosen workloads hold, and the
 * youngest decides about a field.
 *
 * @module
 */
import type { TelemetryAccessLogging } from "../../config/kinds/telemetry/schema.ts";
import type { MeshConfig } from "../../config/mesh/types.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { PolicyReach } from "../selection/gateway_targets.ts";
import { MergedSelection, type Merging } from "../selection/merged.ts";
import type { PolicyWorkload } from "../selection/remembered.ts";
import { SharedValues } from "../../incremental/weak_table.ts";
import { mergedMetrics, type MetricsUse, type MetricsUses } from "./metrics.ts";
import { type AccessLogging, mergedAccessLogging, type TelemetrySide } from "./access_logging.ts";
import { mergedTracing, type Tracing, type TracingUse } from "./tracing.ts";

type Telemetry = ConfigObject<"Telemetry">;

/** The merged Telemetries of a proxy. Parts of equal content are the same object, even from other Telemetries. */
export interface EffectiveTelemetry {
  readonly accessLogging: { readonly [S in TelemetrySide]: AccessLogging };
  readonly tracing: { readonly [S in TelemetrySide]: Tracing };
  readonly metrics: { readonly [S in TelemetrySide]: MetricsUses };
  /** Keys of the Telemetries. */
  readonly causes: readonly string[];
}

/** All Telemetry objects of the mesh. */
export class TelemetryIndex {
  readonly #merged: MergedSelection<"Telemetry", EffectiveTelemetry>;
  readonly #measuredByDefault: boolean;
  /** The number of Telemetries with metrics. */
  #ofMetrics = 0;

  constructor(mesh: MeshConfig, reach: PolicyReach = {}) {
    const parts = new SharedParts(mesh);
    this.#measuredByDefault = (mesh.defaultProviders.metrics ?? []).length > 0;
    const merging: Merging<"Telemetry", EffectiveTelemetry> = {
      choose: ({ root, namespace, workload }) => [...root.slice(0, 1), ...namespace.slice(0, 1), ...workload],
      merge: (objects) => parts.merged(objects),
      nothing: parts.merged([]),
    };
    this.#merged = new MergedSelection(mesh.rootNamespace, merging, reach);
  }

  /**
   * Replaces objects by others.
   *
   * @param removed No object of the same key may stay.
   * @returns The namespaces of workloads whose telemetry may have changed. `*`: all.
   */
  update(removed: readonly Telemetry[], added: readonly Telemetry[]): Set<string> {
    const before = this.measures;
    this.#ofMetrics += added.filter(saysMetrics).length - removed.filter(saysMetrics).length;
    const namespaces = this.#merged.update(removed, added);
    return this.measures === before ? namespaces : new Set(["*"]);
  }

  /** To be called when workloads may have other targets. */
  forget(): void {
    this.#merged.forget();
  }

  /** Whether the metrics of any workload may be measured. */
  get measures(): boolean {
    return this.#measuredByDefault || this.#ofMetrics > 0;
  }

  /** The telemetry in force for a workload. */
  of(workload: PolicyWorkload): EffectiveTelemetry {
    return this.#merged.of(workload);
  }
}

function saysMetrics({ spec: { metrics = [] } }: Telemetry): boolean {
  return metrics.length > 0;
}

class SharedParts {
  readonly #mesh: MeshConfig;
  readonly #logging = new SharedValues<NonNullable<AccessLogging>>();
  readonly #tracing = new SharedValues<TracingUse>();
  readonly #metrics = new SharedValues<readonly MetricsUse[]>();
  readonly #causes = new SharedValues<readonly string[]>();

  constructor(mesh: MeshConfig) {
    this.#mesh = mesh;
  }

  merged(objects: readonly Telemetry[]): EffectiveTelemetry {
    const logging = objects.flatMap(({ spec: { accessLogging = [] } }) =>
      accessLogging.length > 0 ? [accessLogging] : []
    );
    return {
      accessLogging: { client: this.#accessLogging(logging, "client"), server: this.#accessLogging(logging, "server") },
      tracing: { client: this.#traced(objects, "client"), server: this.#traced(objects, "server") },
      metrics: { client: this.#measured(objects, "client"), server: this.#measured(objects, "server") },
      causes: this.#causes.of(objects.map(({ key }) => key)),
    };
  }

  #traced(objects: readonly Telemetry[], side: TelemetrySide): Tracing {
    const merged = mergedTracing(objects.flatMap(({ spec: { tracing = [] } }) => tracing), this.#mesh, side);
    return merged && this.#tracing.of(merged);
  }

  #measured(objects: readonly Telemetry[], side: TelemetrySide): MetricsUses {
    return this.#metrics.of(mergedMetrics(objects.flatMap(({ spec: { metrics = [] } }) => metrics), this.#mesh, side));
  }

  #accessLogging(levels: readonly (readonly TelemetryAccessLogging[])[], side: TelemetrySide): AccessLogging {
    const merged = mergedAccessLogging(levels, this.#mesh, side);
    return merged && this.#logging.of(merged);
  }
}
