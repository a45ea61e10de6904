/** The server's other uses of ProxyFilters: the metric of patches, and the services named by patches. */
import assert from "node:assert/strict";
import { scrapeMetrics } from "../../lib/discovery/measure.ts";
import { createMetrics } from "../../lib/kernel/metrics/registry.ts";
import { TYPE } from "../../lib/translate/encode/encode.ts";
import { contents, Fixture, service } from "./fixture.ts";
import { page, withServer } from "./running.ts";

const merge = { operation: "MERGE", value: { connect_timeout: "9s" } };

function proxyFilter(name: string, configPatches: readonly object[], annotations: Record<string, string> = {}): object {
  return {
    apiVersion: "networking.istio.io/v1alpha3",
    kind: "EnvoyFilter",
    metadata: { name, namespace: "x", annotations },
    spec: { configPatches },
  };
}

const unknown = { routeConfiguration: { vhost: { name: "none" } } };
const onHost = (host: string) => ({ applyTo: "CLUSTER", match: { cluster: { service: host } }, patch: merge });

Deno.test("pilot_proxy_filter_status counts applied, idle and failed patches, and forgets removed patches", async () => {
  const fixture = new Fixture();
  fixture.put(service(1));
  fixture.put(
    proxyFilter("one", [onHost("s1.example.com"), {
      applyTo: "VIRTUAL_HOST",
      match: unknown,
      patch: { operation: "REMOVE" },
    }]),
    proxyFilter("none", [onHost("other.example.com")]),
    proxyFilter("bad", [{ applyTo: "CLUSTER", patch: { operation: "MERGE", value: { connect_timeout: "soon" } } }]),
    proxyFilter("first", [{ applyTo: "LISTENER", patch: { operation: "ADD", value: { name: "l" } } }]),
    proxyFilter("second", [{ applyTo: "LISTENER", patch: { operation: "ADD", value: { name: "l" } } }]),
  );
  fixture.pipeline.flush();
  fixture.join({ namespace: "x", address: "10.0.0.1" });
  const metrics = createMetrics("pilot-discovery");
  scrapeMetrics(metrics, fixture.pipeline, { caches: false, patches: true });
  const scraped = async () =>
    (await metrics.scrape()).body.split("\n").filter((line) => line.startsWith("pilot_proxy_filter_status")).sort();
  const line = (name: string, patch: string, result: string, value: number) =>
    `pilot_proxy_filter_status{name="x/${name}",patch="${patch}",result="${result}"} ${value}`;
  assert.deepEqual(await scraped(), [
    line("bad", "cluster", "applied", 0),
    line("bad", "cluster", "error", 1),
    line("first", "listener", "applied", 1),
    line("none", "cluster", "applied", 0),
    line("one", "cluster", "applied", 1),
    line("one", "vhost", "applied", 0),
    line("second", "listener", "applied", 0),
    line("second", "listener", "error", 1),
  ]);
  for (const name of ["bad", "first", "second", "none"]) fixture.remove(`ProxyFilter/x/${name}`);
  fixture.pipeline.flush();
  assert.deepEqual(await scraped(), [line("one", "cluster", "applied", 1), line("one", "vhost", "applied", 0)]);
});

Deno.test("PILOT_PROXY_FILTER_STATS feeds the metric of patches, which has no series without it", async () => {
  const filter = JSON.stringify(proxyFilter("one", [onHost("none.example.com")]));
  for (const on of [false, true]) {
    await withServer({ "a.json": filter }, async ({ ports }) => {
      const { body } = await page(ports.monitoring, "/metrics");
      assert.equal(/^pilot_proxy_filter_status\{.*result="applied"\} 0$/m.test(body), on);
    }, { settings: { PILOT_PROXY_FILTER_STATS: on } });
  }
});

for (const spelling of ["envoyfilter.istio.io", "proxyfilter.mesh.io"]) {
  Deno.test(`gateways that get only their needed clusters also get the clusters that a ProxyFilter refers to (${spelling})`, () => {
    const fixture = new Fixture({ settings: { PILOT_FILTER_GATEWAY_CLUSTER_CONFIG: true } });
    fixture.put(service(1), service(2), service(3));
    fixture.pipeline.flush();
    const gateway = fixture.join({ namespace: "x", address: "10.0.9.9", type: "router" });
    const clusters = () => Object.keys(contents(gateway)).filter((key) => key.startsWith("cluster/outbound"));
    assert.deepEqual(clusters(), []);
    const annotations = { [`${spelling}/referenced-services`]: "x/s1.example.com, s3.example.com" };
    fixture.put(proxyFilter("limits", [onHost("none.example.com")], annotations));
    fixture.pipeline.flush();
    assert.deepEqual(clusters(), ["cluster/outbound|80||s1.example.com", "cluster/outbound|80||s3.example.com"]);
  });
}

Deno.test("a part that a patch adds under an existing name is left out with a finding, and is in force nowhere", () => {
  const fixture = new Fixture();
  fixture.put(service(1));
  fixture.pipeline.flush();
  const proxy = fixture.join({ namespace: "x", address: "10.0.0.9" });
  const before = contents(proxy);
  const add = (name: string) => ({
    applyTo: "CLUSTER",
    match: { context: "SIDECAR_OUTBOUND" },
    patch: { operation: "ADD", value: { name, connect_timeout: "1s" } },
  });
  fixture.put(
    proxyFilter("hole", [add("BlackHoleCluster")]),
    proxyFilter("host", [add("outbound|80||s1.example.com")]),
  );
  fixture.pipeline.flush();
  assert.deepEqual(contents(proxy), before);
  const found = fixture.pipeline.translator.warnings().filter(({ name }) => name === "patch-failed");
  assert.deepEqual(found.map(({ message }) => message), [
    "spec.configPatches[0]: BlackHoleCluster is left out, because proxies have another resource of this name",
  ]);
  for (const set of proxy.resourceSets(TYPE.cluster) ?? []) {
    for (const { causes } of set) assert.ok(!causes.some((cause) => cause.startsWith("ProxyFilter/")));
  }
});
