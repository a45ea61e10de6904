/**
 * Binds the measurements of the wire and the pipeline to the program's metrics.
 *
 * @module
 */
import type { Metrics } from "../kernel/metrics/registry.ts";
import type { Caches } from "../translate/machine/cache/caches.ts";
import { profileOf } from "../translate/reader/proxy_profile.ts";
import type { FindingName } from "../finding/codes.ts";
import type { Finding } from "../finding/finding.ts";
import type { XdsCounter, XdsDistribution, XdsGauge, XdsMetrics } from "../xds/protocol/metrics.ts";
import type { Pipeline } from "./pipeline/pipeline.ts";
import { patchMetrics } from "./findings/measure_patches.ts";
import { worldFacts } from "./pipeline/world_facts.ts";

/**
 * The wire's measurements as metrics of the program. The wire's `pilot_xds` has no versions; the metric of the same
 * name is fed by {@linkcode scrapeMetrics}.
 */
export function wireMetrics(metrics: Metrics): XdsMetrics {
  type Labels = Readonly<Record<string, string>>;
  // The wire passes labels as plain strings. Comments beside the wire's types list the labels of each name, and a test
  // verifies the list.
  type Count = { inc(labels: Labels, by: number): void };
  type Hold = { set(labels: Labels, value: number): void; remove(labels: Labels): void };
  type Observe = { observe(labels: Labels, value: number): void };
  const counters = {
    pilot_push_triggers: metrics.counter("pilot_push_triggers"),
    pilot_total_xds_internal_errors: metrics.counter("pilot_total_xds_internal_errors"),
    pilot_total_xds_rejects: metrics.counter("pilot_total_xds_rejects"),
    pilot_xds_expired_nonce: metrics.counter("pilot_xds_expired_nonce"),
    pilot_xds_ignored_types: metrics.counter("pilot_xds_ignored_types"),
    pilot_xds_pushes: metrics.counter("pilot_xds_pushes"),
    pilot_xds_write_timeout: metrics.counter("pilot_xds_write_timeout"),
  } satisfies Record<XdsCounter, unknown>;
  const gauges = {
    pilot_xds_cds_reject: metrics.gauge("pilot_xds_cds_reject"),
    pilot_xds_eds_reject: metrics.gauge("pilot_xds_eds_reject"),
    pilot_xds_lds_reject: metrics.gauge("pilot_xds_lds_reject"),
    pilot_xds_rds_reject: metrics.gauge("pilot_xds_rds_reject"),
  } satisfies Record<Exclude<XdsGauge, "pilot_xds">, unknown>;
  const distributions = {
    pilot_debounce_time: metrics.histogram("pilot_debounce_time"),
    pilot_proxy_convergence_time: metrics.histogram("pilot_proxy_convergence_time"),
    pilot_proxy_queue_time: metrics.histogram("pilot_proxy_queue_time"),
    pilot_xds_config_size_bytes: metrics.histogram("pilot_xds_config_size_bytes"),
    pilot_xds_push_time: metrics.histogram("pilot_xds_push_time"),
    pilot_xds_send_time: metrics.histogram("pilot_xds_send_time"),
  } satisfies Record<XdsDistribution, unknown>;
  return {
    count: (name, by, labels = {}) => (counters[name] as Count).inc(labels, by),
    gauge: (name, value, labels = {}) => {
      if (name !== "pilot_xds") (gauges[name] as Hold).set(labels, value);
    },
    forget: (name, labels) => {
      if (name !== "pilot_xds") (gauges[name] as Hold).remove(labels);
    },
    observe: (name, value, labels = {}) => (distributions[name] as Observe).observe(labels, value),
  };
}

/**
 * Values that are computed when a scrape asks.
 *
 * @param of `caches`: feeds the metrics of caches (`PILOT_XDS_CACHE_STATS`); `patches`: feeds the metrics of patches
 * (`PILOT_PROXY_FILTER_STATS`).
 * @param analysed Findings of the analysis. Default: there is no analysis.
 */
export function scrapeMetrics(
  metrics: Metrics,
  pipeline: Pipeline,
  of: { readonly caches: boolean; readonly patches: boolean },
  analysed: () => Iterable<Finding> = () => [],
): void {
  metrics.onScrape(() => feedWorld(metrics, pipeline));
  metrics.onScrape(() => feedWarnings(metrics, pipeline));
  metrics.onScrape(failedLookups(metrics, () => [...pipeline.warnings(), ...analysed()]));
  metrics.onScrape(versions(metrics, pipeline));
  metrics.onScrape(updates(metrics, pipeline));
  if (of.caches) metrics.onScrape(caches(metrics, pipeline));
  if (of.patches) metrics.onScrape(patchMetrics(metrics, () => pipeline.translator));
}

function feedWorld(metrics: Metrics, pipeline: Pipeline): void {
  const { mesh } = pipeline.translator;
  metrics.gauge("pilot_services").set(pipeline.aggregate.serviceCount);
  metrics.gauge("pilot_virt_services").set(mesh.virtualServices.size);
  const facts = worldFacts(pipeline.aggregate.services(), (key) => pipeline.endpoints.endpoints(key));
  metrics.gauge("pilot_eds_no_instances").set(facts.withoutInstances);
  metrics.gauge("pilot_dns_cluster_without_endpoints").set(facts.dnsWithoutEndpoints);
  metrics.gauge("pilot_duplicate_proxy_clusters").set(facts.duplicates);
  metrics.gauge("pilot_endpoint_not_ready").set(facts.notReady);
  let unplaced = 0;
  for (const { proxy, targets } of pipeline.translator.proxies()) {
    if (profileOf(proxy.properties.type).inbound && targets.length === 0) unplaced++;
  }
  metrics.gauge("pilot_no_ip").set(unplaced);
}

/** Number of VirtualServices that lose a host to an older VirtualService. */
function hiddenRules({ translator }: Pipeline): number {
  return new Set([...translator.mesh.virtualServices.shadowed()].map(({ rejected }) => rejected[0])).size;
}

function feedWarnings(metrics: Metrics, pipeline: Pipeline): void {
  const counts = new Map<FindingName, number>();
  for (const { name } of pipeline.warnings()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const count = (...codes: readonly FindingName[]) => codes.reduce((sum, code) => sum + (counts.get(code) ?? 0), 0);
  metrics.gauge("pilot_conflict_inbound_listener").set(count("inbound-conflict"));
  metrics.gauge("pilot_conflict_outbound_listener_tcp_over_current_tcp").set(count("tcp-listener-conflict"));
  metrics.gauge("pilot_destrule_subsets").set(count("duplicate-subset"));
  metrics.gauge("pilot_vservice_dup_domain").set(count("domain-conflict") + hiddenRules(pipeline));
}

/** Findings about a policy or a Telemetry with an unusable provider. */
const LOOKUPS: ReadonlySet<FindingName> = new Set(["unusable-authorizer", "unusable-telemetry-provider"]);

/** Counts uses of unusable providers: each use counts at its beginning, and again after an interruption. */
function failedLookups(metrics: Metrics, findings: () => Iterable<Finding>): () => void {
  let known = new Set<string>();
  return () => {
    const now = new Set<string>();
    for (const { name, message, place } of findings()) {
      if (LOOKUPS.has(name)) now.add(JSON.stringify([place.objects, message]));
    }
    metrics.counter("provider_lookup_cluster_failures").inc(now.difference(known).size);
    known = now;
  };
}

/** Most versions that are counted by name: any proxy can send any version. Further versions count as `other`. */
const MAX_VERSIONS = 50;

/** UTF-16 units of a version in a label. */
const MAX_VERSION = 64;

/** Proxies by version. A version without proxies is 0 for one scrape, and then disappears. */
function versions(metrics: Metrics, pipeline: Pipeline): () => void {
  let shown = new Set<string>();
  let zeros = new Set<string>();
  return () => {
    const now = new Map<string, number>();
    for (const { proxy } of pipeline.translator.proxies()) {
      let version = (proxy.version || "unknown").slice(0, MAX_VERSION);
      if (!now.has(version) && now.size >= MAX_VERSIONS) version = "other";
      now.set(version, (now.get(version) ?? 0) + 1);
    }
    const known = metrics.gauge("pilot_xds");
    const next = new Set(now.keys());
    for (const version of shown) if (!next.has(version)) known.set({ version }, 0);
    for (const [version, count] of now) known.set({ version }, count);
    for (const version of zeros) if (!next.has(version)) known.remove({ version });
    zeros = new Set([...shown].filter((version) => !next.has(version)));
    shown = next;
  };
}

/** Updates of registries since the last scrape. */
function updates(metrics: Metrics, pipeline: Pipeline): () => void {
  const counted = { eds: 0, svc: 0, svcdelete: 0 };
  return () => {
    for (const type of ["eds", "svc", "svcdelete"] as const) {
      metrics.counter("pilot_inbound_updates").inc({ type }, pipeline.updates[type] - counted[type]);
      counted[type] = pipeline.updates[type];
    }
  };
}

/**
 * The operations of the caches of translation since the last scrape. A change of the mesh configuration makes new
 * caches.
 */
function caches(metrics: Metrics, pipeline: Pipeline): () => void {
  const none = { hits: 0, misses: 0, cleared: 0, crowdedOut: 0 };
  let of: Caches | undefined;
  let before = none;
  return () => {
    const { caches } = pipeline.translator;
    if (of !== caches) before = none;
    of = caches;
    const now = caches.stats();
    const reads = metrics.counter("xds_cache_reads");
    reads.inc({ type: "hit" }, now.hits - before.hits);
    reads.inc({ type: "miss" }, now.misses - before.misses);
    const evictions = metrics.counter("xds_cache_evictions");
    evictions.inc({ type: "clear" }, now.cleared - before.cleared);
    evictions.inc({ type: "size" }, now.crowdedOut - before.crowdedOut);
    metrics.gauge("xds_cache_size").set(now.size);
    metrics.gauge("xds_cache_dependent_config_size").set(now.dependencies);
    before = now;
  };
}
