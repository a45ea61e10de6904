/**
 * Ejection of failing endpoints.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { OutlierDetection } from "../../config/kinds/destination_rule/schema.ts";
import { duration, wrap } from "../../pb/wellknown.ts";

/**
 * Outlier detection by consecutive errors only. Envoy's ejection by success rate, on by default, is turned off. A
 * detector set to 0 is off. An unset detector keeps Envoy's default (5 errors).
 */
export function outlierDetection(outlier: OutlierDetection): envoy.config.cluster.v3.OutlierDetection {
  const { consecutive5xxErrors: errors, consecutiveGatewayErrors: gateway } = outlier;
  return {
    enforcing_success_rate: wrap(0),
    ...(errors !== undefined && {
      consecutive_5xx: wrap(errors),
      enforcing_consecutive_5xx: wrap(errors > 0 ? 100 : 0),
    }),
    ...(gateway !== undefined && {
      consecutive_gateway_failure: wrap(gateway),
      enforcing_consecutive_gateway_failure: wrap(gateway > 0 ? 100 : 0),
    }),
    ...(outlier.interval !== undefined && { interval: duration(outlier.interval) }),
    ...(outlier.baseEjectionTime !== undefined && { base_ejection_time: duration(outlier.baseEjectionTime) }),
    ...(outlier.maxEjectionPercent !== undefined && { max_ejection_percent: wrap(outlier.maxEjectionPercent) }),
    ...(outlier.splitExternalLocalOriginErrors && localOrigin(outlier.consecutiveLocalOriginFailures)),
  };
}

/** Counts failures of the proxy itself (connect timeouts, resets) apart from the server's answers. */
function localOrigin(failures: number | undefined): envoy.config.cluster.v3.OutlierDetection {
  return {
    split_external_local_origin_errors: true,
    enforcing_local_origin_success_rate: wrap(0),
    ...(failures !== undefined && failures > 0 && {
      consecutive_local_origin_failure: wrap(failures),
      enforcing_consecutive_local_origin_failure: wrap(100),
    }),
  };
}
