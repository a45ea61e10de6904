/**
 * Telemetry: metrics, access logs and traces of workloads.
 *
 * @module
 */
import { list, map } from "../../schema/containers.ts";
import { keepZero, required, withDefault } from "../../schema/field.ts";
import { message, type Of } from "../../schema/message.ts";
import { bool, double, duration, enumOf, string } from "../../schema/scalars.ts";
import { targetReference, workloadSelector } from "../common/schema.ts";

const mode = withDefault(enumOf("CLIENT_AND_SERVER", "CLIENT", "SERVER"), "CLIENT_AND_SERVER");
const side = message({
  /** CLIENT_AND_SERVER, CLIENT or SERVER. */
  mode,
});

const providerRef = message({
  /** Name of an extension provider of the mesh configuration. */
  name: required(string(), "the name of an extension provider"),
});

/** Names an extension provider of the mesh configuration. */
export interface ProviderRef extends Of<typeof providerRef> {}

const providers = list(providerRef);

const customTag = message(
  {
    /** A fixed value. */
    literal: message({
      /** The value. */
      value: required(string(), "the value of the tag"),
    }),
    /** The value of a variable of the proxy. */
    environment: message({
      /** Name of the variable or header. */
      name: required(string(), "the name of an environment variable"),
      /** The value if the variable is not set. */
      defaultValue: string(),
    }),
    /** A text with commands of access logs, such as `%REQ(x-user)%`. */
    formatter: message({
      /** The text. */
      value: required(string(), "a text with commands, such as %REQ(x-user)%"),
    }),
    /** The value of a header of the request. */
    header: message({
      /** Name of the variable or header. */
      name: required(string(), "the name of a header"),
      /** The value if the request lacks the header. */
      defaultValue: string(),
    }),
  },
  { oneOf: [["literal", "environment", "header", "formatter"]] },
);

/** Value of a span tag; exactly one field is set. */
export interface TracingCustomTag extends Of<typeof customTag> {}

const tracing = message({
  /** Direction of the traffic; absent: both. */
  match: side,
  /** The providers of spans; absent: the mesh's defaults. */
  providers,
  /** 0..100. */
  randomSamplingPercentage: keepZero(double()),
  /** No spans are reported. */
  disableSpanReporting: keepZero(bool()),
  /** Tags of spans. */
  customTags: map(customTag),
  /** The request's id decides which requests are traced; absent: true. */
  useRequestIdForTraceSampling: keepZero(bool()),
  /** Adds the mesh's own tags; absent: true. (enableIstioTags in Istio's spelling.) */
  enableMeshTags: keepZero(bool()),
  /** Headers of traces are not sent on; absent: false. */
  disableContextPropagation: keepZero(bool()),
});

/** Tracing. */
export interface TelemetryTracing extends Of<typeof tracing> {}

const metricSelector = message(
  {
    /** A standard metric. */
    metric: enumOf(
      "ALL_METRICS",
      "REQUEST_COUNT",
      "REQUEST_DURATION",
      "REQUEST_SIZE",
      "RESPONSE_SIZE",
      "TCP_OPENED_CONNECTIONS",
      "TCP_CLOSED_CONNECTIONS",
      "TCP_SENT_BYTES",
      "TCP_RECEIVED_BYTES",
      "GRPC_REQUEST_MESSAGES",
      "GRPC_RESPONSE_MESSAGES",
    ),
    /** A metric by its name. */
    customMetric: keepZero(string()),
    /** Default CLIENT_AND_SERVER. */
    mode,
  },
  { oneOf: [["metric", "customMetric"]] },
);

/** Selects metrics and the reporting side; at most one of metric and customMetric is set. */
export interface MetricSelector extends Of<typeof metricSelector> {}

const tagOverride = message({
  /** Default UPSERT. */
  operation: withDefault(enumOf("UPSERT", "REMOVE"), "UPSERT"),
  /** Expression; required by UPSERT, refused by REMOVE. */
  value: string(),
});

/** Changes a tag. */
export interface TagOverride extends Of<typeof tagOverride> {}

const metricsOverride = message({
  /** The changed metrics; absent: all metrics. */
  match: metricSelector,
  /** The metrics are not collected. */
  disabled: keepZero(bool()),
  /** Tags to set or remove, by name. */
  tagOverrides: map(tagOverride),
});

/** Change metrics. */
export interface MetricsOverride extends Of<typeof metricsOverride> {}

const metrics = message({
  /** The providers of metrics; absent: the mesh's defaults. */
  providers,
  /** Changes to some of the metrics. */
  overrides: list(metricsOverride),
  /** Time between reports of long TCP connections, ms; without effect: bytes are counted at the end of a connection. */
  reportingInterval: duration(),
});

/** Metrics. */
export interface TelemetryMetrics extends Of<typeof metrics> {}

const accessLogging = message({
  /** Direction of the traffic; absent: both. */
  match: side,
  /** The providers of logs; absent: the mesh's defaults. */
  providers,
  /** Nothing is logged. */
  disabled: keepZero(bool()),
  /** Expression over the request. */
  filter: message({
    /** CEL expression over the request and the answer. */
    expression: string(),
  }),
});

/** Access logs. */
export interface TelemetryAccessLogging extends Of<typeof accessLogging> {}

export const telemetry = message({
  /** Workloads in the namespace; absent: all workloads. */
  selector: workloadSelector,
  /** Deprecated single form of `targetRefs`. */
  targetRef: targetReference,
  /** Objects of the namespace that stand for the workloads instead of a selector. */
  targetRefs: list(targetReference),
  /** Tracing. */
  tracing: list(tracing),
  /** Metrics. */
  metrics: list(metrics),
  /** Access logs. */
  accessLogging: list(accessLogging),
});

/** Spec of a Telemetry. */
export interface TelemetrySpec extends Of<typeof telemetry> {}

/** Side of a request. */
export type TelemetryMode = MetricSelector["mode"];

/** The standard metrics. */
export type StandardMetric = NonNullable<MetricSelector["metric"]>;
