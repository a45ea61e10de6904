/** Names of Envoy's metrics in the form for scrapers. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { proxyMetrics, type SeriesSeen } from "../../../lib/agent/scrape/proxy_metrics.ts";

const WRITTEN = [
  "# TYPE envoy_istio_requests_total counter",
  'envoy_istio_requests_total{a="envoy_istio_x",b="# TYPE envoy_istio_y"} 1',
  "# HELP envoy_cluster_x says envoy_istio_z",
  "envoy_cluster_x{} 2",
  'envoy_istio_request_bytes_bucket{a="_count{"} 3',
  "envoy_istio_request_bytes_sum{} 3",
  "envoy_istio_request_bytes_count{} 3",
  'envoy_istio_requests_total{a="2"} 1',
  "# TYPE envoy_server_stats_overflow_counter counter",
  "envoy_server_stats_overflow_counter{} 40",
  "envoy_server_stats_overflow_histogram{} 2",
].join("\n");

const EXPECTED = [
  "# TYPE istio_build gauge",
  'istio_build{component="proxy",tag="1.0"} 1',
  "# TYPE istio_requests_total counter",
  'istio_requests_total{a="envoy_istio_x",b="# TYPE envoy_istio_y"} 1',
  "# HELP envoy_cluster_x says envoy_istio_z",
  "envoy_cluster_x{} 2",
  'istio_request_bytes_bucket{a="_count{"} 3',
  "istio_request_bytes_sum{} 3",
  "istio_request_bytes_count{} 3",
  'istio_requests_total{a="2"} 1',
  "# TYPE envoy_server_stats_overflow_counter counter",
  "envoy_server_stats_overflow_counter{} 40",
  "envoy_server_stats_overflow_histogram{} 2",
  "",
].join("\n");

async function* parts(text: string, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0, next = 0; at < bytes.length; next++) {
    const size = sizes[next % sizes.length]!;
    yield await Promise.resolve(bytes.subarray(at, at + size));
    at += size;
  }
}

Deno.test("standard metrics lose Envoy's name and nothing else does, however the text comes in parts", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }), async (sizes) => {
      const decoder = new TextDecoder();
      let text = "";
      const seen: SeriesSeen[] = [];
      const metrics = proxyMetrics(parts(WRITTEN, sizes), "1.0", (series) => seen.push(series));
      for await (const part of metrics) text += decoder.decode(part);
      assert.equal(text, EXPECTED);
      assert.deepEqual(seen, [{ missing: 42, counters: 2, histograms: 1 }]);
    }),
    { examples: [[[WRITTEN.length]]] },
  );
});
