/**
 * The TCP proxy with its access logs, and with the loggers of metrics where these are measured.
 *
 * @module
 */
import { AccessLogType } from "../../../../proto/gen/enums.ts";
import type { envoy } from "../../../../proto/gen/types.ts";
import { encode } from "../../../pb/codec.ts";
import type { TelemetrySide } from "../../../mesh/telemetry/access_logging.ts";
import type { Reader } from "../../reader/reader.ts";
import { metricsLogs } from "../../telemetry/metrics/stats_logger.ts";
import { TCP_PROXY, tcpProxyFilter, type TcpProxyPlan } from "./tcp_proxy.ts";

type AccessLog = envoy.config.accesslog.v3.AccessLog;

/**
 * The TCP proxy of a plan.
 *
 * @param hbone Connections came by HBONE.
 */
export function measuredTcpProxy(
  read: Reader,
  plan: TcpProxyPlan,
  accessLogs: readonly AccessLog[],
  side: TelemetrySide,
  hbone?: true,
): envoy.config.listener.v3.Filter {
  const measured = metricsLogs(read, { side, place: "tcp", trustsHost: false, ...(hbone ? { hbone } : {}) });
  if (measured.length === 0) return tcpProxyFilter(plan, accessLogs);
  return tcpProxyFilter({ ...plan, logsConnected: true }, accessLogs.map(notConnected), encodedLoggers(measured));
}

/** Loggers as a field of a TCP proxy: 15 kB that many proxies have. */
function encodedLoggers(loggers: readonly AccessLog[]): Uint8Array {
  return encoded.getOrInsertComputed(loggers, () => encode(TCP_PROXY, { access_log: [...loggers] }));
}

const encoded = new WeakMap<readonly AccessLog[], Uint8Array>();

/** Metrics have the log written when a connection is made as well; others hear of its end alone, as without them. */
function notConnected(log: AccessLog): AccessLog {
  const atEnd = { log_type_filter: { types: [AccessLogType.TcpUpstreamConnected], exclude: true } };
  return { ...log, filter: log.filter ? { and_filter: { filters: [atEnd, log.filter] } } : atEnd };
}
