/**
 * Retry policies.
 *
 * @module
 */
import type { HttpRetry } from "../../config/kinds/kinds.ts";
import { any, TYPE_URL_PREFIX } from "../../pb/codec.ts";
import { wrap } from "../../pb/wellknown.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { boundedDuration } from "../values/wire_limits.ts";

type RetryPolicy = envoy.config.route.v3.RetryPolicy;

/** Default conditions. Most of these failures come before the destination processes the request. */
const DEFAULT_RETRY_ON = "connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes";
const DEFAULT_ATTEMPTS = 2;
/** Attempts per retry to find an untried host. */
const HOST_SELECTION_ATTEMPTS = 5;
/** Number of retries after which the load of the priorities is recomputed. */
const PRIORITY_UPDATE_FREQUENCY = 2;

/**
 * Translates a retry policy.
 *
 * @param retry Absent: the default policy.
 * @param sticky The destination is chosen by consistent hashing: a retry then stays on the hashed host, unless
 *   `retryIgnorePreviousHosts` is written.
 * @returns Undefined when `attempts` is 0: no retries.
 */
export function retryPolicy(retry: HttpRetry | undefined, sticky: boolean): RetryPolicy | undefined {
  if (retry && retry.attempts <= 0) return undefined;
  const conditions = retry?.retryOn ? splitConditions(retry.retryOn) : undefined;
  const out: RetryPolicy = {
    retry_on: conditions?.names ?? DEFAULT_RETRY_ON,
    num_retries: wrap(retry?.attempts ?? DEFAULT_ATTEMPTS),
    host_selection_retry_max_attempts: HOST_SELECTION_ATTEMPTS,
  };
  if (conditions?.codes.length) out.retriable_status_codes = conditions.codes;
  if (retry?.perTryTimeout !== undefined) out.per_try_timeout = boundedDuration(retry.perTryTimeout);
  if (retry?.retryIgnorePreviousHosts ?? !sticky) out.retry_host_predicate = [previousHosts()];
  if (retry?.retryRemoteLocalities) out.retry_priority = previousPriorities();
  if (retry?.backoff) out.retry_back_off = { base_interval: boundedDuration(retry.backoff) };
  return out;
}

/** Moves status codes among the conditions into a separate list. The list takes effect only with its own condition. */
function splitConditions(retryOn: string): { names: string; codes: number[] } {
  const parts = retryOn.split(",").map((part) => part.trim()).filter((part) => part !== "");
  const codes = parts.filter(isStatusCode).map(Number);
  const names = parts.filter((part) => !isStatusCode(part));
  if (codes.length && !names.includes("retriable-status-codes")) names.push("retriable-status-codes");
  return { names: names.join(","), codes };
}

function isStatusCode(part: string): boolean {
  return /^[1-5]\d\d$/.test(part);
}

function previousHosts(): envoy.config.route.v3.RetryPolicy.RetryHostPredicate {
  return {
    name: "envoy.retry_host_predicates.previous_hosts",
    typed_config: {
      type_url: `${TYPE_URL_PREFIX}envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate`,
      value: new Uint8Array(),
    },
  };
}

function previousPriorities(): envoy.config.route.v3.RetryPolicy.RetryPriority {
  return {
    name: "envoy.retry_priorities.previous_priorities",
    typed_config: any("envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig", {
      update_frequency: PRIORITY_UPDATE_FREQUENCY,
    }),
  };
}
