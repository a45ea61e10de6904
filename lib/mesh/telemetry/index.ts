/**
 * Telemetry objects, and what they make together for a workload: of its mesh, of its namespace, and of its labels or its
 * gateway. Namespaces have one; of several the oldest holds. Of those that choose a workload all hold, and where they say
 * the same the youngest decides.
 *
 * @module
 */
import type { TelemetryAccessLogging } from "../../config/kinds/telemetry/types.ts";
import type { MeshConfig } from "../../config/mesh/types.ts";
import type { ConfigObject } from "../../config/types.ts";
import { withTargets } from "../selection/gateway_target.ts";
import type { SelectableWorkload } from "../selection/index.ts";
import { MergedSelection } from "../selection/merged.ts";
import { SharedValues } from "../selection/shared_values.ts";
import { type AccessLogging, mergedAccessLogging, type TelemetrySide } from "./access_logging.ts";
import { mergedTracing, type Tracing, type TracingUse } from "./tracing.ts";

type Telemetry = ConfigObject<"Telemetry">;

/** What Telemetries ask of a proxy. Parts of equal content are one object, whichever Telemetries say them. */
export interface EffectiveTelemetry {
  readonly accessLogging: { readonly [S in TelemetrySide]: AccessLogging };
  readonly tracing: { readonly [S in TelemetrySide]: Tracing };
  /** Keys of the Telemetries. */
  readonly causes: readonly string[];
}

/** All Telemetry objects of the mesh. */
export class TelemetryIndex {
  readonly #merged: MergedSelection<"Telemetry", EffectiveTelemetry>;

  constructor(mesh: MeshConfig) {
    const parts = new SharedParts(mesh);
    this.#merged = new MergedSelection(mesh.rootNamespace, {
      choose: ({ root, namespace, workload }) => [...root.slice(0, 1), ...namespace.slice(0, 1), ...workload],
      merge: (objects) => parts.merged(objects),
      nothing: parts.merged([]),
    });
  }

  /**
   * Replaces some objects by others (no object of the same key may stay).
   *
   * @returns The namespaces of workloads whose telemetry may be another one; `*`: all.
   */
  update(removed: readonly Telemetry[], added: readonly Telemetry[]): Set<string> {
    return this.#merged.update(removed, added);
  }

  /** What is in force for a workload. */
  of(workload: Omit<SelectableWorkload, "targets">): EffectiveTelemetry {
    return this.#merged.of(withTargets(workload));
  }
}

class SharedParts {
  readonly #mesh: MeshConfig;
  readonly #logging = new SharedValues<NonNullable<AccessLogging>>();
  readonly #tracing = new SharedValues<TracingUse>();
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
      causes: this.#causes.of(objects.map(({ key }) => key)),
    };
  }

  #traced(objects: readonly Telemetry[], side: TelemetrySide): Tracing {
    const merged = mergedTracing(objects.flatMap(({ spec: { tracing = [] } }) => tracing), this.#mesh, side);
    return merged && this.#tracing.of(merged);
  }

  #accessLogging(levels: readonly (readonly TelemetryAccessLogging[])[], side: TelemetrySide): AccessLogging {
    const merged = mergedAccessLogging(levels, this.#mesh, side);
    return merged && this.#logging.of(merged);
  }
}
