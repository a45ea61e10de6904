/**
 * The pages `/stats/prometheus` and `/metrics`: metrics of the agent, of Envoy and of the application in one text. The
 * page `/stats/proxy`: metrics of Envoy alone, shown on Envoy's own metrics port.
 *
 * Permissions: net (Envoy's admin page, the application).
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { SERIES_LIMITS } from "../../config/mesh/series_limits.ts";
import { localOnly } from "../../http/local_only.ts";
import type { HttpRequest, HttpResponse } from "../../http/message.ts";
import type { Route } from "../../http/route.ts";
import { FailureLog } from "../../kernel/log/failure_log.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { ACCEPT_TEXT, formatOf, METRICS_CONTENT_TYPES, offeredFormats } from "../scrape/format.ts";
import { type MergedSource, mergeMetrics } from "../scrape/merge.ts";
import { PROXY_METRICS_PATH, proxyMetrics, type SeriesSeen } from "../scrape/proxy_metrics.ts";
import { askSource, type ScrapeSource } from "../scrape/scrape_source.ts";

/** Inputs of the pages. */
export interface MetricsRoutesInput {
  /** Metrics of the agent. */
  readonly metrics: Metrics;
  /** Page of Envoy's metrics; undefined: the agent has no proxy. */
  readonly envoy: string | undefined;
  /** Version of the agent. */
  readonly version: string;
  /** Page of the application's metrics. Undefined: the application has none, or the metrics are not for the agent. */
  readonly application: string | undefined;
  /** `METRICS_LOCALHOST_ACCESS_ONLY`. */
  readonly localOnly: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Milliseconds of a scrape where the scraper does not say: Prometheus' default. */
const SCRAPE_TIME = 10_000;
const LONGEST_SCRAPE = 120_000;

/**
 * Shares of a scrape's time in which a source must begin and end. The sources are asked at the same time and passed on
 * one after the other. So a hanging source leaves time for the next source, and the scraper gets the end before it
 * gives up.
 */
const PARTS = { envoy: { head: 0.45, body: 0.7 }, application: { head: 0.45, body: 0.95 } } as const;

const ORIGINS = ["envoy", "application", "agent"] as const;

type ScrapeOrigin = (typeof ORIGINS)[number];

type FailureLogs = Readonly<Record<ScrapeOrigin, FailureLog>>;

/** The log lines about scrapes. */
interface ScrapeLogs {
  readonly sources: FailureLogs;
  /** Hears how many series Envoy has. */
  readonly series: (seen: SeriesSeen) => void;
}

/**
 * The pages. A failing source is left out and counted in `scrape_failures_total` each time. The log tells when the
 * failure begins and ends. The status is 200. The log also tells when Envoy comes near the limit of series, and when
 * Envoy begins to leave out series.
 */
export function metricsRoutes(input: MetricsRoutesInput): Route[] {
  const guards = input.localOnly ? [localOnly] : [];
  const logs = Object.fromEntries(ORIGINS.map((type) => {
    const messages = {
      begins: `metrics of the ${type} are incomplete`,
      ends: `metrics of the ${type} are complete again`,
    };
    return [type, new FailureLog(messages, input.log)];
  })) as FailureLogs;
  const scrapeLogs: ScrapeLogs = { sources: logs, series: seriesLog(input.log) };
  const handle = (request: HttpRequest) => scrape(request, input, scrapeLogs);
  const ofProxy = (request: HttpRequest) => scrapeProxy(request, input, scrapeLogs);
  return [
    ...["/stats/prometheus", "/metrics"].map((path) => ({ methods: ["GET"] as const, path, guards, handle })),
    { methods: ["GET"], path: PROXY_METRICS_PATH, guards, handle: ofProxy },
  ];
}

/** Share of the limit of series at which the log warns. */
const NEAR = 0.9;

/**
 * Logs when Envoy comes near the limit of series, when values were not counted since the scrape before, and when this
 * ends.
 */
function seriesLog(log: Logger): (seen: SeriesSeen) => void {
  const near = new FailureLog({
    begins: "Envoy is near its limit of metric series",
    ends: "Envoy is no longer near its limit of metric series",
  }, log);
  const over = new FailureLog({
    begins: "Envoy has reached its limit of metric series, and leaves further series out",
    ends: "Envoy leaves no metric series out any more",
  }, log);
  let known = 0;
  return ({ missing, counters, histograms }) => {
    const isNear = counters >= NEAR * SERIES_LIMITS.counters || histograms >= NEAR * SERIES_LIMITS.histograms;
    if (isNear) {
      const { counters: most, histograms: mostHistograms } = SERIES_LIMITS;
      near.failed(`${counters} of ${most} counters, ${histograms} of ${mostHistograms} histograms`);
    } else near.succeeded();
    if (missing > known) over.failed(`${missing} values left out since Envoy started`);
    else over.succeeded();
    known = missing;
  };
}

async function scrape(
  request: HttpRequest,
  input: MetricsRoutesInput,
  { sources: logs, series }: ScrapeLogs,
): Promise<HttpResponse> {
  const { metrics } = input;
  metrics.counter("scrapes_total").inc();
  const failed = (type: ScrapeOrigin) => (error: unknown) => {
    metrics.counter("scrape_failures_total").inc({ type });
    logs[type].failed((error as Error).message);
    return undefined;
  };
  const heard = (type: ScrapeOrigin) => ({ failed: failed(type), whole: () => logs[type].succeeded() });
  const accept = offeredFormats(request.headers["accept"] ?? "");
  const [envoy, application] = await Promise.all([
    askProxy(request, input, series).catch(failed("envoy")),
    ask("application", input.application, accept, request, input).then(asText).catch(failed("application")),
  ]);
  const format = application?.format ?? "text";
  const sources: MergedSource[] = [
    { bytes: ownMetrics(metrics), hasFormat: false, ...heard("agent") },
    ...(envoy === undefined ? [] : [{ bytes: envoy, hasFormat: false, ...heard("envoy") }]),
    ...(application === undefined ? [] : [{ bytes: application.bytes, hasFormat: true, ...heard("application") }]),
  ];
  return {
    status: 200,
    headers: { "content-type": METRICS_CONTENT_TYPES[format] },
    body: "",
    parts: mergeMetrics(format, sources),
  };
}

/** The proxy's metrics alone. Without these metrics there is no page. */
async function scrapeProxy(
  request: HttpRequest,
  input: MetricsRoutesInput,
  { sources: { envoy: log }, series }: ScrapeLogs,
): Promise<HttpResponse> {
  const failed = (error: unknown) => {
    input.metrics.counter("scrape_failures_total").inc({ type: "envoy" });
    log.failed((error as Error).message);
    return undefined;
  };
  const bytes = await askProxy(request, input, series).catch(failed);
  if (bytes === undefined) return { status: 503, headers: {}, body: "the proxy does not answer\n" };
  const source: MergedSource = { bytes, hasFormat: false, failed, whole: () => log.succeeded() };
  return {
    status: 200,
    headers: { "content-type": METRICS_CONTENT_TYPES.text },
    body: "",
    parts: mergeMetrics("text", [source]),
  };
}

async function askProxy(
  request: HttpRequest,
  input: MetricsRoutesInput,
  series: (seen: SeriesSeen) => void,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const query = request.query.size === 0 ? "" : `?${request.query}`;
  const url = input.envoy === undefined ? undefined : input.envoy + query;
  const source = await ask("envoy", url, ACCEPT_TEXT, request, input);
  return source && proxyMetrics(source.bytes, input.version, series);
}

const TIMEOUT_HEADER = "x-prometheus-scrape-timeout-seconds";

async function ask(
  origin: "envoy" | "application",
  url: string | undefined,
  accept: string,
  { headers, signal }: HttpRequest,
  { clock }: MetricsRoutesInput,
): Promise<ScrapeSource | undefined> {
  if (url === undefined) return undefined;
  const seconds = Number(headers[TIMEOUT_HEADER] ?? NaN);
  const time = seconds > 0 ? Math.min(seconds * 1000, LONGEST_SCRAPE) : SCRAPE_TIME;
  const passed = ["user-agent", TIMEOUT_HEADER].flatMap((name) =>
    headers[name] === undefined ? [] : [[name, headers[name]] as const]
  );
  const { head, body } = PARTS[origin];
  const times = { head: head * time, body: body * time };
  return await askSource({ url, headers: { ...Object.fromEntries(passed), accept }, times, signal, clock });
}

/** @throws {Error} For an answer that is not a text of metrics. */
function asText(source: ScrapeSource | undefined) {
  if (source === undefined) return undefined;
  const format = formatOf(source.contentType);
  if (format === undefined) {
    throw new Error(`content-type: got ${JSON.stringify(source.contentType)}, expected text of metrics`);
  }
  return { bytes: source.bytes, format };
}

async function* ownMetrics(metrics: Metrics): AsyncGenerator<Uint8Array> {
  yield Buffer.from((await metrics.scrape()).body);
}
