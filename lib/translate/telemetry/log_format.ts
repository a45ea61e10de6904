/**
 * Formats of access logs: a line of text, or an object of fields.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { meshLogFormat } from "../../config/mesh/log_format.ts";
import type { MeshConfig } from "../../config/mesh/types.ts";
import { any } from "../../pb/codec.ts";
import { struct } from "../../pb/wellknown.ts";

/** The format in which a log writes the facts of a request. */
export type LogFormat = envoy.config.core.v3.SubstitutionFormatString;

/** Fields of the default format by JSON name. The names are Istio's, for log pipelines. */
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

/** The default text line: the same fields in the same order, with the client's fields quoted. */
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

/**
 * The format of a text line.
 *
 * @param written Absent or empty: the default line.
 */
export function textFormat(written: string | undefined): LogFormat {
  const text = written || DEFAULT_TEXT_FORMAT;
  const line = text.endsWith("\n") ? text : text + "\n";
  return { text_format_source: { inline_string: line }, ...formatters(line) };
}

/**
 * The format of a JSON object.
 *
 * @param fields Absent or empty: the default fields.
 */
export function jsonFormat(fields: Readonly<Record<string, unknown>> | undefined): LogFormat {
  const shown = fields && Object.keys(fields).length > 0 ? fields : FIELDS;
  return {
    json_format: struct(shown),
    json_format_options: { sort_properties: false },
    ...formatters(JSON.stringify(shown)),
  };
}

/** The format from the mesh's own fields. A format that the proxy could not read is replaced by the default. */
export function meshFormat(mesh: MeshConfig): LogFormat {
  const format = meshLogFormat(mesh);
  const { text, labels } = "problem" in format ? {} : format;
  return mesh.accessLogEncoding === "JSON" ? jsonFormat(labels) : textFormat(text);
}

/** Extensions for the operators of a format. All other operators are built into Envoy. */
export function formatters(text: string): Pick<LogFormat, "formatters"> {
  if (!text.includes("%REQ_WITHOUT_QUERY")) return {};
  const name = "envoy.formatter.req_without_query";
  return {
    formatters: [{ name, typed_config: any("envoy.extensions.formatter.req_without_query.v3.ReqWithoutQuery") }],
  };
}
