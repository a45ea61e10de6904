/**
 * Telemetry: metrics, access logs and traces of workloads.
 *
 * @module
 */
import type { PolicyTargetReference, WorkloadSelector } from "../common/types.ts";

/** Spec of a Telemetry. */
export interface TelemetrySpec {
  readonly selector?: WorkloadSelector;
  /** Deprecated single form of `targetRefs`. */
  readonly targetRef?: PolicyTargetReference;
  readonly targetRefs?: readonly PolicyTargetReference[];
  readonly tracing?: readonly TelemetryTracing[];
  readonly metrics?: readonly TelemetryMetrics[];
  readonly accessLogging?: readonly TelemetryAccessLogging[];
}

/** Side of a request. */
export type TelemetryMode = "CLIENT_AND_SERVER" | "CLIENT" | "SERVER";

/** Names an extension provider of the mesh configuration. */
export interface ProviderRef {
  readonly name: string;
}

/** Tracing. */
export interface TelemetryTracing {
  readonly match?: { readonly mode: TelemetryMode };
  readonly providers?: readonly ProviderRef[];
  /** 0..100; presence kept. */
  readonly randomSamplingPercentage?: number;
  /** Presence kept. */
  readonly disableSpanReporting?: boolean;
  readonly customTags?: Readonly<Record<string, TracingCustomTag>>;
  /** Presence kept; absent: on. */
  readonly useRequestIdForTraceSampling?: boolean;
  /** Presence kept; absent: on. (enableIstioTags in the peer's spelling.) */
  readonly enableMeshTags?: boolean;
}

/** Value of a span tag; one is set. */
export interface TracingCustomTag {
  readonly literal?: { readonly value: string };
  readonly environment?: { readonly name: string; readonly defaultValue?: string };
  readonly header?: { readonly name: string; readonly defaultValue?: string };
}

/** Metrics. */
export interface TelemetryMetrics {
  readonly providers?: readonly ProviderRef[];
  readonly overrides?: readonly MetricsOverride[];
  /** TCP reporting interval, ms; presence kept. */
  readonly reportingInterval?: number;
}

/** The standard metrics. */
export type StandardMetric =
  | "ALL_METRICS"
  | "REQUEST_COUNT"
  | "REQUEST_DURATION"
  | "REQUEST_SIZE"
  | "RESPONSE_SIZE"
  | "TCP_OPENED_CONNECTIONS"
  | "TCP_CLOSED_CONNECTIONS"
  | "TCP_SENT_BYTES"
  | "TCP_RECEIVED_BYTES"
  | "GRPC_REQUEST_MESSAGES"
  | "GRPC_RESPONSE_MESSAGES";

/** Which metrics on which side; at most one of metric and customMetric. */
export interface MetricSelector {
  readonly metric?: StandardMetric;
  readonly customMetric?: string;
  /** Default CLIENT_AND_SERVER. */
  readonly mode: TelemetryMode;
}

/** Change metrics. */
export interface MetricsOverride {
  readonly match?: MetricSelector;
  /** Presence kept. */
  readonly disabled?: boolean;
  readonly tagOverrides?: Readonly<Record<string, TagOverride>>;
}

/** Change one tag. */
export interface TagOverride {
  /** Default UPSERT. */
  readonly operation: "UPSERT" | "REMOVE";
  /** Expression; required by UPSERT, refused by REMOVE. */
  readonly value?: string;
}

/** Access logs. */
export interface TelemetryAccessLogging {
  readonly match?: { readonly mode: TelemetryMode };
  readonly providers?: readonly ProviderRef[];
  /** Presence kept. */
  readonly disabled?: boolean;
  /** Expression over the request. */
  readonly filter?: { readonly expression?: string };
}
