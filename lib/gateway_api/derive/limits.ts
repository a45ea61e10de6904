/**
 * Limits of time, retries and sessions of a rule.
 *
 * @module
 */
import { hash } from "node:crypto";
import type { HttpRetry, HttpRoute, HTTPRouteRule } from "../../config/kinds/kinds.ts";
import type { RuleSession } from "../../config/kinds/virtual_service/internal.ts";

/** Failures after which a request is tried again beside the statuses of the rule: the backend did not begin the request. */
const RETRIED_FAILURES = ["connect-failure", "refused-stream", "unavailable", "cancelled"];
const DEFAULT_ATTEMPTS = 2;

/**
 * Timeout and retries of a rule. `backendRequest` limits each try, or the whole request if the rule has no retries. A
 * duration of 0 sets no limit.
 *
 * @param meshDefault Retries of rules without `retry`. Absent: the proxy's default.
 */
export function limitsOf(
  { timeouts = {}, retry }: Pick<HTTPRouteRule, "timeouts" | "retry">,
  meshDefault: HttpRetry | undefined,
): Pick<HttpRoute, "timeout" | "retries"> {
  const [whole, single] = [timeouts.request || undefined, timeouts.backendRequest || undefined];
  const retries = retry === undefined ? meshDefault : retriesOf(retry);
  if (retries?.attempts === 0) {
    const timeout = whole === undefined || single === undefined ? whole ?? single : Math.min(whole, single);
    return { ...(timeout === undefined ? {} : { timeout }), ...(retry && { retries: { attempts: 0 } }) };
  }
  const tries = single === undefined
    ? retry && retries
    : { ...retries ?? { attempts: DEFAULT_ATTEMPTS }, perTryTimeout: single };
  return { ...(whole === undefined ? {} : { timeout: whole }), ...(tries && { retries: tries }) };
}

function retriesOf(
  { codes = [], attempts = DEFAULT_ATTEMPTS, backoff }: NonNullable<HTTPRouteRule["retry"]>,
): HttpRetry {
  return {
    attempts,
    retryOn: [...RETRIED_FAILURES, ...codes].join(","),
    ...(backoff ? { backoff } : {}),
  };
}

/**
 * The session of a rule.
 *
 * @param owner Names the rule: without a name of its own, the session gets a name made from this text.
 */
export function sessionOf(
  { sessionName, type, absoluteTimeout, cookieConfig }: NonNullable<HTTPRouteRule["sessionPersistence"]>,
  owner: string,
): RuleSession {
  const name = sessionName ?? `mesh-session-${hash("sha256", owner, "hex").slice(0, 8)}`;
  if (type === "Header") return { type: "header", name: name.toLowerCase() };
  const lasts = cookieConfig?.lifetimeType === "Permanent" && absoluteTimeout ? { ttl: absoluteTimeout } : {};
  return { type: "cookie", name, ...lasts };
}
