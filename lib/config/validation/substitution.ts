/**
 * Substitution commands of Envoy, in texts that the proxy fills in for each request (`%REQ(x-user)%`).
 *
 * Envoy refuses the whole resource because of one unreadable text, so such a text must not reach Envoy. Envoy 1.40 was
 * asked for each name, with and without an argument, to make these lists.
 *
 * @module
 */

import { argumentProblem, type InnerCommand, operatorsOf } from "./substitution_arguments.ts";

/** Take no argument. */
const PLAIN = commands(`
  ACCESS_LOG_TYPE BYTES_RECEIVED BYTES_RETRANSMITTED BYTES_SENT CONNECTION_ID CONNECTION_TERMINATION_DETAILS
  CUSTOM_FLAGS DOWNSTREAM_CX_RTT DOWNSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED
  DOWNSTREAM_DECOMPRESSED_HEADER_BYTES_SENT DOWNSTREAM_DETECTED_CLOSE_TYPE DOWNSTREAM_DIRECT_LOCAL_ADDRESS
  DOWNSTREAM_DIRECT_LOCAL_ADDRESS_ENDPOINT_ID DOWNSTREAM_DIRECT_LOCAL_PORT DOWNSTREAM_DIRECT_REMOTE_ADDRESS
  DOWNSTREAM_DIRECT_REMOTE_PORT DOWNSTREAM_HANDSHAKE_DURATION DOWNSTREAM_HEADER_BYTES_RECEIVED
  DOWNSTREAM_HEADER_BYTES_SENT DOWNSTREAM_LOCAL_ADDRESS DOWNSTREAM_LOCAL_ADDRESS_ENDPOINT_ID
  DOWNSTREAM_LOCAL_CLOSE_REASON DOWNSTREAM_LOCAL_DNS_SAN DOWNSTREAM_LOCAL_EMAIL_SAN DOWNSTREAM_LOCAL_IP_SAN
  DOWNSTREAM_LOCAL_OTHERNAME_SAN DOWNSTREAM_LOCAL_PORT DOWNSTREAM_LOCAL_SUBJECT DOWNSTREAM_LOCAL_URI_SAN
  DOWNSTREAM_PEER_CERT DOWNSTREAM_PEER_CHAIN_FINGERPRINTS_1 DOWNSTREAM_PEER_CHAIN_FINGERPRINTS_256
  DOWNSTREAM_PEER_CHAIN_SERIALS DOWNSTREAM_PEER_DNS_SAN DOWNSTREAM_PEER_EMAIL_SAN DOWNSTREAM_PEER_FINGERPRINT_1
  DOWNSTREAM_PEER_FINGERPRINT_256 DOWNSTREAM_PEER_IP_SAN DOWNSTREAM_PEER_ISSUER
  DOWNSTREAM_PEER_ISSUER_FINGERPRINT_256 DOWNSTREAM_PEER_ISSUER_SERIAL DOWNSTREAM_PEER_OTHERNAME_SAN
  DOWNSTREAM_PEER_SERIAL DOWNSTREAM_PEER_SUBJECT DOWNSTREAM_PEER_URI_SAN DOWNSTREAM_REMOTE_ADDRESS
  DOWNSTREAM_REMOTE_PORT DOWNSTREAM_TLS_CIPHER DOWNSTREAM_TLS_GROUP DOWNSTREAM_TLS_SESSION_ID
  DOWNSTREAM_TLS_VERSION DOWNSTREAM_TRANSPORT_FAILURE_REASON DOWNSTREAM_WIRE_BYTES_RECEIVED
  DOWNSTREAM_WIRE_BYTES_SENT DURATION FILTER_CHAIN_NAME GRPC_STATUS GRPC_STATUS_NUMBER HOSTNAME LISTENER_NAME
  LOCAL_REPLY_BODY PACKETS_RETRANSMITTED PROTOCOL REQUESTED_SERVER_NAME REQUEST_DURATION REQUEST_HEADERS_BYTES
  REQUEST_TX_DURATION RESPONSE_CODE RESPONSE_DURATION RESPONSE_FLAGS RESPONSE_FLAGS_LONG RESPONSE_HEADERS_BYTES
  RESPONSE_TRAILERS_BYTES RESPONSE_TX_DURATION ROUNDTRIP_DURATION ROUTE_NAME ROUTE_RESOLUTION_COUNT
  ROUTE_RESOLUTION_TIME_US SPAN_ID STREAM_ID TLS_JA3_FINGERPRINT TLS_JA4_FINGERPRINT TRACE_ID UNIQUE_ID
  UPSTREAM_CLUSTER UPSTREAM_CLUSTER_RAW UPSTREAM_CONNECTION_ID UPSTREAM_CONNECTION_IDS_ATTEMPTED
  UPSTREAM_CONNECTION_POOL_READY_DURATION UPSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED
  UPSTREAM_DECOMPRESSED_HEADER_BYTES_SENT UPSTREAM_DETECTED_CLOSE_TYPE UPSTREAM_HEADER_BYTES_RECEIVED
  UPSTREAM_HEADER_BYTES_SENT UPSTREAM_HOST UPSTREAM_HOSTS_ATTEMPTED UPSTREAM_HOSTS_ATTEMPTED_WITHOUT_PORT
  UPSTREAM_HOST_NAME UPSTREAM_HOST_NAMES_ATTEMPTED UPSTREAM_HOST_NAMES_ATTEMPTED_WITHOUT_PORT
  UPSTREAM_HOST_NAME_WITHOUT_PORT UPSTREAM_LOCAL_ADDRESS UPSTREAM_LOCAL_CLOSE_REASON UPSTREAM_LOCAL_DNS_SAN
  UPSTREAM_LOCAL_IP_SAN UPSTREAM_LOCAL_PORT UPSTREAM_LOCAL_URI_SAN UPSTREAM_PEER_CERT UPSTREAM_PEER_DNS_SAN
  UPSTREAM_PEER_IP_SAN UPSTREAM_PEER_ISSUER UPSTREAM_PEER_SUBJECT UPSTREAM_PEER_URI_SAN UPSTREAM_PROTOCOL
  UPSTREAM_REMOTE_ADDRESS UPSTREAM_REMOTE_ADDRESS_ENDPOINT_ID UPSTREAM_REMOTE_PORT UPSTREAM_REQUEST_ATTEMPT_COUNT
  UPSTREAM_SERVER_NAME UPSTREAM_TLS_CIPHER UPSTREAM_TLS_GROUP UPSTREAM_TLS_SESSION_ID UPSTREAM_TLS_VERSION
  UPSTREAM_TRANSPORT_FAILURE_REASON UPSTREAM_WIRE_BYTES_RECEIVED UPSTREAM_WIRE_BYTES_SENT VIRTUAL_CLUSTER_NAME
`);

/** Take an argument in parentheses, or none. */
const OPTIONAL = commands(`
  DOWNSTREAM_DIRECT_LOCAL_ADDRESS_WITHOUT_PORT DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT
  DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT DOWNSTREAM_PEER_CERT_V_END DOWNSTREAM_PEER_CERT_V_START
  DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT EMIT_TIME EMIT_TIME_LOCAL PATH QUERY_PARAMS RESPONSE_CODE_DETAILS
  START_TIME START_TIME_LOCAL UPSTREAM_LOCAL_ADDRESS_WITHOUT_PORT UPSTREAM_PEER_CERT_V_END
  UPSTREAM_PEER_CERT_V_START UPSTREAM_REMOTE_ADDRESS_WITHOUT_PORT
`);

/** Need an argument in parentheses. */
const ARGUMENT = commands(`
  CEL CLUSTER_METADATA COALESCE COMMON_DURATION DYNAMIC_METADATA ENVIRONMENT FILTER_STATE METADATA
  PER_REQUEST_STATE QUERY_PARAM REQ REQUEST_HEADER RESP RESPONSE_HEADER RESPONSE_TRAILER STREAM_INFO_REQ TRAILER
  UPSTREAM_FILTER_STATE UPSTREAM_METADATA
`);

/** Besides the commands without an argument, these take no length. */
const WITHOUT_LENGTH = commands(`CLUSTER_METADATA COMMON_DURATION UPSTREAM_METADATA`);
const WITH_LENGTH = commands(`PATH QUERY_PARAMS`);

/** Are known where headers are changed, and nowhere else. */
const OF_HEADERS = commands(`PER_REQUEST_STATE`);

/**
 * `%NAME%`, `%NAME(argument)%`, `%NAME(argument):LENGTH%`; `%%` is a percent sign. An argument may contain brackets.
 */
const NAME = /%([A-Z0-9_]+)/y;
const PLAIN_END = /(:\d+)?%/y;
const ARGUMENT_END = /\)(:\d+)?%|\n/g;

/** Where a text is written: to a header of a request or response, or to a log or a tag. */
export type SubstitutionPlace = "header" | "report";

/** The mistake that keeps Envoy from reading a text with commands; undefined: none. */
export function substitutionProblem(text: string, place: SubstitutionPlace): string | undefined {
  if (!text.includes("%")) return undefined;
  const { commands, isWhole } = commandsOf(text);
  for (const command of commands) {
    const problem = commandProblem(command, place);
    if (problem) return problem;
  }
  return isWhole ? undefined : "a lone % (write %% for a percent sign)";
}

/** The commands of a text, and whether each percent sign belongs to a command. */
function commandsOf(text: string): { readonly commands: readonly InnerCommand[]; readonly isWhole: boolean } {
  const commands: InnerCommand[] = [];
  const argumentEnd = nextMatch(ARGUMENT_END, text);
  let isWhole = true;
  for (let at = text.indexOf("%"); at >= 0; at = text.indexOf("%", at)) {
    const named = matchAt(NAME, text, at);
    if (named === null) {
      const isEscaped = text[at + 1] === "%";
      isWhole &&= isEscaped;
      at += isEscaped ? 2 : 1;
      continue;
    }
    const from = at + named[0].length;
    const hasArgument = text[from] === "(";
    const end = hasArgument ? argumentEnd(from + 1) : matchAt(PLAIN_END, text, from);
    if (end === null || end[0] === "\n") {
      isWhole = false;
      at++;
      continue;
    }
    const argument = hasArgument ? text.slice(from + 1, end.index) : undefined;
    const length = end[1];
    commands.push({ name: named[1]!, argument, hasLength: length !== undefined });
    at = end.index + end[0].length;
  }
  return { commands, isWhole };
}

function matchAt(form: RegExp, text: string, at: number): RegExpExecArray | null {
  form.lastIndex = at;
  return form.exec(text);
}

/** The next match from a place on. Places only grow, so each part of the text is searched once. */
function nextMatch(form: RegExp, text: string): (from: number) => RegExpExecArray | null {
  let found: RegExpExecArray | null | undefined;
  return (from) =>
    found === null || found !== undefined && found.index >= from ? found : found = matchAt(form, text, from);
}

function commandProblem(command: InnerCommand, place: SubstitutionPlace): string | undefined {
  const { name, argument, hasLength } = command;
  const isKnown = PLAIN.has(name) || OPTIONAL.has(name) || ARGUMENT.has(name);
  if (!isKnown || place !== "header" && OF_HEADERS.has(name)) return `%${name}% is not a command of the proxy`;
  if (PLAIN.has(name) && argument !== undefined) return `%${name}% takes no argument`;
  if (hasLength && !takesLength(name)) return `%${name}% takes no length`;
  if (ARGUMENT.has(name) && argument === undefined) return `%${name}% needs an argument in parentheses`;
  const problem = argument === undefined ? undefined : argumentProblem(name, argument);
  if (problem !== undefined) return `%${name}% ${problem}`;
  if (name !== "COALESCE") return undefined;
  return operatorsOf(argument ?? "")?.map((one) => commandProblem(one, place)).find((one) => one !== undefined);
}

function takesLength(name: string): boolean {
  return ARGUMENT.has(name) ? !WITHOUT_LENGTH.has(name) : WITH_LENGTH.has(name);
}

function commands(names: string): ReadonlySet<string> {
  return new Set(names.trim().split(/\s+/));
}
