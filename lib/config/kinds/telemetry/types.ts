/**
 * Telemetry: metrics, access logs and traces of workloads.
 *
 * @module
 */
import type { PolicyTargetReference, WorkloadSelector } from "../common/types.ts";

/** Spec of a Telemetry. */
export interface TelemetrySpec {
  /** Workloads of the namespace that it is for; absent: all of them. */
  readonly selector?: WorkloadSelector;
  /** Deprecated single form of `targetRefs`. */
  readonly targetRef?: PolicyTargetReference;
  /** Objects of the namespace that stand for the workloads instead of a selector. */
  readonly targetRefs?: readonly PolicyTargetReference[];
  /** Tracing. */
  readonly tracing?: readonly TelemetryTracing[];
  /** Metrics. */
  readonly metrics?: readonly TelemetryMetrics[];
  /** Access logs. */
  readonly accessLogging?: readonly TelemetryAccessLogging[];
}

/** Side of a request. */
export type TelemetryMode = "CLIENT_AND_SERVER" | "CLIENT" | "SERVER";

/** Names an extension provider of the mesh configuration. */
export interface ProviderRef {
  /** Name of an extension provider of the mesh configuration. */
  readonly name: string;
}

/** Tracing. */
export interface TelemetryTracing {
  /** Direction of the traffic; absent: both. */
  readonly match?: {
    /** CLIENT_AND_SERVER, CLIENT or SERVER. */
    readonly mode: TelemetryMode;
  };
  /** The providers that get spans; absent: the mesh's defaults. */
  readonly providers?: readonly ProviderRef[];
  /** 0..100. */
  readonly randomSamplingPercentage?: number;
  /** No spans are reported. */
  readonly disableSpanReporting?: boolean;
  /** Tags of spans. */
  readonly customTags?: Readonly<Record<string, TracingCustomTag>>;
  /** The request's id decides which requests are traced; absent: it does. */
  readonly useRequestIdForTraceSampling?: boolean;
  /** Adds the mesh's own tags; absent: it does. (enableIstioTags in Istio's spelling.) */
  readonly enableMeshTags?: boolean;
  /** Headers of traces are not sent on; absent: they are. */
  readonly disableContextPropagation?: boolean;
}

/** Value of a span tag; one is set. */
export interface TracingCustomTag {
  /** A fixed value. */
  readonly literal?: {
    /** The value. */
    readonly value: string;
  };
  /** The value of a variable of the proxy. */
  readonly environment?: {
    /** Name of the variable or header. */
    readonly name: string;
    /** The value where there is none. */
    readonly defaultValue?: string;
  };
  /** A text with commands of access logs, such as `%REQ(x-user)%`. */
  readonly formatter?: {
    /** The text. */
    readonly value: string;
  };
  /** The value of a header of the request. */
  readonly header?: {
    /** Name of the variable or header. */
    readonly name: string;
    /** The value where there is none. */
    readonly defaultValue?: string;
  };
}

/** Metrics. */
export interface TelemetryMetrics {
  /** The providers that get metrics; absent: the mesh's defaults. */
  readonly providers?: readonly ProviderRef[];
  /** Changes to some of the metrics. */
  readonly overrides?: readonly MetricsOverride[];
  /** Time between reports of long TCP connections, ms; without effect: their bytes are counted when they end. */
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

/** Selects metrics and the side that makes them; at most one of metric and customMetric is set. */
export interface MetricSelector {
  /** One of the standard metrics. */
  readonly metric?: StandardMetric;
  /** A metric by its name. */
  readonly customMetric?: string;
  /** Default CLIENT_AND_SERVER. */
  readonly mode: TelemetryMode;
}

/** Change metrics. */
export interface MetricsOverride {
  /** The metrics that it is for; absent: all. */
  readonly match?: MetricSelector;
  /** These metrics are not collected. */
  readonly disabled?: boolean;
  /** Tags that are set or removed, by name. */
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
  /** Direction of the traffic; absent: both. */
  readonly match?: {
    /** CLIENT_AND_SERVER, CLIENT or SERVER. */
    readonly mode: TelemetryMode;
  };
  /** The providers that get logs; absent: the mesh's defaults. */
  readonly providers?: readonly ProviderRef[];
  /** Nothing is logged. */
  readonly disabled?: boolean;
  /** Expression over the request. */
  readonly filter?: {
    /** CEL expression over the request and the answer. */
    readonly expression?: string;
  };
}
