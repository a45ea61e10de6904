/**
 * What the registry of the orchestrator's objects counts, as metrics.
 *
 * @module
 */
import type { Metrics } from "../kernel/metrics/registry.ts";
import type { RegistryCounts } from "../registry/orch/counts.ts";

/** Feeds the metrics when a scrape asks. */
export function measureOrchRegistry(metrics: Metrics, counts: RegistryCounts): void {
  const known = new Map<string, number>();
  const since = (key: string, now: number) => {
    const before = known.get(key) ?? 0;
    known.set(key, now);
    return now - before;
  };
  metrics.onScrape(() => {
    const events = metrics.counter("pilot_k8s_reg_events");
    for (const { type, event, count } of counts.events()) events.inc({ type, event }, since(`${type} ${event}`, count));
    const { endpoints, addresses } = counts.waiting;
    metrics.gauge("endpoint_no_pod").set(endpoints);
    metrics.gauge("pilot_k8s_endpoints_pending_pod").set(addresses);
    metrics.counter("pilot_k8s_endpoints_with_no_pods").inc(since("without pod", counts.withoutPod));
  });
}
