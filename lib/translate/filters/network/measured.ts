/**
 * The TCP proxy with access logs, and with metrics loggers if metrics are measured.
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
 * @param hbone Connections arrived by HBONE.
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

/** Loggers as an encoded field of a TCP proxy. Many proxies share these 15 kB. */
function encodedLoggers(loggers: readonly AccessLog[]): Uint8Array {
  return encoded.getOrInsertComputed(loggers, () => encode(TCP_PROXY, { access_log: [...loggers] }));
}

const encoded = new WeakMap<readonly AccessLog[], Uint8Array>();

/**
 * For metrics, Envoy also logs when a connection is made. Other logs are limited to the end of a connection, as without
 * metrics.
 */
function notConnected(log: AccessLog): AccessLog {
  const atEnd = { log_type_filter: { types: [AccessLogType.TcpUpstreamConnected], exclude: true } };
  return { ...log, filter: log.filter ? { and_filter: { filters: [atEnd, log.filter] } } : atEnd };
}
