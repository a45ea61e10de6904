/**
 * Fields and values that stock Envoy 1.40 has, and the API tree that `scripts/gen_proto.ts` reads does not have yet. Names and
 * numbers are those of the descriptors inside that Envoy.
 *
 * @module
 */

/** A field of a message. */
export interface NewerField {
  readonly name: string;
  readonly number: number;
  /** A scalar, or the full name of a message. */
  readonly type: string;
}

/** A value of an enumeration. */
export interface NewerValue {
  readonly name: string;
  readonly number: number;
}

/** By enumeration. */
export const NEWER_VALUES: Readonly<Record<string, readonly NewerValue[]>> = {
  "envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode": [
    { name: "FULL_DUPLEX_STREAMED", number: 4 },
  ],
};

/** By message. */
export const NEWER_FIELDS: Readonly<Record<string, readonly NewerField[]>> = {
  "envoy.config.cluster.v3.CircuitBreakers.Thresholds.RetryBudget": [
    { name: "budget_interval", number: 3, type: "google.protobuf.Duration" },
  ],
  "envoy.extensions.filters.http.ext_proc.v3.ExtProcOverrides": [
    { name: "failure_mode_allow", number: 8, type: "google.protobuf.BoolValue" },
  ],
  "envoy.config.route.v3.RouteAction.RequestMirrorPolicy": [{
    name: "host_rewrite_literal",
    number: 8,
    type: "string",
  }],
  "envoy.config.trace.v3.ZipkinConfig": [
    // An enum; 1 sends W3C headers beside those of B3.
    { name: "trace_context_option", number: 8, type: "uint32" },
    { name: "collector_service", number: 9, type: "envoy.config.core.v3.HttpService" },
  ],
  "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.Tracing": [
    { name: "no_context_propagation", number: 13, type: "bool" },
  ],
  // An enum: 1 reloads, 2 denies, 3 lets pass.
  "envoy.extensions.wasm.v3.PluginConfig": [{ name: "failure_policy", number: 7, type: "uint32" }],
  "envoy.type.tracing.v3.CustomTag": [{ name: "value", number: 6, type: "string" }],
  "envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig": [
    { name: "grpc_service", number: 9, type: "envoy.config.core.v3.GrpcService" },
    { name: "log_name", number: 10, type: "string" },
  ],
};
