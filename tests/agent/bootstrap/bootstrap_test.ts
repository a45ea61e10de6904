import assert from "node:assert/strict";
import { overloadManager, runtimeValues } from "../../../lib/agent/bootstrap/runtime.ts";
import { statsConfig } from "../../../lib/agent/bootstrap/stats.ts";
import { bootstrapOfCase } from "./cases.ts";

Deno.test("unusable settings are named with value and expectation", () => {
  const { config, problems } = bootstrapOfCase({
    addresses: ["10.0.0.1"],
    annotations: { "sidecar.mesh.io/statsCompression": "7zip", "sidecar.istio.io/statsHistogramBuckets": "[1]" },
    proxy: { zipkinAddress: "nowhere", tracing: { stackdriver: {} } },
  });
  assert.deepEqual(problems.map(({ field, value }) => `${field}: ${value}`), [
    "tracing.stackdriver: stackdriver",
    "annotation sidecar.mesh.io/statsHistogramBuckets: [1]",
    "annotation sidecar.mesh.io/statsCompression: 7zip",
  ]);
  assert(!JSON.stringify(config.static_resources).includes("zipkin"));
  const bad = bootstrapOfCase({ addresses: ["10.0.0.1"], proxy: { zipkinAddress: "nowhere" } });
  assert.deepEqual(bad.problems, [{ field: "zipkinAddress", value: "nowhere", expected: "host:port" }]);
});

Deno.test("patterns and buckets with which Envoy would not start are left out and named", () => {
  const { config, problems } = bootstrapOfCase({
    addresses: ["10.0.0.1"],
    annotations: {
      "sidecar.istio.io/statsInclusionRegexps": "(,a(?=b),(?i)x(?P<n>y),\\1",
      "sidecar.istio.io/statsHistogramBuckets": '{"http":[0,5]}',
    },
  });
  assert.deepEqual(problems.map(({ field, value }) => `${field.split("/")[1]}: ${value}`), [
    "statsInclusionRegexps: (",
    "statsInclusionRegexps: a(?=b)",
    "statsInclusionRegexps: \\1",
    'statsHistogramBuckets: {"http":[0,5]}',
  ]);
  const kept = JSON.stringify(config);
  assert.match(kept, /"regex":"\(\?i\)x/);
  assert.doesNotMatch(kept, /"regex":"\("|histogram_bucket_settings/);
  for (const wrong of ['{"http":[1,1]}', '{"http":[-1]}', '{"":[1]}']) {
    const annotations = { "sidecar.istio.io/statsHistogramBuckets": wrong };
    assert.equal(bootstrapOfCase({ addresses: ["10.0.0.1"], annotations }).problems.length, 1, wrong);
  }
  const proxy = { proxyStatsMatcher: { inclusionPrefixes: ["", "p"] } };
  const ofSettings = statsConfig({ proxy, annotations: {}, addresses: [], countsConnections: false });
  assert.deepEqual(ofSettings.problems.map(({ annotation, value }) => [annotation, value]), [
    ["statsInclusionPrefixes", ""],
  ]);
  assert.doesNotMatch(JSON.stringify(ofSettings.config), /"prefix":""/);
});

Deno.test("buckets of the standard metrics may be named as in Istio's proxy, where their names begin with istiocustom", () => {
  const written = { "istiocustom.istio_request_bytes": [1, 2], "istiocustom": [3], "cluster.x": [4] };
  const annotations = { "sidecar.istio.io/statsHistogramBuckets": JSON.stringify(written) };
  const { config, problems } = bootstrapOfCase({ addresses: ["10.0.0.1"], annotations });
  assert.deepEqual(problems, []);
  const found = JSON.stringify(config).match(/\{"match":\{"prefix":[^}]*\},"buckets":[^\]]*\]\}/g) ?? [];
  assert.deepEqual(found.map((one) => JSON.parse(one)), [
    { match: { prefix: "cluster.x" }, buckets: [4] },
    { match: { prefix: "istio." }, buckets: [3] },
    { match: { prefix: "istio.request_bytes" }, buckets: [1, 2] },
  ]);
});

Deno.test("an empty value of the runtime takes a default away, booleans are booleans", () => {
  const values = runtimeValues({ "re2.max_program_size.error_level": "", a: "true", b: "false", c: "7" });
  assert.deepEqual(values, { a: true, b: false, c: "7" });
});

Deno.test("the limit of connections follows the settings, and can be turned off", () => {
  const limit = (value?: string) => {
    const key = "overload.global_downstream_max_connections";
    return /connections":"(\d+)"/.exec(JSON.stringify(overloadManager(value === undefined ? {} : { [key]: value })))
      ?.[1];
  };
  assert.deepEqual([limit(), limit("1000"), limit("many")], ["2147483647", "1000", "2147483647"]);
  assert.equal(overloadManager({ "overload.global_downstream_max_connections": "" }), undefined);
});

Deno.test("tags of statistics take cluster names with dots whole, and addresses of both families", () => {
  const { config } = statsConfig({ proxy: {}, annotations: {}, addresses: [], countsConnections: false });
  const tags = config.stats_tags as { tag_name: string; regex: string }[];
  const valueOf = (name: string, statistic: string) => {
    const [, removed, value] = new RegExp(tags.find(({ tag_name }) => tag_name === name)!.regex).exec(statistic) ?? [];
    return value === undefined ? undefined : [statistic.replace(removed!, ""), value];
  };
  const cluster = "outbound|80|v1|reviews.default.svc.cluster.local";
  assert.deepEqual(valueOf("cluster_name", `cluster.${cluster};.upstream_cx_total`), [
    "cluster.upstream_cx_total",
    cluster,
  ]);
  assert.deepEqual(valueOf("cluster_name", "cluster.xds-grpc.upstream_cx_total"), [
    "cluster.upstream_cx_total",
    "xds-grpc",
  ]);
  const http = (address: string) => valueOf("http_conn_manager_prefix", `http.${address}.downstream_rq_total`)?.[1];
  assert.equal(http("10.0.0.1_8080"), "10.0.0.1_8080");
  assert.equal(http("[fd00__1]_8080"), "[fd00__1]_8080");
  assert.equal(valueOf("response_code", "http.x.downstream_rq_200")?.[1], "200");
});
