/**
 * The catalogue of metrics of all three programs.
 *
 * @module
 */
import { type Program, usedBy } from "../program/program.ts";
import type { Metric, MetricType } from "./define.ts";
import { modelMetrics } from "./model_metrics.ts";
import { nodeMetrics } from "./node_metrics.ts";
import { ownMetrics } from "./own_metrics.ts";
import { platformMetrics } from "./platform_metrics.ts";
import { xdsMetrics } from "./xds_metrics.ts";

/** Areas of the table, in the order of the reference page. */
export const metricAreas = {
  "Discovery": xdsMetrics,
  "Configuration and registry": modelMetrics,
  "Platform, certificates and process": platformMetrics,
  "Agent, Wasm and node": nodeMetrics,
  "Beyond the shared tables": ownMetrics,
} as const;

/** Every metric by name. */
export const metricCatalogue = { ...xdsMetrics, ...modelMetrics, ...platformMetrics, ...nodeMetrics, ...ownMetrics };

/** Type of the table. */
export type MetricCatalogue = typeof metricCatalogue;

export type MetricName = keyof MetricCatalogue;

/** Names of the metrics with a given type. */
export type MetricNameOf<T extends MetricType> = {
  [K in MetricName]: MetricCatalogue[K]["type"] extends T ? K : never;
}[MetricName];

export type LabelsOf<K extends MetricName> = MetricCatalogue[K]["labels"][number];

/** The table as rows, in order. */
export function metricEntries(): [MetricName, Metric][] {
  return Object.entries(metricCatalogue) as [MetricName, Metric][];
}

/** The metrics of a program. */
export function metricsUsedBy(program: Program): [MetricName, Metric][] {
  return metricEntries().filter(([, metric]) => usedBy(metric.users, program));
}
