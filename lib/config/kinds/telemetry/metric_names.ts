/**
 * Names of the standard metrics in Telemetries and on proxies' pages.
 *
 * @module
 */
import type { StandardMetric } from "./schema.ts";

/** Without the prefix `istio_` of pages: the form for `customMetric`. */
export const METRIC_NAMES = {
  REQUEST_COUNT: "requests_total",
  REQUEST_DURATION: "request_duration_milliseconds",
  REQUEST_SIZE: "request_bytes",
  RESPONSE_SIZE: "response_bytes",
  TCP_OPENED_CONNECTIONS: "tcp_connections_opened_total",
  TCP_CLOSED_CONNECTIONS: "tcp_connections_closed_total",
  TCP_SENT_BYTES: "tcp_sent_bytes_total",
  TCP_RECEIVED_BYTES: "tcp_received_bytes_total",
  GRPC_REQUEST_MESSAGES: "request_messages_total",
  GRPC_RESPONSE_MESSAGES: "response_messages_total",
} as const satisfies Readonly<Record<Exclude<StandardMetric, "ALL_METRICS">, string>>;

/** Metrics that no proxy makes: Envoy does not count messages. */
const NOT_MADE: ReadonlySet<string> = new Set(["GRPC_REQUEST_MESSAGES", "GRPC_RESPONSE_MESSAGES"]);

/**
 * Why a change of a metric has no effect, as the expectation of a finding; undefined: the change has an effect, or asks
 * for the present state.
 */
export function metricProblem(metric: string, disabled = false): string | undefined {
  const found = Object.entries(METRIC_NAMES).find((names) => names.includes(metric))?.[0];
  if (found === undefined) {
    const names = Object.entries(METRIC_NAMES).flatMap(([one, name]) => NOT_MADE.has(one) ? [] : [name]);
    return `one of ${names.join(", ")} (proxies make no other metric, so that this changes nothing)`;
  }
  if (disabled || !NOT_MADE.has(found)) return undefined;
  return "a metric that proxies make (Envoy does not count messages of gRPC)";
}
