/**
 * The counts of the registries of the orchestrator's objects, as metrics.
 *
 * @module
 */
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { RegistryCounts } from "../../registry/orch/counts.ts";

/** Feeds the metrics when a scrape asks. @param all The counts of the registries that there are, one for each cluster. */
export function measureOrchRegistries(metrics: Metrics, all: () => Iterable<RegistryCounts>): void {
  const known = new WeakMap<RegistryCounts, Map<string, number>>();
  const since = (counts: RegistryCounts, key: string, now: number) => {
    let before = known.get(counts);
    if (before === undefined) known.set(counts, before = new Map());
    const last = before.get(key) ?? 0;
    before.set(key, now);
    return now - last;
  };
  metrics.onScrape(() => {
    const events = metrics.counter("pilot_k8s_reg_events");
    let [endpoints, addresses] = [0, 0];
    for (const counts of all()) {
      for (const { type, event, count } of counts.events()) {
        events.inc({ type, event }, since(counts, `${type} ${event}`, count));
      }
      endpoints += counts.waiting.endpoints;
      addresses += counts.waiting.addresses;
      const withoutPod = since(counts, "without pod", counts.withoutPod);
      metrics.counter("pilot_k8s_endpoints_with_no_pods").inc(withoutPod);
    }
    metrics.gauge("endpoint_no_pod").set(endpoints);
    metrics.gauge("pilot_k8s_endpoints_pending_pod").set(addresses);
  });
}
