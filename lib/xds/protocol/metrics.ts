/**
 * The measurements of the wire, as plain calls. The program binds the calls to its metrics registry.
 *
 * @module
 */

/** Counters. Labels: `pilot_xds_pushes` type; `pilot_xds_expired_nonce` type; `pilot_push_triggers` type. */
export type XdsCounter =
  | "pilot_xds_pushes"
  | "pilot_total_xds_rejects"
  | "pilot_xds_expired_nonce"
  | "pilot_xds_ignored_types"
  | "pilot_xds_write_timeout"
  | "pilot_total_xds_internal_errors"
  | "pilot_push_triggers";

/** Last values. Labels: the rejects carry node and err. */
export type XdsGauge =
  | "pilot_xds"
  | "pilot_xds_cds_reject"
  | "pilot_xds_eds_reject"
  | "pilot_xds_lds_reject"
  | "pilot_xds_rds_reject";

/** Distributions: seconds, except `pilot_xds_config_size_bytes`. Labels: push time and config size carry type. */
export type XdsDistribution =
  | "pilot_xds_push_time"
  | "pilot_xds_send_time"
  | "pilot_xds_config_size_bytes"
  | "pilot_proxy_convergence_time"
  | "pilot_proxy_queue_time"
  | "pilot_debounce_time";

/** Where measurements go. */
export interface XdsMetrics {
  count(name: XdsCounter, by: number, labels?: Readonly<Record<string, string>>): void;
  gauge(name: XdsGauge, value: number, labels?: Readonly<Record<string, string>>): void;
  /** Ends a series of a gauge. */
  forget(name: XdsGauge, labels: Readonly<Record<string, string>>): void;
  observe(name: XdsDistribution, value: number, labels?: Readonly<Record<string, string>>): void;
}

/** Measures nothing. */
export const NO_METRICS: XdsMetrics = { count() {}, gauge() {}, forget() {}, observe() {} };

/** Measures a response built since `started` (`performance.now()`). `type` is the short name of the resource type. */
export function measurePush(metrics: XdsMetrics, type: string, started: number, plainBytes: number): void {
  metrics.count("pilot_xds_pushes", 1, { type });
  metrics.observe("pilot_xds_push_time", (performance.now() - started) / 1000, { type });
  metrics.observe("pilot_xds_config_size_bytes", plainBytes, { type });
}
