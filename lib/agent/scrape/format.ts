/**
 * Formats of metrics: the formats offered to the application, and the format of the merged text.
 *
 * Rules: https://prometheus.io/docs/instrumenting/exposition_formats and
 * https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md
 *
 * @module
 */
import type { KeepComment } from "./whole_lines.ts";

export type MetricsFormat = "text" | "openmetrics 0.0.1" | "openmetrics 1.0.0";

const OPEN_METRICS = "application/openmetrics-text";

/** The content type of a format. */
export const METRICS_CONTENT_TYPES: Readonly<Record<MetricsFormat, string>> = {
  text: "text/plain; version=0.0.4; charset=utf-8",
  "openmetrics 0.0.1": `${OPEN_METRICS}; version=0.0.1; charset=utf-8`,
  "openmetrics 1.0.0": `${OPEN_METRICS}; version=1.0.0; charset=utf-8`,
};

/** `Accept` header of a request for the text format alone. */
export const ACCEPT_TEXT = "text/plain;version=0.0.4";

/** Text formats. Other formats (protobuf) cannot be merged. */
const OFFERED = new Set([OPEN_METRICS, "text/plain", "text/*", "*/*"]);

/** The formats of a scraper's `Accept` that the application may use. Without any of these, the text format. */
export function offeredFormats(accept: string): string {
  const kept = accept.split(",").map((one) => one.trim()).filter((one) =>
    OFFERED.has(one.split(";", 1)[0]!.trim().toLowerCase())
  );
  return kept.length === 0 ? ACCEPT_TEXT : kept.join(",");
}

/** Types of other contents, for example a login page in front of the metrics. */
const FOREIGN = /protobuf|json|html|xml|javascript|^(?:image|audio|video|font)\//;

/**
 * The format of an application's answer.
 * @returns Undefined: the answer is not a text of metrics.
 */
export function formatOf(contentType: string): MetricsFormat | undefined {
  const [type = "", ...parameters] = contentType.toLowerCase().split(";").map((part) => part.trim());
  if (FOREIGN.test(type) || (type.startsWith("text/") && type !== "text/plain")) return undefined;
  if (type !== OPEN_METRICS) return "text";
  const version = parameters.find((one) => one.startsWith("version="))?.slice(8).replaceAll('"', "");
  if (version === "1.0.0") return "openmetrics 1.0.0";
  return version === undefined || version === "" || version === "0.0.1" ? "openmetrics 0.0.1" : "text";
}

/** OpenMetrics has no other comments, and no type `untyped`. */
function isOpenMetricsComment(line: string): boolean {
  if (/^# (?:HELP|UNIT) /.test(line)) return true;
  const head = /^# TYPE \S+ /.exec(line)?.[0];
  return head !== undefined && line.slice(head.length) !== "untyped";
}

/** Keeps the comments of the text format that OpenMetrics has as well. */
export const ofOpenMetrics: KeepComment = (line) => isOpenMetricsComment(line);

/** Keeps everything but the end mark, which is written once. */
export const withoutEnd: KeepComment = (line) => line !== "# EOF";
