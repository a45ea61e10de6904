/**
 * Metrics of Envoy under the names that dashboards know: Envoy puts its own name before all of them, also before the
 * standard ones (`envoy_istio_requests_total`).
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { WholeLines } from "./whole_lines.ts";

/** Page of the status port on which they are, as the proxy's own port of metrics shows them. */
export const PROXY_METRICS_PATH = "/stats/proxy";

const WRITTEN = Buffer.from("envoy_istio_");
const EXTRA = "envoy_".length;
const TYPE = Buffer.from("# TYPE ");
const NEW_LINE = 10;

/** The proxy's metrics, as a stream: what says that it runs, then what it made, renamed. */
export async function* proxyMetrics(bytes: AsyncIterable<Uint8Array>, version: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`# TYPE istio_build gauge\nistio_build{component="proxy",tag=${JSON.stringify(version)}} 1\n`);
  const lines = new WholeLines();
  for await (const part of bytes) yield* renamed(lines.push(part));
  yield* renamed(lines.end());
}

/** Whole lines, without the name before standard metrics. */
function* renamed(lines: Uint8Array): Generator<Uint8Array> {
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength);
  let from = 0;
  for (let at = text.indexOf(WRITTEN); at >= 0; at = text.indexOf(WRITTEN, at + WRITTEN.length)) {
    if (!isName(text, at)) continue;
    if (from < at) yield text.subarray(from, at);
    from = at + EXTRA;
  }
  if (from < text.length) yield text.subarray(from);
}

/** Whether a metric's name is there, and not a part of a label's value. */
function isName(text: Buffer, at: number): boolean {
  const beginsLine = (place: number) => place === 0 || text[place - 1] === NEW_LINE;
  if (beginsLine(at)) return true;
  const comment = at - TYPE.length;
  return comment >= 0 && beginsLine(comment) && text.subarray(comment, at).equals(TYPE);
}
