/**
 * Formats of metrics: which are offered to the application, and which the merged text has.
 *
 * Rules: https://prometheus.io/docs/instrumenting/exposition_formats and
 * https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md
 *
 * @module
 */
import type { KeepComment } from "./whole_lines.ts";

/** A format of text. */
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

/** Formats that are text; of the others (protobuf) nothing can be merged. */
const OFFERED = new Set([OPEN_METRICS, "text/plain", "text/*", "*/*"]);

/** The formats of a scraper's `Accept` that the application may answer with; without any of them the text format. */
export function offeredFormats(accept: string): string {
  const kept = accept.split(",").map((one) => one.trim()).filter((one) =>
    OFFERED.has(one.split(";", 1)[0]!.trim().toLowerCase())
  );
  return kept.length === 0 ? ACCEPT_TEXT : kept.join(",");
}

/** Types of other contents: a page to log in, for example, that stands before the metrics. */
const FOREIGN = /protobuf|json|html|xml|javascript|^(?:image|audio|video|font)\//;

/**
 * The format of an application's answer.
 *
 * @returns undefined: it is no text of metrics
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

/** Keeps all but the end, which is written once. */
export const withoutEnd: KeepComment = (line) => line !== "# EOF";
