/**
 * The metrics of a workload's proxy, merged from Telemetries. The last entry with providers decides about the
 * providers. The changes of the entries are laid over each other, metric by metric and tag by tag.
 *
 * @module
 */
import type { MetricSelector, MetricsOverride, TelemetryMetrics } from "../../config/kinds/telemetry/schema.ts";
import type { MeshConfig } from "../../config/mesh/types.ts";
import { isFor, type TelemetrySide } from "./access_logging.ts";

/** The differences of a metric from the standard form. */
export interface MetricChange {
  readonly disabled?: boolean;
  /** Expressions by tag; null: the tag is removed. */
  readonly tags?: Readonly<Record<string, string | null>>;
}

/** A provider of metrics, as the Telemetries of a workload use it. */
export interface MetricsUse {
  /** Name of the provider, as written. */
  readonly provider: string;
  /** By metric: `REQUEST_COUNT`, or the name from the user. */
  readonly changes: Readonly<Record<string, MetricChange>>;
}

/** Sorted by provider. Providers without a metric are left out. Empty: nothing is measured. */
export type MetricsUses = readonly MetricsUse[];

/** The standard metrics, as named in Telemetries. */
export const STANDARD_METRICS = [
  ...["REQUEST_COUNT", "REQUEST_DURATION", "REQUEST_SIZE", "RESPONSE_SIZE", "TCP_OPENED_CONNECTIONS"],
  ...["TCP_CLOSED_CONNECTIONS", "TCP_SENT_BYTES", "TCP_RECEIVED_BYTES", "GRPC_REQUEST_MESSAGES"],
  "GRPC_RESPONSE_MESSAGES",
] as const;

/**
 * Merges the entries of Telemetries.
 *
 * @param entries The widest first.
 */
export function mergedMetrics(
  entries: readonly TelemetryMetrics[],
  mesh: MeshConfig,
  side: TelemetrySide,
): MetricsUses {
  const defaults = mesh.defaultProviders.metrics ?? [];
  const lists = entries.map(({ providers = [] }) => providers.map(({ name }) => name));
  const inScope = new Set(lists.findLast((names) => names.length > 0) ?? defaults);
  const uses = new Map<string, ProviderChanges>();
  if (entries.length === 0) { for (const provider of defaults) uses.set(provider, new ProviderChanges()); }
  let inherited: readonly string[] = defaults;
  for (const [at, { overrides = [] }] of entries.entries()) {
    if (lists[at]!.length > 0) inherited = lists[at]!;
    for (const provider of inherited) {
      if (!inScope.has(provider)) continue;
      const changes = uses.get(provider) ?? new ProviderChanges();
      uses.set(provider, changes);
      for (const override of overrides) if (isFor(override.match?.mode, side)) changes.lay(override);
    }
  }
  return [...uses].flatMap(([provider, { disabled, changes }]) => disabled ? [] : [{ provider, changes }])
    .sort((a, b) => (a.provider < b.provider ? -1 : 1));
}

class ProviderChanges {
  readonly changes: Record<string, MetricChange> = {};
  /** All metrics are turned off, and no later entry is about a metric. */
  disabled = false;

  lay({ match, disabled, tagOverrides = {} }: MetricsOverride): void {
    const names = metricsOf(match);
    this.disabled = names === undefined && disabled === true;
    if (this.disabled) return;
    const tags = Object.entries(tagOverrides).map(([name, { operation, value }]) =>
      [name, operation === "REMOVE" ? null : value ?? ""] as const
    );
    for (const name of names ?? STANDARD_METRICS) {
      const before = this.changes[name] ?? {};
      this.changes[name] = {
        ...before,
        ...(disabled === undefined ? {} : { disabled }),
        ...(tags.length === 0 ? {} : { tags: { ...before.tags, ...Object.fromEntries(tags) } }),
      };
    }
  }
}

/** The metrics of an override. Undefined: all metrics. */
function metricsOf({ metric, customMetric }: Partial<MetricSelector> = {}): readonly string[] | undefined {
  if (customMetric !== undefined) return [customMetric];
  return metric === undefined || metric === "ALL_METRICS" ? undefined : [metric];
}
