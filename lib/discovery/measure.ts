/**
 * Binds what the wire and the pipeline measure to the program's metrics.
 *
 * Permissions: none.
 *
 * @module
 */
import type { Metrics } from "../kernel/metrics/registry.ts";
import type { XdsMetrics } from "../xds/metrics.ts";
import type { Pipeline } from "./pipeline.ts";

/** The wire's measurements as metrics of the program. */
export function wireMetrics(metrics: Metrics): XdsMetrics {
  return {
    // The wire names only metrics of the catalogue, with their labels; the catalogue's types are stricter than its calls.
    count: (name, by, labels) => metrics.counter(name).inc((labels ?? {}) as never, by),
    gauge: (name, value, labels) => {
      if (name !== "pilot_xds") metrics.gauge(name).set((labels ?? {}) as never, value);
    },
    observe: (name, value, labels) => metrics.histogram(name).observe((labels ?? {}) as never, value),
  };
}

/** Values that are computed when a scrape asks. */
export function scrapeMetrics(metrics: Metrics, pipeline: Pipeline): void {
  /** Versions that were counted once: they go to 0, not away. */
  const seen = new Set<string>();
  metrics.onScrape(() => {
    metrics.gauge("pilot_services").set(pipeline.aggregate.serviceCount);
    metrics.gauge("pilot_virt_services").set(pipeline.translator.mesh.virtualServices.size);
    const versions = new Map<string, number>();
    for (const member of pipeline.translator.members()) {
      const version = member.proxy.version || "unknown";
      versions.set(version, (versions.get(version) ?? 0) + 1);
    }
    const known = metrics.gauge("pilot_xds");
    for (const version of seen) known.set({ version }, versions.get(version) ?? 0);
    for (const [version, count] of versions) {
      seen.add(version);
      known.set({ version }, count);
    }
  });
}
