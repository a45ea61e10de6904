/**
 * The access logs of a workload, merged from Telemetries.
 *
 *     mesh's default providers ─> root namespace ─> namespace ─> workload
 *                                   the nearest level with providers decides which providers are used;
 *                                   the last entry of a provider decides its settings
 *
 * Only entries for the proxy's side of the request count.
 *
 * @module
 */
import type { TelemetryAccessLogging, TelemetryMode } from "../../config/kinds/telemetry/schema.ts";
import type { MeshConfig } from "../../config/mesh/types.ts";

/** The side of a request on which a proxy stands: the sender's side, or the receiver's. */
export type TelemetrySide = "client" | "server";

/** A provider of access logs, as the Telemetries of a workload use it. */
export interface AccessLogUse {
  /** Name of the provider, as written. */
  readonly provider: string;
  /** Nothing is sent to the provider. */
  readonly disabled?: true;
  /** CEL expression for logged requests. Absent: all requests. */
  readonly filter?: string;
}

/**
 * Sorted by provider. Undefined: neither Telemetries nor default providers decide, so the fields of the mesh
 * configuration (`accessLogFile` and others) apply.
 */
export type AccessLogging = readonly AccessLogUse[] | undefined;

/**
 * Merges the entries of Telemetries.
 *
 * @param levels The entries of each Telemetry, the widest first. Telemetries without entries are left out.
 */
export function mergedAccessLogging(
  levels: readonly (readonly TelemetryAccessLogging[])[],
  mesh: MeshConfig,
  side: TelemetrySide,
): AccessLogging {
  const defaults = mesh.defaultProviders.accessLogging ?? [];
  if (levels.length === 0 && defaults.length === 0) return undefined;
  const inScope = new Set(decidingProviders(levels, defaults, side));
  const filters = writtenFilters(levels, side);
  const uses = new Map<string, AccessLogUse>();
  if (levels.length === 0) { for (const provider of defaults) uses.set(provider, { provider }); }
  let inherited = defaults;
  let disabledAlone = false;
  for (const entry of levels.flat()) {
    if (!isFor(entry.match?.mode, side)) continue;
    const own = namesOf(entry);
    if (own.length > 0) inherited = own;
    disabledAlone = inherited.length === 0 && entry.disabled === true;
    const filter = own.length > 0 ? undefined : entry.filter?.expression;
    for (const provider of inherited) {
      if (!inScope.has(provider)) continue;
      uses.set(provider, used(provider, entry, filter ?? filters.get(provider)));
    }
  }
  // Without providers, `disabled` turns off the log of the mesh configuration's own fields.
  if (uses.size === 0) return disabledAlone ? [] : undefined;
  return [...uses.values()].sort((a, b) => (a.provider < b.provider ? -1 : 1));
}

function used(provider: string, { disabled }: TelemetryAccessLogging, filter: string | undefined): AccessLogUse {
  if (disabled) return { provider, disabled };
  return filter ? { provider, filter } : { provider };
}

/** The providers of the nearest level with providers, else the mesh's defaults. */
function decidingProviders(
  levels: readonly (readonly TelemetryAccessLogging[])[],
  defaults: readonly string[],
  side: TelemetrySide,
): readonly string[] {
  const named = levels.map((entries) => entries.filter(({ match }) => isFor(match?.mode, side)).flatMap(namesOf));
  return named.findLast((names) => names.length > 0) ?? defaults;
}

/** The filter of each provider, from the last entry of the provider. */
function writtenFilters(
  levels: readonly (readonly TelemetryAccessLogging[])[],
  side: TelemetrySide,
): ReadonlyMap<string, string | undefined> {
  const entries = levels.flat().filter(({ match }) => isFor(match?.mode, side));
  return new Map(entries.flatMap((entry) => namesOf(entry).map((name) => [name, entry.filter?.expression] as const)));
}

function namesOf({ providers = [] }: TelemetryAccessLogging): readonly string[] {
  return providers.map(({ name }) => name);
}

/** Whether an entry is for a side. */
export function isFor(mode: TelemetryMode | undefined, side: TelemetrySide): boolean {
  return mode === undefined || mode === "CLIENT_AND_SERVER" || mode === (side === "client" ? "CLIENT" : "SERVER");
}
