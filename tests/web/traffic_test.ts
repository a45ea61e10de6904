/** Measured traffic in the service graph (MESH_PROMETHEUS_ADDRESS): pages, JSON and file, with a Prometheus and without. */
import assert from "node:assert/strict";
import { StartError } from "../../lib/discovery/settings/start_error.ts";
import { withServer } from "../discovery/running.ts";
import { SHOP } from "../graph/world.ts";
import { until } from "../patience.ts";
import { ends, FakePrometheus, type FakeSample, isAboutErrors, refusal, vector } from "../prometheus/support/fake.ts";
import { Browser, noBrowser } from "./support/browser.ts";
import { faultsOf } from "./support/faults.ts";

const FILES = { "a.yaml": SHOP.join("---\n") };

const byNamespace = (from: string, to: string) => ({
  source_workload_namespace: from,
  destination_service_namespace: to,
});

const OF_MESH: readonly FakeSample[] = [
  { labels: byNamespace("edge", "shop"), rate: 120 },
  { labels: byNamespace("shop", "bank"), rate: 12.34 },
  { labels: byNamespace("unknown", "shop"), rate: 0.004 },
];

const OF_BANK: readonly FakeSample[] = [
  { labels: ends(["shop", "checkout", "checkout"], ["bank", "payments.bank"]), rate: 12.34 },
  { labels: ends(["bank", "payments", "payments"], ["bank", "ledger.bank"]), rate: 5 },
  { labels: ends(["bank", "payments", "payments"], ["unknown", "PassthroughCluster"]), rate: 1 },
];

const OF_SHOP: readonly FakeSample[] = [
  { labels: ends(["edge", "gateway-7f", "ingress"], ["shop", "front.shop"]), rate: 120 },
  { labels: ends(["shop", "front-7f", "front"], ["shop", "reviews.shop"]), rate: 80 },
];

/** A Prometheus with traffic of the shop; a tenth of the calls to payments fails. */
function shopTraffic(): FakePrometheus {
  return new FakePrometheus((query) => {
    const all = query.includes('"bank"') ? OF_BANK : query.includes('"shop"') ? OF_SHOP : OF_MESH;
    if (!isAboutErrors(query)) return vector(all);
    const failing = all.filter(({ labels }) => labels["destination_service_namespace"] === "bank").slice(0, 1);
    return vector(failing.map(({ labels, rate }) => ({ labels, rate: rate / 10 })));
  });
}

interface GraphAnswer {
  readonly traffic?: { readonly state: string; readonly address: string; readonly problem?: string };
  readonly edges: readonly { kind: string; from: string; to: string; requests?: number; errors?: number }[];
}

async function graphOf(port: number, path: string): Promise<GraphAnswer> {
  return await (await fetch(`http://127.0.0.1:${port}/debug/graph${path}`)).json();
}

/** The edges with traffic, once Prometheus has answered. */
async function measuredEdges(port: number, path: string): Promise<string[]> {
  await until("an answer", async () => (await graphOf(port, path)).traffic?.state === "measured");
  const { edges } = await graphOf(port, path);
  return edges.filter(({ requests }) => requests !== undefined).map(({ kind, from, to, requests, errors }) =>
    `${kind} ${from} -> ${to}: ${requests} ${errors}`
  );
}

async function html(port: number, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { accept: "text/html" } });
  assert.equal(response.status, 200);
  return await response.text();
}

Deno.test("edges show measured requests and errors; traffic without an edge of its own gets one", async () => {
  await using fake = shopTraffic();
  await withServer(FILES, async ({ ports: { http } }) => {
    assert.deepEqual(await measuredEdges(http, ""), [
      "call namespace shop -> namespace bank: 12.3 1.23",
      "traffic namespace edge -> namespace shop: 120 0",
      "traffic workload unknown -> namespace shop: 0.004 0",
    ]);
    assert.deepEqual(await measuredEdges(http, "?namespace=bank"), [
      "call identity bank/payments -> service bank/ledger.bank: 5 0",
      "call namespace shop -> service bank/payments.bank: 12.3 1.23",
      "traffic identity bank/payments -> host PassthroughCluster: 1 0",
    ]);
    // The gateway is known by its identity.
    assert.deepEqual(await measuredEdges(http, "?namespace=shop"), [
      "entrance gateway edge/public -> service shop/front.shop: 120 0",
      "traffic workload shop/front-7f -> service shop/reviews.shop: 80 0",
    ]);
    const page = await html(http, "/debug/graph");
    assert.match(
      page,
      new RegExp(`Requests and errors of 5 minutes from Prometheus at ${fake.address}, \\d+ seconds? ago`),
    );
    assert.match(page, />12\/s, 10 % errors<\/text>/);
    assert.match(page, /<th [^>]*>.*Requests<\/a>/);
    assert.match(page, /under 0\.01\/s/);
    const file = await html(http, "/debug/graph.svg?namespace=bank");
    assert.match(file, /<text class="label bad"[^>]*>12\/s, 10 % errors<\/text>/);
    assert.match(file, /<title>payments?.* \(call\): .*measured 5\/s<\/title>|measured 5\/s/);
  }, { settings: { MESH_PROMETHEUS_ADDRESS: fake.address } });
});

Deno.test("without a Prometheus the graph is as it was; with one that fails, a line says so", async () => {
  await withServer(FILES, async ({ ports: { http } }) => {
    assert.equal((await graphOf(http, "")).traffic, undefined);
    assert.doesNotMatch(await html(http, "/debug/graph"), /Prometheus|Requests/);
  });
  await using fake = new FakePrometheus(() => refusal("<script>alert(1)</script>"));
  await withServer(FILES, async ({ ports: { http } }) => {
    await until("a problem", async () => (await graphOf(http, "")).traffic?.state === "failed");
    const page = await html(http, "/debug/graph");
    assert.match(page, /! No requests and errors from Prometheus at [^<]*: status 400, expected 200: &#60;script&#62;/);
    assert.match(page, /<svg class="calls"/);
  }, { settings: { MESH_PROMETHEUS_ADDRESS: fake.address } });
});

Deno.test("a Prometheus that never answers costs a page nothing but a line", async () => {
  const gate = Promise.withResolvers<void>();
  await using fake = new FakePrometheus(() => gate.promise.then(() => vector([])));
  await withServer(FILES, async ({ ports: { http } }) => {
    assert.match(await html(http, "/debug/graph"), /has not answered yet. Load the page again/);
    assert.match(await html(http, "/debug/graph.svg"), /<svg class="calls"/);
    // The server stops while the question is open.
  }, { settings: { MESH_PROMETHEUS_ADDRESS: fake.address } });
  gate.resolve();
});

Deno.test("an address with a query is refused at the start, with the setting's name", async () => {
  await assert.rejects(
    withServer(FILES, () => Promise.resolve(), {
      settings: { MESH_PROMETHEUS_ADDRESS: "http://prometheus:9090/?x=1" },
    }),
    (error) => {
      assert.ok(error instanceof StartError);
      assert.match(error.message, /^MESH_PROMETHEUS_ADDRESS: got "http:\/\/prometheus:9090\/\?x=1", expected https:/);
      return true;
    },
  );
});

Deno.test({
  name: "traffic is readable in pages and in the saved picture, at every width, light and dark",
  ignore: noBrowser !== undefined,
  fn: async () => {
    await using fake = shopTraffic();
    await withServer(FILES, async ({ ports: { http } }) => {
      await measuredEdges(http, "");
      await measuredEdges(http, "?namespace=bank");
      await using browser = await Browser.start();
      const tab = await browser.tab();
      for (const path of ["/debug/graph", "/debug/graph?namespace=bank"]) {
        await tab.open(`http://127.0.0.1:${http}${path}`);
        assert.deepEqual(await faultsOf(tab), [], path);
        assert.equal(
          await tab.evaluate(`document.querySelector(".calls .label.bad")?.textContent`),
          "12/s, 10 % errors",
        );
      }
      assert.deepEqual(tab.complaints, []);
    }, { settings: { MESH_PROMETHEUS_ADDRESS: fake.address } });
  },
});
