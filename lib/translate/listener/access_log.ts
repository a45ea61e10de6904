/**
 * Access logs as the mesh configuration asks for them: one file, text or JSON.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { MeshConfig } from "../../config/mesh/types.ts";
import { any } from "../../pb/codec.ts";
import { struct } from "../../pb/wellknown.ts";

type AccessLog = envoy.config.accesslog.v3.AccessLog;

/** Fields of the default format, by their name in JSON: Istio's names, which log pipelines parse. */
const FIELDS: Readonly<Record<string, string>> = {
  start_time: "%START_TIME%",
  method: "%REQ(:METHOD)%",
  path: "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%",
  protocol: "%PROTOCOL%",
  response_code: "%RESPONSE_CODE%",
  response_flags: "%RESPONSE_FLAGS%",
  response_code_details: "%RESPONSE_CODE_DETAILS%",
  connection_termination_details: "%CONNECTION_TERMINATION_DETAILS%",
  upstream_transport_failure_reason: "%UPSTREAM_TRANSPORT_FAILURE_REASON%",
  bytes_received: "%BYTES_RECEIVED%",
  bytes_sent: "%BYTES_SENT%",
  duration: "%DURATION%",
  upstream_service_time: "%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%",
  x_forwarded_for: "%REQ(X-FORWARDED-FOR)%",
  user_agent: "%REQ(USER-AGENT)%",
  request_id: "%REQ(X-REQUEST-ID)%",
  authority: "%REQ(:AUTHORITY)%",
  upstream_host: "%UPSTREAM_HOST%",
  upstream_cluster: "%UPSTREAM_CLUSTER_RAW%",
  upstream_local_address: "%UPSTREAM_LOCAL_ADDRESS%",
  downstream_local_address: "%DOWNSTREAM_LOCAL_ADDRESS%",
  downstream_remote_address: "%DOWNSTREAM_REMOTE_ADDRESS%",
  requested_server_name: "%REQUESTED_SERVER_NAME%",
  route_name: "%ROUTE_NAME%",
};

/** The default text line: the same fields in the same order, those of the client quoted. */
export const DEFAULT_TEXT_FORMAT = defaultText();

function defaultText(): string {
  const { start_time, method, path, protocol, ...rest } = FIELDS;
  const quoted = new Set([
    "upstream_transport_failure_reason",
    "x_forwarded_for",
    "user_agent",
    "request_id",
    "authority",
    "upstream_host",
  ]);
  const tail = Object.entries(rest).map(([name, operator]) => quoted.has(name) ? `"${operator}"` : operator);
  return `[${start_time}] "${method} ${path} ${protocol}" ${tail.join(" ")}\n`;
}

/** Access logs of HTTP connection managers and TCP proxies; none unless the mesh names a file. */
export function accessLogs(mesh: MeshConfig): AccessLog[] {
  return mesh.accessLogFile ? [fileAccessLog(mesh, mesh.accessLogFile)] : [];
}

/**
 * Access logs of listeners: only connections that met no filter chain (flag NR), which no other log would show; none
 * when `disableProxyListenerLog` is set.
 */
export function listenerAccessLogs(mesh: MeshConfig): AccessLog[] {
  if (mesh.disableProxyListenerLog) return [];
  return accessLogs(mesh).map((log) => ({ ...log, filter: { response_flag_filter: { flags: ["NR"] } } }));
}

function fileAccessLog(mesh: MeshConfig, path: string): AccessLog {
  const format = mesh.accessLogEncoding === "JSON"
    ? jsonFormat(mesh.accessLogFormat)
    : textFormat(mesh.accessLogFormat);
  const config: envoy.extensions.access_loggers.file.v3.FileAccessLog = { path, log_format: format };
  return {
    name: "envoy.access_loggers.file",
    typed_config: any("envoy.extensions.access_loggers.file.v3.FileAccessLog", config),
  };
}

function textFormat(written: string | undefined): envoy.config.core.v3.SubstitutionFormatString {
  const text = written || DEFAULT_TEXT_FORMAT;
  const line = text.endsWith("\n") ? text : text + "\n";
  return { text_format_source: { inline_string: line }, ...formatters(line) };
}

function jsonFormat(written: string | undefined): envoy.config.core.v3.SubstitutionFormatString {
  return {
    json_format: struct(parseObject(written) ?? FIELDS),
    json_format_options: { sort_properties: false },
    ...formatters(written ?? ""),
  };
}

/** Text that is no JSON object is refused with the mesh configuration; should it get here, the default format logs. */
function parseObject(text: string | undefined): Record<string, unknown> | undefined {
  if (!text) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? value as Record<string, unknown>
      : undefined;
  } catch {
    return undefined;
  }
}

/** Extensions that the operators of a format need; all others are built into Envoy. */
function formatters(text: string): Pick<envoy.config.core.v3.SubstitutionFormatString, "formatters"> {
  if (!text.includes("%REQ_WITHOUT_QUERY")) return {};
  const name = "envoy.formatter.req_without_query";
  return {
    formatters: [{ name, typed_config: any("envoy.extensions.formatter.req_without_query.v3.ReqWithoutQuery") }],
  };
}
