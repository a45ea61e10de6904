/**
 * Schema of Telemetry.
 *
 * @module
 */
import { list, map } from "../../schema/containers.ts";
import { type Field, keepZero, required, withDefault } from "../../schema/field.ts";
import { message, shape } from "../../schema/message.ts";
import { bool, double, duration, enumOf, string } from "../../schema/scalars.ts";
import { targetReference, workloadSelector } from "../common/schema.ts";
import type * as types from "./types.ts";

const mode = withDefault(enumOf("CLIENT_AND_SERVER", "CLIENT", "SERVER"), "CLIENT_AND_SERVER");
const side = shape({ mode });
const providers = list(message<types.ProviderRef>({
  name: required(string(), "the name of an extension provider"),
}));

const customTag = message<types.TracingCustomTag>(
  {
    literal: shape({ value: required(string(), "the value of the tag") }),
    environment: shape({
      name: required(string(), "the name of an environment variable"),
      defaultValue: string(),
    }),
    formatter: shape({ value: required(string(), "a text with commands, such as %REQ(x-user)%") }),
    header: shape({ name: required(string(), "the name of a header"), defaultValue: string() }),
  },
  { oneOf: [["literal", "environment", "header", "formatter"]] },
);

const tracing = message<types.TelemetryTracing>({
  match: side,
  providers,
  randomSamplingPercentage: keepZero(double()),
  disableSpanReporting: keepZero(bool()),
  customTags: map(customTag),
  useRequestIdForTraceSampling: keepZero(bool()),
  enableMeshTags: keepZero(bool()),
  disableContextPropagation: keepZero(bool()),
});

const metricSelector = message<types.MetricSelector>(
  {
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
    customMetric: keepZero(string()),
    mode,
  },
  { oneOf: [["metric", "customMetric"]] },
);

const metrics = message<types.TelemetryMetrics>({
  providers,
  overrides: list(message<types.MetricsOverride>({
    match: metricSelector,
    disabled: keepZero(bool()),
    tagOverrides: map(message<types.TagOverride>({
      operation: withDefault(enumOf("UPSERT", "REMOVE"), "UPSERT"),
      value: string(),
    })),
  })),
  reportingInterval: duration(),
});

const accessLogging = message<types.TelemetryAccessLogging>({
  match: side,
  providers,
  disabled: keepZero(bool()),
  filter: shape({ expression: string() }),
});

/** Schema of {@link types.TelemetrySpec}. */
export const telemetry: Field<types.TelemetrySpec> = message<types.TelemetrySpec>({
  selector: workloadSelector,
  targetRef: targetReference,
  targetRefs: list(targetReference),
  tracing: list(tracing),
  metrics: list(metrics),
  accessLogging: list(accessLogging),
});
