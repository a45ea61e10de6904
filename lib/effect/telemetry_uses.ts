/**
 * The merged Telemetries of known workloads.
 *
 * @module
 */
import type { Mesh } from "../mesh/mesh.ts";
import type { PolicyWorkload } from "../mesh/selection/remembered.ts";
import type { TelemetrySide } from "../mesh/telemetry/access_logging.ts";
import type { EffectiveTelemetry } from "../mesh/telemetry/index.ts";
import { profileOf, type ProxyType } from "../translate/reader/proxy_profile.ts";

/** A proxy that may measure. */
interface MeasuredProxy {
  readonly type: ProxyType;
  readonly roles: readonly PolicyWorkload[];
  readonly standsIn: boolean;
}

/** The merged Telemetries of a workload, and the sides (client or server) of the proxies of such workloads. */
export interface TelemetryUse {
  readonly telemetry: EffectiveTelemetry;
  readonly sides: ReadonlySet<TelemetrySide>;
}

/** The merged Telemetries of all known workloads, by each contained Telemetry. Found at the first question. */
export class TelemetryUses {
  readonly #mesh: Mesh;
  readonly #proxies: readonly MeasuredProxy[];
  #byKey: Map<string, TelemetryUse[]> | undefined;

  constructor(mesh: Mesh, proxies: readonly MeasuredProxy[]) {
    this.#mesh = mesh;
    this.#proxies = proxies;
  }

  /** The merged Telemetries that contain a Telemetry. */
  of(key: string): readonly TelemetryUse[] {
    return (this.#byKey ??= this.#find()).get(key) ?? [];
  }

  #find(): Map<string, TelemetryUse[]> {
    const sides = new Map<EffectiveTelemetry, Set<TelemetrySide>>();
    for (const { standsIn, type, roles } of this.#proxies) {
      const { gateways, library } = profileOf(type);
      // Libraries measure and log by themselves.
      if (standsIn || library) continue;
      for (const role of roles) {
        const known = sides.getOrInsertComputed(this.#mesh.telemetries.of(role), () => new Set());
        known.add("client");
        if (!gateways) known.add("server");
      }
    }
    const byKey = new Map<string, TelemetryUse[]>();
    for (const [telemetry, of] of sides) {
      for (const key of telemetry.causes) byKey.getOrInsertComputed(key, () => []).push({ telemetry, sides: of });
    }
    return byKey;
  }
}
