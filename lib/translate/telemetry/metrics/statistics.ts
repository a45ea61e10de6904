/**
 * The standard metrics, each with the counted or measured quantity of a request or connection.
 *
 * @module
 */
import { METRIC_NAMES } from "../../../config/kinds/telemetry/metric_names.ts";
import type { AccessLogType } from "../../../../proto/gen/enums.ts";
import type { STANDARD_METRICS } from "../../../mesh/telemetry/metrics.ts";
import type { LoggingPlace } from "../access_logs.ts";

type StandardMetricName = typeof STANDARD_METRICS[number];

/** A metric. */
export interface StandardStatistic {
  /** In Telemetries. */
  readonly metric: StandardMetricName;
  /** Without the prefix `istio_`. */
  readonly name: string;
  /** The increment of a counter, a number or a command. Absent: a histogram. */
  readonly adds?: 1 | string;
  /** The unit and value of a histogram. */
  readonly measures?: { readonly unit: "Bytes" | "Milliseconds"; readonly value: string };
}

/** The moment of counting. */
export interface StatisticsMoment {
  /** Absent: at the end of a request. */
  readonly log?: keyof typeof AccessLogType;
  /** Also at the end of connections that never reached an endpoint, which have no other moment. */
  readonly orUnconnected?: true;
  readonly statistics: readonly StandardStatistic[];
}

const SENT = "%DOWNSTREAM_WIRE_BYTES_SENT%";
const RECEIVED = "%DOWNSTREAM_WIRE_BYTES_RECEIVED%";

/**
 * By place. Bytes of a connection are counted at its end: earlier numbers are running sums, whose total would be wrong.
 */
export const STATISTICS: { readonly [P in LoggingPlace]: readonly StatisticsMoment[] } = {
  http: [{
    statistics: [
      { metric: "REQUEST_COUNT", name: METRIC_NAMES.REQUEST_COUNT, adds: 1 },
      {
        metric: "REQUEST_DURATION",
        name: METRIC_NAMES.REQUEST_DURATION,
        measures: { unit: "Milliseconds", value: "%DURATION%" },
      },
      { metric: "REQUEST_SIZE", name: METRIC_NAMES.REQUEST_SIZE, measures: { unit: "Bytes", value: RECEIVED } },
      { metric: "RESPONSE_SIZE", name: METRIC_NAMES.RESPONSE_SIZE, measures: { unit: "Bytes", value: SENT } },
    ],
  }],
  tcp: [
    {
      log: "TcpUpstreamConnected",
      orUnconnected: true,
      statistics: [{ metric: "TCP_OPENED_CONNECTIONS", name: METRIC_NAMES.TCP_OPENED_CONNECTIONS, adds: 1 }],
    },
    {
      log: "TcpConnectionEnd",
      statistics: [
        { metric: "TCP_CLOSED_CONNECTIONS", name: METRIC_NAMES.TCP_CLOSED_CONNECTIONS, adds: 1 },
        { metric: "TCP_SENT_BYTES", name: METRIC_NAMES.TCP_SENT_BYTES, adds: SENT },
        { metric: "TCP_RECEIVED_BYTES", name: METRIC_NAMES.TCP_RECEIVED_BYTES, adds: RECEIVED },
      ],
    },
  ],
};
