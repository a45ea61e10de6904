import assert from "node:assert/strict";
import { metricsRoutes, type MetricsRoutesInput } from "../../../lib/agent/status/metrics_routes.ts";
import { SERIES_LIMITS } from "../../../lib/config/mesh/series_limits.ts";
import { createLog, defaultLogOptions, silentLog } from "../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { answering, application, type OpenPort, servePages } from "../support/status_pages.ts";

function pageOf(type: string, text: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`;
}

const TEXT = "text/plain; version=0.0.4";
const OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const ENVOY = pageOf(TEXT, "# TYPE envoy_x counter\nenvoy_x{} 1\n\n");

async function pagesOf(sources: { envoy?: OpenPort; application?: OpenPort }, more: Partial<MetricsRoutesInput> = {}) {
  const url = (source: OpenPort | undefined, path: string) => source && `http://127.0.0.1:${source.port}${path}`;
  const metrics = createMetrics("pilot-agent", { prefix: "istio_agent_" });
  const routes = metricsRoutes({
    ...{ metrics, version: "9" },
    envoy: url(sources.envoy, "/stats/prometheus"),
    application: url(sources.application, "/metrics"),
    ...{ localOnly: false, clock: systemClock, log: silentLog().scope("monitoring") },
    ...more,
  });
  return { ...await servePages(routes), metrics };
}

async function scrape({ port }: OpenPort, headers: Record<string, string> = {}, path = "/metrics") {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  return { type: response.headers.get("content-type"), text: await response.text() };
}

const failures = async (pages: { metrics: MetricsRoutesInput["metrics"] }) =>
  [...(await pages.metrics.scrape()).body.matchAll(/scrape_failures_total\{type="(\w+)"\} (\d+)/g)]
    .map(([, type, count]) => `${type} ${count}`);

Deno.test("agent, Envoy and application are one text in the application's format; Envoy gets the query, the application the scraper's headers", async () => {
  await using envoy = await answering(ENVOY);
  await using app = await answering(pageOf(OPEN, "# TYPE app counter\napp_total 1\n# EOF\n"));
  await using pages = await pagesOf({ envoy, application: app });
  const accept = "application/openmetrics-text;version=1.0.0,application/vnd.google.protobuf;q=0.9,text/plain;q=0.5";
  const headers = { accept, "user-agent": "Prometheus/3", "x-prometheus-scrape-timeout-seconds": "10" };
  const { type, text } = await scrape(pages, headers, "/stats/prometheus?usedonly&filter=x");
  assert.equal(type, OPEN);
  assert.match(text, /^# HELP istio_agent_[^]*\nenvoy_x\{\} 1\n# TYPE app counter\napp_total 1\n# EOF\n$/);
  assert.doesNotMatch(text, /\n\n/);
  assert.match(text, /\nistio_agent_scrapes_total 1\n/);
  assert.match(envoy.requests[0]!, /^GET \/stats\/prometheus\?usedonly=&filter=x HTTP/);
  assert.match(envoy.requests[0]!, /accept: text\/plain;version=0\.0\.4\r\n/);
  assert.match(app.requests[0]!, /accept: application\/openmetrics-text;version=1\.0\.0,text\/plain;q=0\.5\r\n/);
  assert.match(app.requests[0]!, /user-agent: Prometheus\/3\r\n/);
  assert.match(app.requests[0]!, /x-prometheus-scrape-timeout-seconds: 10\r\n/);
  assert.deepEqual(await failures(pages), []);
});

Deno.test("an application that fails in any way leaves the others whole, and is counted", async () => {
  const cases = [
    ["HTTP/1.1 500 Oops\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", ""],
    [pageOf("application/vnd.google.protobuf", "\x01\x02"), ""],
    ["garbage\r\n\r\n", ""],
    ["", ""],
    [`HTTP/1.1 200 OK\r\nContent-Type: ${TEXT}\r\nContent-Length: 100\r\n\r\napp 1\nhal`, "app 1\n"],
  ];
  for (const [response = "", kept] of cases) {
    await using envoy = await answering(ENVOY);
    await using app = await answering(response);
    await using pages = await pagesOf({ envoy, application: app });
    const { type, text } = await scrape(pages, { "x-prometheus-scrape-timeout-seconds": "3" });
    assert.match(type ?? "", /^text\/plain/);
    assert.ok(text.endsWith(`# TYPE envoy_x counter\nenvoy_x{} 1\n\n${kept}`), text.slice(-200));
    assert.deepEqual(await failures(pages), ["application 1"], response);
  }
});

Deno.test("an application with failing metrics is logged once, counted each time, and its return is logged", async () => {
  const lines: string[] = [];
  const lined = {
    open: () => ({ write: (line: Uint8Array) => void lines.push(new TextDecoder().decode(line)), close() {} }),
  };
  const log = createLog(["monitoring"], defaultLogOptions, lined).scope("monitoring");
  const broken = `HTTP/1.1 200 OK\r\nContent-Type: ${TEXT}\r\nContent-Length: 100\r\nConnection: close\r\n\r\napp 1\n`;
  const busy = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  let answer = "";
  await using app = await application((socket) => {
    // A text cut off in the middle has a good beginning.
    socket.on("data", () => answer === broken ? socket.end(answer) : socket.write(answer));
  });
  await using pages = await pagesOf({ application: app }, { log });
  const said = async (next: string) => {
    answer = next;
    lines.length = 0;
    await scrape(pages);
    return lines.map((line) => line.trim().split("\t").slice(1).join(" "));
  };
  const whole = pageOf(TEXT, "app 1\n");
  assert.deepEqual(await said(whole), []);
  assert.match(
    (await said(busy)).join("\n"),
    /^warn monitoring metrics of the application are incomplete reason=.*503[^\n]*$/,
  );
  for (const next of [busy, broken, busy]) assert.deepEqual(await said(next), [], next);
  assert.deepEqual(await failures(pages), ["application 4"]);
  assert.deepEqual(await said(whole), ["info monitoring metrics of the application are complete again failures=4"]);
  assert.deepEqual(await said(whole), []);
  assert.match((await said(broken)).join("\n"), /^warn monitoring metrics of the application are incomplete [^\n]*$/);
});

Deno.test("an Envoy that hangs or breaks off leaves the application whole", async () => {
  for (const response of ["", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nenvoy_x 1\nhal"]) {
    await using envoy = await answering(response);
    await using app = await answering(pageOf(TEXT, "app 1"));
    await using pages = await pagesOf({ envoy, application: app });
    const { text } = await scrape(pages, { "x-prometheus-scrape-timeout-seconds": "3" });
    assert.ok(text.endsWith(response === "" ? "\napp 1\n" : "envoy_x 1\napp 1\n"), text.slice(-200));
    assert.deepEqual(await failures(pages), ["envoy 1"]);
  }
});

Deno.test("a source without an end is passed on as it comes, in bounded memory, until its time is over", async () => {
  /** Bytes sent by the application, bytes arrived here, and the greatest number in between. */
  let sent = 0, read = 0, most = 0;
  const line = `app{x="${"y".repeat(100)}"} 1\n`.repeat(1000);
  await using app = await application((socket) => {
    const more = () => {
      while (!socket.destroyed && socket.write(line)) {
        sent += line.length;
        most = Math.max(most, sent - read);
      }
    };
    socket.on("drain", more);
    socket.once("data", () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Type: ${TEXT}\r\n\r\n`);
      more();
    });
  });
  await using pages = await pagesOf({ application: app });
  const response = await fetch(`http://127.0.0.1:${pages.port}/metrics`, {
    headers: { "x-prometheus-scrape-timeout-seconds": "2" },
  });
  // Nobody reads for a while: the agent stops reading the application, but for the contents of buffers.
  await new Promise((resolve) => setTimeout(resolve, 500));
  let last = new Uint8Array();
  for await (const chunk of response.body!) [read, last] = [read + chunk.length, chunk];
  assert.ok(read > 0 && most < 50_000_000, `${read} bytes came, ${most} were held`);
  assert.equal(last.at(-1), 10);
  assert.deepEqual(await failures(pages), ["application 1"]);
});

Deno.test("the log says when Envoy's series of metrics reach nearly the limit, and when Envoy leaves some out", async () => {
  const lines: { msg: string; reason?: string }[] = [];
  const lined = {
    open: () => ({
      write: (line: Uint8Array) => void lines.push(JSON.parse(new TextDecoder().decode(line))),
      close() {},
    }),
  };
  const log = createLog(["monitoring"], { ...defaultLogOptions, json: true }, lined).scope("monitoring");
  const near = Math.ceil(SERIES_LIMITS.counters * 0.9);
  const [counts, series] = [[0, 5, 7, 7], [near - 1, near, near, 3]];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    const lines = Array.from({ length: series.shift()! }, (_, i) => `envoy_istio_requests_total{a="${i}"} 1\n`);
    const count = counts.shift();
    return new Response(`${lines.join("")}envoy_server_stats_overflow_counter{} ${count}\n`, {
      headers: { "content-type": TEXT },
    });
  });
  await using pages = await pagesOf({ envoy: { port: server.addr.port } as OpenPort }, { log });
  while (counts.length > 0) await scrape(pages, {}, "/stats/proxy");
  await server.shutdown();
  assert.deepEqual(lines.map(({ msg, reason }) => [msg, reason]), [
    [
      "Envoy is near its limit of metric series",
      `${near} of ${SERIES_LIMITS.counters} counters, 0 of ${SERIES_LIMITS.histograms} histograms`,
    ],
    [
      "Envoy has reached its limit of metric series, and leaves further series out",
      "5 values left out since Envoy started",
    ],
    ["Envoy is no longer near its limit of metric series", undefined],
    ["Envoy leaves no metric series out any more", undefined],
  ]);
});
