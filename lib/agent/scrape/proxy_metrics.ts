/**
 * Metrics of Envoy under names that dashboards know. Envoy puts a prefix before all names, even before standard names
 * (`envoy_istio_requests_total`).
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { WholeLines } from "./whole_lines.ts";

/** Page of the proxy's metrics on the status port, the same as on the proxy's own metrics port. */
export const PROXY_METRICS_PATH = "/stats/proxy";

const WRITTEN = Buffer.from("envoy_istio_");
const EXTRA = "envoy_".length;
const TYPE = Buffer.from("# TYPE ");
const NEW_LINE = 10;
const LABELS = 123; // {
/** Ends of the names of standard counters, and of a histogram's line with the number of values. */
const TOTAL = Buffer.from("_total");
const COUNT = Buffer.from("_count");

/**
 * Prefix of the counters of uncounted values. Envoy does not count a value when a scope has reached its limit of
 * series.
 */
const OVERFLOW = Buffer.from("envoy_server_stats_overflow_");

/** The series of a proxy, as on the metrics page. */
export interface SeriesSeen {
  /** Values that Envoy has not counted since its start, because of limits of series. */
  readonly missing: number;
  /** Series of standard metrics. */
  readonly counters: number;
  readonly histograms: number;
}

/**
 * The proxy's metrics as a stream: first a metric that Envoy runs, then Envoy's own metrics, renamed.
 * @param seen Called at the end with the number of series.
 */
export async function* proxyMetrics(
  bytes: AsyncIterable<Uint8Array>,
  version: string,
  seen: (series: SeriesSeen) => void,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`# TYPE istio_build gauge\nistio_build{component="proxy",tag=${JSON.stringify(version)}} 1\n`);
  const lines = new WholeLines();
  const series = { counters: 0, histograms: 0 };
  let missing = 0;
  for await (const part of bytes) {
    const whole = lines.push(part);
    missing += overflowIn(whole);
    yield* renamed(whole, series);
  }
  const last = lines.end();
  yield* renamed(last, series);
  seen({ ...series, missing: missing + overflowIn(last) });
}

/** The sum of these counters among whole lines. */
function overflowIn(lines: Uint8Array): number {
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength);
  let sum = 0;
  for (let at = text.indexOf(OVERFLOW); at >= 0; at = text.indexOf(OVERFLOW, at + OVERFLOW.length)) {
    if (at > 0 && text[at - 1] !== NEW_LINE) continue;
    const line = text.toString("latin1", at, text.indexOf(NEW_LINE, at));
    sum += Number(line.slice(line.lastIndexOf(" ") + 1)) || 0;
  }
  return sum;
}

/** Whole lines without the prefix of standard metrics. The standard metrics are counted. */
function* renamed(lines: Uint8Array, series: { counters: number; histograms: number }): Generator<Uint8Array> {
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength);
  let from = 0;
  for (let at = text.indexOf(WRITTEN); at >= 0; at = text.indexOf(WRITTEN, at + WRITTEN.length)) {
    if (!isName(text, at)) continue;
    if (from < at) yield text.subarray(from, at);
    from = at + EXTRA;
    const kind = kindOfSeries(text, at);
    if (kind !== undefined) series[kind] += 1;
  }
  if (from < text.length) yield text.subarray(from);
}

/** The kind of the series at this index. Undefined: the line is a comment, or another line of a histogram. */
function kindOfSeries(text: Buffer, at: number): "counters" | "histograms" | undefined {
  const end = text.indexOf(LABELS, at);
  const line = text.indexOf(NEW_LINE, at);
  const ends = (suffix: Buffer) => text.subarray(end - suffix.length, end).equals(suffix);
  if (end < 0 || line >= 0 && line < end) return undefined;
  if (ends(TOTAL)) return "counters";
  return ends(COUNT) ? "histograms" : undefined;
}

/** Whether a metric's name is there, and not a part of a label's value. */
function isName(text: Buffer, at: number): boolean {
  const beginsLine = (place: number) => place === 0 || text[place - 1] === NEW_LINE;
  if (beginsLine(at)) return true;
  const comment = at - TYPE.length;
  return comment >= 0 && beginsLine(comment) && text.subarray(comment, at).equals(TYPE);
}
