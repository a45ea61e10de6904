/**
 * Access loggers of Envoy: into a file, to a log service, to OpenTelemetry.
 *
 * @module
 */
import { ApiVersion } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { JsonObject } from "../../config/schema/json.ts";
import type { ExtensionProvider } from "../../config/mesh/types.ts";
import { any } from "../../pb/codec.ts";
import { type ExportTarget, grpcService } from "./exporter.ts";
import { formatters, type LogFormat } from "./log_format.ts";

/** A logger without a filter. */
export type AccessLogger = envoy.config.accesslog.v3.AccessLog & { readonly name: string };

/** Names of logs at a log service (Istio's names, which receivers know). */
export const LOG_NAME = {
  http: "http_envoy_accesslog",
  tcp: "tcp_envoy_accesslog",
  listener: "listener_envoy_accesslog",
  openTelemetry: "otel_envoy_accesslog",
} as const;

/** The log service in the proxy's own settings. Its cluster is in the bootstrap. */
export const ACCESS_LOG_CLUSTER: ExportTarget = { cluster: "envoy_accesslog_service" };

/** Writes into a file of the proxy's machine. */
export function fileLog(path: string, format: LogFormat): AccessLogger {
  const config: envoy.extensions.access_loggers.file.v3.FileAccessLog = { path, log_format: format };
  return {
    name: "envoy.access_loggers.file",
    typed_config: any("envoy.extensions.access_loggers.file.v3.FileAccessLog", config),
  };
}

/** Settings of an HTTP log service. A TCP log service has only some of them. */
export type LogServiceSettings =
  & Pick<NonNullable<ExtensionProvider["proxyHttpAls"]>, "filterStateObjectsToLog">
  & Partial<Omit<NonNullable<ExtensionProvider["proxyHttpAls"]>, "service" | "port">>;

/** Sends entries to a log service (`envoy.service.accesslog.v3.AccessLogService`). */
export function grpcLog(kind: "http" | "tcp", to: ExportTarget, settings: LogServiceSettings): AccessLogger {
  const common = commonConfig(to, settings.logName || LOG_NAME[kind], settings.filterStateObjectsToLog);
  if (kind === "tcp") {
    const config: envoy.extensions.access_loggers.grpc.v3.TcpGrpcAccessLogConfig = { common_config: common };
    return {
      name: "envoy.access_loggers.tcp_grpc",
      typed_config: any("envoy.extensions.access_loggers.grpc.v3.TcpGrpcAccessLogConfig", config),
    };
  }
  const config: envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig = {
    common_config: common,
    ...list("additional_request_headers_to_log", settings.additionalRequestHeadersToLog),
    ...list("additional_response_headers_to_log", settings.additionalResponseHeadersToLog),
    ...list("additional_response_trailers_to_log", settings.additionalResponseTrailersToLog),
  };
  return {
    name: "envoy.access_loggers.http_grpc",
    typed_config: any("envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig", config),
  };
}

/** Sends entries to a collector of OpenTelemetry: the line is the body, fields are attributes. */
export function openTelemetryLog(
  to: ExportTarget,
  { logName, text, attributes }: { readonly logName: string; readonly text: string; readonly attributes: JsonObject },
): AccessLogger {
  const values = Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1));
  const config: envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig = {
    grpc_service: grpcService(to),
    log_name: logName,
    disable_builtin_labels: true,
    body: { string_value: text },
    ...(values.length > 0
      ? { attributes: { values: values.map(([key, value]) => ({ key, value: { string_value: textOf(value) } })) } }
      : {}),
    ...formatters(`${text} ${JSON.stringify(attributes)}`),
  };
  return {
    name: "envoy.access_loggers.open_telemetry",
    typed_config: any("envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig", config),
  };
}

function commonConfig(
  to: ExportTarget,
  logName: string,
  filterState: readonly string[] | undefined,
): envoy.extensions.access_loggers.grpc.v3.CommonGrpcAccessLogConfig {
  return {
    log_name: logName,
    grpc_service: grpcService(to),
    transport_api_version: ApiVersion.V3,
    ...list("filter_state_objects_to_log", filterState),
  };
}

function list<K extends string>(field: K, values: readonly string[] = []): { readonly [F in K]?: string[] } {
  return (values.length > 0 ? { [field]: [...values] } : {}) as { readonly [F in K]?: string[] };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
