/**
 * The settings that proxies get from merged Telemetries, as a text. Equal texts mean equal resources.
 *
 * @module
 */
import { providerUseProblem } from "../config/mesh/telemetry_providers.ts";
import type { TelemetrySpec } from "../config/kinds/telemetry/schema.ts";
import type { MeshConfig } from "../config/mesh/types.ts";
import { mergedAccessLogging, type TelemetrySide } from "../mesh/telemetry/access_logging.ts";
import { mergedMetrics, type MetricsUses } from "../mesh/telemetry/metrics.ts";
import { mergedTracing } from "../mesh/telemetry/tracing.ts";
import { STATISTICS } from "../translate/telemetry/metrics/statistics.ts";
import { changeOf } from "../translate/telemetry/metrics/stats_logger.ts";
import { standardTags } from "../translate/telemetry/metrics/tags.ts";

/** The lists of a Telemetry. */
export type TelemetryList = "accessLogging" | "metrics" | "tracing";

/** The name of an invented provider. The name counts as usable. */
export const PROBE = "?";

/**
 * The settings of a list.
 *
 * @param specs The Telemetries of a workload, the widest first.
 */
export function settingsOf(
  list: TelemetryList,
  specs: readonly TelemetrySpec[],
  mesh: MeshConfig,
  sides: readonly TelemetrySide[],
): string {
  const isUsable = (name: string) => name === PROBE || providerUseProblem(mesh, name, list) === undefined;
  return JSON.stringify(sides.map((side) => SETTINGS[list](specs, mesh, side, isUsable)));
}

type ReadSettings = (
  specs: readonly TelemetrySpec[],
  mesh: MeshConfig,
  side: TelemetrySide,
  isUsable: (name: string) => boolean,
) => unknown;

/** The fields of the mesh hold. */
const OF_MESH = "mesh";
const OFF = "off";

const SETTINGS: Readonly<Record<TelemetryList, ReadSettings>> = {
  accessLogging: (specs, mesh, side, isUsable) => {
    const levels = specs.flatMap(({ accessLogging = [] }) => accessLogging.length > 0 ? [accessLogging] : []);
    const uses = mergedAccessLogging(levels, mesh, side);
    const usable = uses?.filter(({ provider }) => isUsable(provider));
    return usable === undefined || (usable.length === 0 && uses!.length > 0) ? OF_MESH : usable;
  },
  metrics: (specs, mesh, side, isUsable) =>
    measured(mergedMetrics(specs.flatMap(({ metrics = [] }) => metrics), mesh, side), side, isUsable),
  tracing: (specs, mesh, side, isUsable) => {
    const use = mergedTracing(specs.flatMap(({ tracing = [] }) => tracing), mesh, side);
    if (use === undefined) return OF_MESH;
    return use.disabled || use.provider === undefined || !isUsable(use.provider) ? OFF : use;
  },
};

/**
 * The changes of each statistic. All usable providers count as a single provider. The first usable provider decides.
 */
function measured(uses: MetricsUses, side: TelemetrySide, isUsable: (name: string) => boolean): unknown {
  const use = uses.find(({ provider }) => isUsable(provider));
  if (use === undefined) return OFF;
  return (["http", "tcp"] as const).map((place) => {
    const standard = standardTags({ side, place, trustsHost: false, exchanged: false });
    return STATISTICS[place].flatMap(({ statistics }) => statistics).map((one) => {
      const { disabled = false, tags = {} } = changeOf(use, one);
      if (disabled) return OFF;
      const changed = Object.entries(tags).filter(([name, value]) => value === null ? standard.has(name) : name !== "");
      return changed;
    });
  });
}
