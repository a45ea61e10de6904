/**
 * Rules for the actions of an HTTP rule besides routing: redirect, direct response, fault, retry, CORS.
 *
 * @module
 */
import { GRPC_STATUSES } from "./grpc_statuses.ts";
import type { Findings } from "../../../finding/findings.ts";
import { checkPort } from "../../validation/network.ts";
import { checkRegex } from "../../validation/regex.ts";
import { checkCorsHeaderName, checkDuration, checkHeadText, checkPercent } from "../../validation/values.ts";
import type { HttpRetry, Percent } from "../common/schema.ts";
import type { CorsPolicy, HttpDirectResponse, HttpFaultInjection, HttpRedirect } from "./schema.ts";

const CORS_METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE", "*"]);
const SENT_REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Retry conditions of the proxy: https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/router_filter */
const RETRY_CONDITIONS = new Set([
  "5xx",
  "gateway-error",
  "reset",
  "reset-before-request",
  "connect-failure",
  "retriable-4xx",
  "refused-stream",
  "retriable-status-codes",
  "retriable-headers",
  "envoy-ratelimited",
  "http3-post-connect-failure",
  "cancelled",
  "deadline-exceeded",
  "internal",
  "resource-exhausted",
  "unavailable",
]);
/** HTTP statuses with a registered meaning (IANA), as ranges. */
const STATUS_RANGES = [
  [100, 103],
  [200, 208],
  [226, 226],
  [300, 305],
  [307, 308],
  [400, 418],
  [421, 426],
  [428, 429],
  [
    431,
    431,
  ],
  [451, 451],
  [500, 508],
  [510, 511],
] as const;

/** Largest body of a direct response, bytes; a tenth of the size gives a warning. */
const MAX_BODY = 1024 * 1024;

export function checkRedirect(redirect: HttpRedirect | undefined, at: string, report: Findings): void {
  if (redirect === undefined) return;
  const { uri, authority, port, derivePort, scheme, redirectCode } = redirect;
  if ([uri, authority, port, derivePort, scheme].every((field) => field === undefined)) {
    report.error(at, {}, "uri, authority, port, derivePort or scheme");
  }
  checkHeadText(uri, `${at}.uri`, report);
  checkHeadText(authority, `${at}.authority`, report);
  if (redirectCode !== undefined) {
    if (redirectCode < 300 || redirectCode > 399) report.error(`${at}.redirectCode`, redirectCode, "a status 3xx");
    else if (!SENT_REDIRECTS.has(redirectCode)) {
      report.warning(`${at}.redirectCode`, redirectCode, "301, 302, 303, 307 or 308 (the proxy sends no other)");
    }
  }
  if (scheme !== undefined && scheme !== "http" && scheme !== "https") {
    report.error(`${at}.scheme`, scheme, "http or https");
  }
  if (port !== undefined && port > 0) checkPort(port, `${at}.port`, report);
}

/** Checks a direct response. */
export function checkDirectResponse(response: HttpDirectResponse | undefined, at: string, report: Findings): void {
  if (response === undefined) return;
  checkHttpStatus(response.status, `${at}.status`, report);
  const text = response.body?.string;
  const size = text !== undefined ? new TextEncoder().encode(text).length : (response.body?.bytes ?? "").length * 0.75;
  if (size > MAX_BODY) report.error(`${at}.body`, Math.round(size), "a body of at most 1 MiB (this is its size)");
  else if (size > 100 * 1024) {
    report.warning(
      `${at}.body`,
      Math.round(size),
      "a body of at most 100 KiB (this is its size): it is sent to every proxy",
    );
  }
}

function checkHttpStatus(status: number, at: string, report: Findings): void {
  if (status < 200 || status > 599) report.error(at, status, "an HTTP status, 200..599");
}

/** Checks fault injection. */
export function checkFault(fault: HttpFaultInjection | undefined, at: string, report: Findings): void {
  if (fault === undefined) return;
  const { abort, delay } = fault;
  if (abort === undefined && delay === undefined) report.error(at, {}, "abort or delay");
  if (abort !== undefined) {
    checkShare(abort.percentage, `${at}.abort.percentage.value`, report);
    if (abort.http2Error !== undefined) {
      report.error(
        `${at}.abort.http2Error`,
        abort.http2Error,
        "httpStatus or grpcStatus: the proxy cannot send HTTP/2 errors",
      );
    } else if (abort.grpcStatus !== undefined) {
      if (!GRPC_STATUSES.includes(abort.grpcStatus)) {
        report.error(`${at}.abort.grpcStatus`, abort.grpcStatus, "the name of a gRPC status such as UNAVAILABLE");
      }
    } else if (abort.httpStatus !== undefined) checkHttpStatus(abort.httpStatus, `${at}.abort.httpStatus`, report);
    else report.warning(`${at}.abort`, {}, "httpStatus or grpcStatus (without it nothing is aborted)");
  }
  if (delay !== undefined) {
    checkShare(delay.percentage, `${at}.delay.percentage.value`, report);
    checkPercent(delay.percent, `${at}.delay.percent`, report);
    if ((delay.percent ?? 0) > 0 && (delay.percent ?? 0) <= 100) {
      report.warning(`${at}.delay.percent`, delay.percent, "percentage.value, which replaces it", "deprecated-field");
    }
    checkDuration(delay.fixedDelay, `${at}.delay.fixedDelay`, report);
    if (delay.exponentialDelay !== undefined) {
      report.error(
        `${at}.delay.exponentialDelay`,
        `${delay.exponentialDelay}ms`,
        "fixedDelay: the proxy has no exponential delay",
      );
    }
  }
}

/** The proxy's resolution is one in a million. */
function checkShare(percent: Percent | undefined, at: string, report: Findings): void {
  const value = percent?.value;
  if (value !== undefined && value !== 0 && !(value >= 0.0001 && value <= 100)) {
    report.error(at, value, "0, or a percentage 0.0001..100");
  }
}

/** Checks a retry policy. */
export function checkRetry(retries: HttpRetry | undefined, at: string, report: Findings): void {
  if (retries === undefined) return;
  const { attempts, perTryTimeout, retryOn, retryRemoteLocalities, backoff } = retries;
  if (attempts < 0) report.error(`${at}.attempts`, attempts, "0 or more");
  if (attempts === 0 && [perTryTimeout, retryOn, retryRemoteLocalities].some((field) => field !== undefined)) {
    report.error(
      `${at}.attempts`,
      attempts,
      "1 or more beside perTryTimeout, retryOn or retryRemoteLocalities (0 means no retries)",
    );
  }
  checkDuration(perTryTimeout, `${at}.perTryTimeout`, report);
  checkDuration(backoff, `${at}.backoff`, report);
  if (retryOn === undefined) return;
  for (const condition of retryOn.split(",")) {
    if (RETRY_CONDITIONS.has(condition) || isRegisteredStatus(condition)) continue;
    report.error(
      `${at}.retryOn`,
      condition,
      "comma separated retry conditions of the proxy (5xx, reset, ...) or HTTP statuses",
    );
  }
}

function isRegisteredStatus(text: string): boolean {
  const status = /^\d{3}$/.test(text) ? Number(text) : 0;
  return STATUS_RANGES.some(([first, last]) => status >= first && status <= last);
}

/** Checks a cross-origin policy. */
export function checkCors(policy: CorsPolicy | undefined, at: string, report: Findings): void {
  if (policy === undefined) return;
  policy.allowOrigins?.forEach((origin, index) => {
    const where = `${at}.allowOrigins[${index}]`;
    const text = origin.exact ?? origin.prefix ?? origin.regex;
    if (text === undefined || text === "") report.error(where, origin, "exact, prefix or regex that is not empty");
    else if (origin.regex !== undefined) checkRegex(origin.regex, `${where}.regex`, report);
  });
  if (policy.allowOrigin !== undefined) {
    report.warning(`${at}.allowOrigin`, policy.allowOrigin, "allowOrigins, which replaces it", "deprecated-field");
  }
  policy.allowMethods?.forEach((method, index) => {
    if (!CORS_METHODS.has(method)) {
      report.error(`${at}.allowMethods[${index}]`, method, "an HTTP method in capitals, or *");
    }
  });
  for (const field of ["allowHeaders", "exposeHeaders"] as const) {
    policy[field]?.forEach((name, index) => checkCorsHeaderName(name, `${at}.${field}[${index}]`, report));
  }
  checkDuration(policy.maxAge, `${at}.maxAge`, report);
  if (policy.maxAge !== undefined && policy.maxAge >= 1 && policy.maxAge % 1000 !== 0) {
    report.error(`${at}.maxAge`, `${policy.maxAge}ms`, "a duration in whole seconds");
  }
}
