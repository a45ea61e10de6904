/**
 * The values of a request's headers as Envoy stores them.
 *
 * Envoy keeps the values of a repeated header apart, and a matcher looks at each value. Some headers have a slot of
 * their own in Envoy's memory. A slot has room for a single value, so Envoy joins the values. (Measured with Envoy
 * 1.40; a test repeats the measurement for every name.)
 *
 * @module
 */
import type { SimulatedRequest } from "./types.ts";

/** Values by header names in lower case. */
export type HeaderValues = ReadonlyMap<string, readonly string[]>;

/** Headers with a single value in Envoy. Several values are joined by commas. */
export const JOINED_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "access-control-request-headers",
  "access-control-request-method",
  "authorization",
  "cache-control",
  "content-encoding",
  "content-type",
  "expect",
  "grpc-timeout",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "origin",
  "pragma",
  "referer",
  "user-agent",
  "via",
  "x-client-trace-id",
  "x-envoy-attempt-count",
  "x-envoy-decorator-operation",
  "x-envoy-downstream-service-cluster",
  "x-envoy-downstream-service-node",
  "x-envoy-external-address",
  "x-envoy-is-timeout-retry",
  "x-envoy-original-host",
  "x-envoy-original-path",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-request-id",
]);

/** Headers that a connection manager removes, keeps or writes, depending on settings and on the client's address. */
export const MANAGED_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "upgrade",
  "x-envoy-expected-rq-timeout-ms",
  "x-envoy-force-trace",
  "x-envoy-hedge-on-per-try-timeout",
  "x-envoy-internal",
  "x-envoy-ip-tags",
  "x-envoy-max-retries",
  "x-envoy-retriable-header-names",
  "x-envoy-retriable-status-codes",
  "x-envoy-retry-grpc-on",
  "x-envoy-retry-on",
  "x-envoy-upstream-alt-stat-name",
  "x-envoy-upstream-rq-per-try-timeout-ms",
  "x-envoy-upstream-rq-timeout-ms",
  "x-forwarded-client-cert",
]);

/** The headers of a request, without pseudo headers. */
export function headerValues(
  { headers = {}, httpVersion }: Pick<SimulatedRequest, "headers" | "httpVersion">,
): HeaderValues {
  const found = new Map<string, readonly string[]>();
  for (const [written, given] of Object.entries(headers)) {
    const name = written.toLowerCase();
    found.set(name, [...found.get(name) ?? [], ...typeof given === "string" ? [given] : given]);
  }
  for (const [name, values] of found) {
    if (values.length > 1 && JOINED_HEADERS.has(name)) found.set(name, [values.join(",")]);
    // In HTTP/2 a client may spread its cookies over several headers (RFC 9113, 8.2.3).
    if (values.length > 1 && name === "cookie" && httpVersion === "HTTP/2") found.set(name, [values.join("; ")]);
  }
  return found;
}
