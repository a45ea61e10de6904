/**
 * Access logs of listeners, HTTP connection managers and TCP proxies: logs from Telemetries and default providers, else
 * logs from the mesh's own fields (`accessLogFile`, `enableProxyAccessLogService`).
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { MeshConfig } from "../../config/mesh/types.ts";
import { celProblem } from "../../config/validation/cel.ts";
import type { AccessLogUse, TelemetrySide } from "../../mesh/telemetry/access_logging.ts";
import { any } from "../../pb/codec.ts";
import { hasExtension } from "../filters/extension.ts";
import type { Reader } from "../reader/reader.ts";
import { ACCESS_LOG_CLUSTER, type AccessLogger, fileLog, grpcLog, LOG_NAME } from "./loggers.ts";
import { meshFormat } from "./log_format.ts";
import { logProvider } from "./log_provider.ts";
import { isUnusable } from "./provider.ts";

type AccessLog = envoy.config.accesslog.v3.AccessLog;
type Filter = envoy.config.accesslog.v3.AccessLogFilter;

const CEL_FILTER = "envoy.access_loggers.extension_filters.cel";

/** Where logs are written. */
export type LoggingPlace = "http" | "tcp";

/** Access logs of an HTTP connection manager or a TCP proxy. */
export function accessLogs(read: Reader, side: TelemetrySide, place: LoggingPlace): AccessLog[] {
  const asked = askedLogs(read, side);
  if (asked !== undefined) return asked;
  const mesh = read.mesh();
  return [
    ...meshFile(mesh),
    ...(mesh.enableProxyAccessLogService ? [grpcLog(place, ACCESS_LOG_CLUSTER, { logName: LOG_NAME[place] })] : []),
  ];
}

/**
 * Access logs of listeners: only connections without a matching filter chain (flag NR), which no other log shows. Empty
 * when `disableProxyListenerLog` is set.
 */
export function listenerAccessLogs(read: Reader, side: TelemetrySide): AccessLog[] {
  const mesh = read.mesh();
  if (mesh.disableProxyListenerLog) return [];
  const unmatched: Filter = { response_flag_filter: { flags: ["NR"] } };
  const logs = askedLogs(read, side) ?? [
    ...meshFile(mesh),
    ...(mesh.enableProxyAccessLogService ? [grpcLog("tcp", ACCESS_LOG_CLUSTER, { logName: LOG_NAME.listener })] : []),
  ];
  return logs.map((log) => narrowed(log, unmatched));
}

/**
 * Access logs of a listener that only carries other connections: only refused and failed connections, because the
 * others are logged at their end.
 *
 * @param failed Selects the connections to log.
 */
export function carrierAccessLogs(read: Reader, side: TelemetrySide, place: LoggingPlace, failed: Filter): AccessLog[] {
  return accessLogs(read, side, place).map((log) => narrowed(log, failed));
}

function narrowed(log: AccessLog, to: Filter): AccessLog {
  return { ...log, filter: log.filter ? { and_filter: { filters: [to, log.filter] } } : to };
}

/** The logs from Telemetries and default providers. Undefined when none of their providers can log. */
function askedLogs(read: Reader, side: TelemetrySide): AccessLog[] | undefined {
  const uses = read.accessLogging(side);
  if (uses === undefined) return undefined;
  const logs: AccessLog[] = [];
  let usable = uses.length === 0;
  for (const use of uses) {
    const logger = logProvider(read, use.provider);
    if (isUnusable(logger)) continue;
    usable = true;
    logs.push(...filtered(read, logger, use));
  }
  return usable ? logs : undefined;
}

/** Omits a log that the proxy's build cannot write, or not with the filter. Envoy would refuse the log's listener. */
function filtered(read: Reader, logger: AccessLogger, { disabled, filter }: AccessLogUse): AccessLog[] {
  if (disabled || !hasExtension(read, logger.name)) return [];
  if (filter === undefined) return [logger];
  if (!hasExtension(read, CEL_FILTER) || celProblem(filter) !== undefined) return [];
  const expression: envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter = { expression: filter };
  const typed_config = any("envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter", expression);
  return [{ ...logger, filter: { extension_filter: { name: CEL_FILTER, typed_config } } }];
}

function meshFile(mesh: MeshConfig): AccessLog[] {
  return mesh.accessLogFile ? [fileLog(mesh.accessLogFile, meshFormat(mesh))] : [];
}
