/**
 * Fields that stock Envoy 1.40 has, and the API tree that `scripts/gen_proto.ts` reads does not have yet. Names and
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

/** By message. */
export const NEWER_FIELDS: Readonly<Record<string, readonly NewerField[]>> = {
  "envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig": [
    { name: "grpc_service", number: 9, type: "envoy.config.core.v3.GrpcService" },
    { name: "log_name", number: 10, type: "string" },
  ],
};
