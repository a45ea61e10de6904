/**
 * Fault injection of a rule: per-route configuration of Envoy's fault filter.
 *
 * @module
 */
import type { HttpFaultInjection } from "../../../../config/kinds/kinds.ts";
import { GRPC_STATUSES } from "../../../../config/kinds/virtual_service/grpc_statuses.ts";
import type { envoy } from "../../../../../proto/gen/types.ts";
import { fractionOf } from "../../../values/fraction.ts";
import { boundedDuration } from "../../../values/wire_limits.ts";

/** Name of the filter, and of the per-route configuration. */
export const FAULT_FILTER = "envoy.filters.http.fault";

type HttpFault = envoy.extensions.filters.http.fault.v3.HTTPFault;

/** Translates faults. An unset percentage is 0. Undefined when no fault remains. */
export function httpFault(fault: HttpFaultInjection, warnings: string[]): HttpFault | undefined {
  const delay = faultDelay(fault.delay, warnings);
  const abort = faultAbort(fault.abort, warnings);
  return delay || abort ? { ...(delay && { delay }), ...(abort && { abort }) } : undefined;
}

function faultDelay(delay: HttpFaultInjection["delay"], warnings: string[]): HttpFault["delay"] {
  if (!delay) return undefined;
  if (!delay.fixedDelay) {
    warnings.push("fault.delay: only fixedDelay above 0 is supported; the delay is left out");
    return undefined;
  }
  return {
    fixed_delay: boundedDuration(delay.fixedDelay),
    percentage: fractionOf(delay.percentage?.value ?? delay.percent ?? 0),
  };
}

function faultAbort(abort: HttpFaultInjection["abort"], warnings: string[]): HttpFault["abort"] {
  if (!abort) return undefined;
  const percentage = fractionOf(abort.percentage?.value ?? 0);
  if (abort.httpStatus) return { http_status: abort.httpStatus, percentage };
  const code = GRPC_STATUSES.indexOf(abort.grpcStatus ?? "");
  if (code >= 0) return { grpc_status: code, percentage };
  warnings.push("fault.abort: only httpStatus and grpcStatus (UNAVAILABLE, ...) are supported; the abort is left out");
  return undefined;
}
