import assert from "node:assert/strict";
import { metricEntries, metricsUsedBy } from "../../../lib/kernel/metrics/catalogue.ts";
import { ownMetrics } from "../../../lib/kernel/metrics/own_metrics.ts";
import { createMetrics, noMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { notBuiltNames } from "../../../lib/kernel/not_built/catalogue.ts";
import { NEEDLESS_METRICS } from "../../../lib/kernel/not_built/needless.ts";
import { reachedFrom } from "../../../scripts/imports.ts";
import { programs } from "../../../lib/kernel/program/program.ts";
import { startKernel } from "../../../lib/kernel/kernel.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { fedMetrics, textOf } from "../../surface/source_scan.ts";
import { copiedSurface } from "../../surface/spec_tables.ts";

const unfed = notBuiltNames("metric");

Deno.test("the table has every metric of the reference with its type and programs, and beyond them only our own", () => {
  const ours = metricEntries().filter(([name]) => !(name in ownMetrics))
    .map(([name, metric]) => ({ name: name as string, type: metric.type as string, users: metric.users as string }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  assert.deepEqual(ours, copiedSurface().metrics);
});

Deno.test("distributions have rising buckets, and nothing else has any", () => {
  for (const [name, metric] of metricEntries()) {
    const buckets = metric.buckets ?? [];
    assert.equal(buckets.length > 0, metric.type === "Distribution", name);
    assert.deepEqual([...buckets], buckets.toSorted((a, b) => a - b), name);
  }
});

Deno.test("a scrape has the wire names without additions, with their labels", async () => {
  const metrics = createMetrics("pilot-discovery");
  metrics.counter("pilot_xds_pushes").inc({ type: "cds" });
  metrics.counter("pilot_xds_pushes").labels({ type: "cds" }).inc(2);
  metrics.gauge("pilot_services").set(7);
  metrics.histogram("pilot_xds_push_time").observe({ type: "cds" }, 0.5);
  const { body, contentType } = await metrics.scrape();
  assert.match(contentType, /^text\/plain/);
  assert.match(body, /^# TYPE pilot_xds_pushes counter$/m);
  assert.match(body, /^pilot_xds_pushes\{type="cds"\} 3$/m);
  assert.match(body, /^pilot_services 7$/m);
  assert.match(body, /^pilot_xds_push_time_bucket\{le="1",type="cds"\} 1$/m);
});

Deno.test("two registries in one process do not share values", async () => {
  const first = createMetrics("pilot-discovery");
  first.gauge("pilot_services").set(3);
  assert.match((await createMetrics("pilot-discovery").scrape()).body, /^pilot_services 0$/m);
});

Deno.test("a metric that the program does not have does nothing, and neither does any of no metrics", async () => {
  const metrics = createMetrics("pilot-agent");
  metrics.gauge("pilot_services").set(1);
  metrics.counter("pilot_xds_pushes").labels({ type: "cds" }).inc();
  assert.doesNotMatch((await metrics.scrape()).body, /pilot_services|pilot_xds_pushes/);
  noMetrics().histogram("pilot_xds_push_time").labels({ type: "x" }).observe(1);
  assert.equal((await noMetrics().scrape()).body, "");
});

Deno.test("a prefix stands before every name", async () => {
  const { body } = await createMetrics("pilot-agent", { prefix: "istio_agent_" }).scrape();
  assert.match(body, /^istio_agent_dns_requests_total 0$/m);
  assert.doesNotMatch(body, /^# TYPE (?!istio_agent_)/m);
});

Deno.test("values can be computed at the scrape, and a failing value is reported and spoils no other value", async () => {
  const failures: unknown[] = [];
  const metrics = createMetrics("pilot-discovery", { failed: (error) => failures.push(error) });
  metrics.onScrape(() => {
    throw new Error("no");
  });
  metrics.onScrape(() => metrics.gauge("meshd_uptime_seconds").set(5));
  assert.match((await metrics.scrape()).body, /^meshd_uptime_seconds 5$/m);
  assert.equal(failures.length, 1);
});

Deno.test("the kernel reports its build", async () => {
  const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
  const { body } = await kernel.metrics.scrape();
  assert.match(body, /^mesh_build\{component="pilot",tag="unknown"\} 1$/m);
  assert.match(body, /^pilot_info\{version="[^"]+-(?:unknown|[0-9a-f]{40})-unknown"\} 1$/m);
});

const fed = fedMetrics();

Deno.test("every metric that is not on the list of unfed metrics is fed in lib or cmd", () => {
  const listed = new Set(unfed);
  assert.deepEqual(metricEntries().map(([n]) => n).filter((n) => !listed.has(n) && !fed.has(n)), []);
});

Deno.test("no metric on the list of unfed metrics is fed", () => {
  assert.deepEqual(
    unfed.filter((name) => fed.has(name)),
    [],
    "run deno task shrink-lists, then deno task reference",
  );
});

const root = new URL("../../..", import.meta.url).pathname.replace(/\/$/, "");

for (const program of programs) {
  const needless = Object.keys(NEEDLESS_METRICS[program]);
  const used = metricsUsedBy(program).map(([name]): string => name).filter((name) => !unfed.includes(name));

  Deno.test(`each metric on the page of ${program} is fed by what it loads, and no other of its metrics is`, () => {
    const loaded = fedMetrics(textOf(reachedFrom(root, `cmd/${program}/main.ts`)));
    assert.deepEqual(used.filter((name) => !loaded.has(name)).sort(), needless.toSorted());
  });

  Deno.test(`metrics that ${program} has no use for are not on its page, and all others are`, async () => {
    const { body } = await createMetrics(program).scrape();
    for (const name of used) {
      assert.equal(new RegExp(`^# HELP ${name} `, "m").test(body), !needless.includes(name), name);
    }
  });
}
