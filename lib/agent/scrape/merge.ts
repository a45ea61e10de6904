/**
 * Metrics of several sources as one text, streamed in whole lines. A failing source does not affect the other sources.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { type MetricsFormat, ofOpenMetrics, withoutEnd } from "./format.ts";
import { type KeepComment, WholeLines } from "./whole_lines.ts";

export interface MergedSource {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Whether the source's text is in the merged format. Otherwise the text is in the text format. */
  readonly hasFormat: boolean;
  /** Called when the source's metrics are incomplete. */
  failed(error: unknown): void;
  /** Called when all metrics of the source were passed on. */
  whole?(): void;
}

/** Merges one source after the other. In OpenMetrics the end mark is written once, at the end. */
export async function* mergeMetrics(
  format: MetricsFormat,
  sources: readonly MergedSource[],
): AsyncGenerator<Uint8Array> {
  for (const source of sources) {
    const lines = new WholeLines(keptComments(format, source.hasFormat));
    try {
      for await (const bytes of source.bytes) {
        const whole = lines.push(bytes);
        if (whole.length > 0) yield whole;
      }
      const last = lines.end();
      if (last.length > 0) yield last;
      source.whole?.();
    } catch (error) {
      source.failed(error);
    }
  }
  if (format !== "text") yield Buffer.from("# EOF\n");
}

function keptComments(format: MetricsFormat, hasFormat: boolean): KeepComment | undefined {
  if (format === "text") return undefined;
  return hasFormat ? withoutEnd : ofOpenMetrics;
}
